"""One fault in a task gives a line or two that name it: no traceback, no silent wrong dataset."""

import importlib.metadata

import pytest

from synthbench.cli.main import _run, commands
from synthbench.tasks import plug_ins, registry
from synthbench.tasks.declared import check_task
from synthbench.verification.conformance import isolated
from tests.verification.conformance.mutations import HARD, MUTATIONS, Toy, mutant

pytestmark = pytest.mark.slow

SMALL = "--rows", "train=150", "--rows", "test=40", "--workers", "1"
#: The most lines that `check` prints on one fault.
MOST_LINES = 20


class Point:
    """An entry point that leads to a class."""

    name, value = "toy", "mutations:Mutant"

    def __init__(self, cls):
        self.load = lambda: cls


@pytest.fixture
def install(monkeypatch):
    """Pretend that a package with a class as its task is installed."""

    def install(cls):
        monkeypatch.setattr(registry, "_registered", {})
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point(cls)])
        plug_ins._found.cache_clear()
        check_task.cache_clear()

    yield install
    monkeypatch.undo()
    plug_ins._found.cache_clear()
    check_task.cache_clear()


@pytest.fixture
def run(capfd):
    """A command's status, and all that it prints."""

    def run(*words):
        status = _run(commands, list(words))
        out, err = capfd.readouterr()
        text = out + err
        assert "Traceback" not in text, text
        assert "bug in synthbench" not in text, text
        assert "\x1b" not in text, text
        if status:
            assert len(err.splitlines()) <= 2, err
        return status, text

    return run


def looked_at(run, out):
    """What is said of a task that is generated, verified and checked."""
    told = {}
    status, text = run("generate", "toy", "--out", str(out), *SMALL)
    if status:
        assert not out.exists()
        told["generate"] = text
    else:
        status, text = run("verify", str(out), "--workers", "1")
        if status:
            told["verify"] = text
    status, text = run("check-task", "toy", "--time-limit", "60")
    if status:
        assert len(text.splitlines()) <= MOST_LINES, text
        told["check"] = text
    return told


def test_the_toy_is_sound(install, run, tmp_path):
    install(Toy)
    assert looked_at(run, tmp_path / "rows") == {}


@pytest.mark.parametrize("fault", MUTATIONS)
def test_a_fault_is_named(fault, install, run, tmp_path):
    changed, word = MUTATIONS[fault]
    install(mutant(changed))
    told = looked_at(run, tmp_path / "rows")
    assert "check" in told
    assert word in "".join(told.values())
    status, text = run("list")
    assert status == 0
    assert all(name in text for name in (*registry._OWN, "toy"))


@pytest.mark.parametrize("fault", HARD)
def test_a_check_survives_what_ends_its_process_or_never_returns(fault, install, run, monkeypatch):
    monkeypatch.setattr(isolated, "_START", 5)  # in place of a minute
    monkeypatch.setattr(isolated, "_GRACE", 1)
    changed, word = HARD[fault]
    install(mutant(changed))
    limit = "1.5" if "never" in fault or "sleeps" in fault else "30"
    status, text = run("check-task", "toy", "--time-limit", limit)
    assert status == 1
    assert word in text
    assert len(text.splitlines()) <= MOST_LINES
