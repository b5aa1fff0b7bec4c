"""Whose code an unexpected error was raised in, as the command line says it."""

from __future__ import annotations

import dataclasses
import json
import pickle
import types
from typing import ClassVar

import distributed
import pytest

from synthbench.cli import main
from synthbench.engine.dask_calls import pack, terms_of
from synthbench.engine.error_origin import for_another_process, where_raised
from synthbench.tasks import registry
from synthbench.tasks.base import Block, Parameters, parameter
from synthbench.tasks.registry import register
from tests.toy_task import Numbers


class LacksAttribute(Numbers):
    name = "lacks-attribute"

    def propose(self, draws, n, split, bucket):
        return self.grow_pairs(n)  # type: ignore[attr-defined,no-any-return]


class FailsInLibrary(Numbers):
    """Raises in a module of the standard library, two calls below its method."""

    name = "fails-in-library"

    def content(self, block):
        return [json.loads("{") for _ in range(len(block))]


class TwoPartError(Exception):
    """An exception that pickle writes but cannot read: its arguments are not its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


class FailsOddly(Numbers):
    name = "fails-oddly"

    def render(self, block):
        raise TwoPartError("no", "columns")


@dataclasses.dataclass(frozen=True)
class OddParameters(Parameters):
    digits: int = parameter(1, "digits")

    def __post_init__(self):
        json.loads("[]")["digits"]


class FailsInParameters(Numbers):
    name = "fails-in-parameters"
    parameters_type: ClassVar[type[Parameters]] = OddParameters  # type: ignore[assignment]


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """What `generate` says on standard error about a task that cannot be made."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.delenv("SYNTHBENCH_DEBUG", raising=False)

    def run(task, workers=1):
        registry._registered[task.name] = task
        out = str(tmp_path / "made")
        with pytest.raises(SystemExit) as ended:
            main.main(["generate", task.name, "--out", out, "--workers", str(workers), "--quiet"])
        assert ended.value.code == 1
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("task", "first", "method"),
    [
        (LacksAttribute, "AttributeError: 'LacksAttribute' object has no attribute", "propose"),
        (FailsInLibrary, "JSONDecodeError: Expecting property name", "content"),
        (FailsOddly, ": no columns", "render"),
    ],
)
def test_an_error_in_a_task_of_another_package_names_its_class_and_method(
    refused, task, first, method, workers
):
    said = refused(task, workers).splitlines()
    assert len(said) == 2
    assert said[0].startswith("Error: Unexpected ")
    assert first in said[0]
    assert said[1] == (
        f"It was raised in method {method} of class {task.__name__} "
        "(tests.engine.test_error_origin); SYNTHBENCH_DEBUG=1 shows where."
    )


def test_an_error_in_parameters_names_their_class(refused):
    said = refused(FailsInParameters)
    assert "TypeError: list indices must be integers" in said
    assert (
        "in method __post_init__ of class OddParameters (tests.engine.test_error_origin);" in said
    )


def test_an_error_raised_in_this_package_is_a_bug_in_synthbench(refused, monkeypatch):
    register(Numbers)
    # A call of None fails there.
    monkeypatch.setattr("synthbench.generation.request.merged_tables", None)
    said = refused(Numbers)
    assert "TypeError: 'NoneType' object is not callable\nThis is a bug in synthbench." in said


def test_an_error_raised_elsewhere_names_the_function():
    with pytest.raises(ValueError, match="Expecting") as caught:
        json.loads("{")
    assert where_raised(caught.value) == ("function JSONDecoder.raw_decode of module json.decoder")


def test_where_an_error_was_raised_is_known_in_another_process(monkeypatch):
    task = LacksAttribute()
    arguments = (None, 1, task.split("train"), 1)
    packed, _ = pack(terms_of([]), None, task.propose, arguments, {})
    worker = types.SimpleNamespace(address="tcp://127.0.0.1:1")
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    with pytest.raises(AttributeError) as caught:  # as a Dask worker calls it
        pickle.loads(packed)([])
    arrived = pickle.loads(pickle.dumps(caught.value))
    assert where_raised(arrived) == (
        "method propose of class LacksAttribute (tests.engine.test_error_origin)"
    )


def test_an_error_that_cannot_be_sent_is_replaced_by_its_text():
    with pytest.raises(TwoPartError) as caught:
        FailsOddly().render(Block({}))
    sent = pickle.loads(pickle.dumps(for_another_process(caught.value)))
    assert (type(sent), str(sent)) == (RuntimeError, "TwoPartError: no columns")
    assert (
        where_raised(sent) == "method render of class FailsOddly (tests.engine.test_error_origin)"
    )
