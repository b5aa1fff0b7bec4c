"""A request: the same from Python and from the command line, with every option once."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import pytest

from synthbench.cli import make
from synthbench.errors import ParameterError
from synthbench.generation import generate as generation
from synthbench.generation import request
from synthbench.generation.request import Request, plan_dataset
from synthbench.tasks.registry import task as make_task

OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(generation.generate).parameters.items()
}


class CaughtError(Exception):
    """Carries the request that would have been run."""


def catch(request):
    raise CaughtError(request)


def test_the_options_of_generate_are_the_fields_of_a_request_with_their_defaults():
    fields = {field.name: field.default for field in dataclasses.fields(Request)}
    # Only load_dataset makes a single split.
    assert (fields.pop("tasks"), fields.pop("split")) == (dataclasses.MISSING, None)
    assert list(OPTIONS) == ["task", *fields]
    assert {name: OPTIONS[name] for name in fields} == fields


def test_every_option_of_generate_arrives_under_its_name(monkeypatch):
    monkeypatch.setattr(generation, "run", catch)
    task = make_task("ctl", "backward", seed=3, symbols=6)
    given: dict[str, Any] = {name: f"given as {name}" for name in OPTIONS if name != "task"}
    given |= {"preset": "small", "shard_rows": 7, "workers": 2, "engine": "dask"}
    given |= {"rows": {"train": 5}, "overwrite": True, "progress": False}
    with pytest.raises(CaughtError) as caught:
        generation.generate(task, **given)
    (made,) = caught.value.args
    assert made == Request((task,), **given)
    assert {name: getattr(made, name) for name in given} == given
    with pytest.raises(CaughtError) as caught:
        generation.generate([task, make_task("ctl", seed=3, symbols=6)])
    assert [one.variant for one in caught.value.args[0].tasks] == ["backward", "forward"]


def test_every_option_of_the_command_line_arrives_too(monkeypatch, tmp_path):
    monkeypatch.setattr(generation, "run", catch)
    words = (
        "composites --variant cifar --variant main --out here --seed 3 --preset small "
        "--rows train=5 --set noise=0.1 --shard-rows 7 --workers 2 --engine dask "
        "--scheduler tcp://host:1 --overwrite --quiet"
    )
    with pytest.raises(CaughtError) as caught:
        make.generate.main([*words.split(), "--source-dir", str(tmp_path)], standalone_mode=False)
    (made,) = caught.value.args
    assert made == Request(
        tuple(make_task("composites", name, seed=3, noise=0.1) for name in ("cifar", "main")),
        out="here",
        preset="small",
        rows={"train": 5},
        shard_rows=7,
        workers=2,
        engine="dask",
        scheduler="tcp://host:1",
        overwrite=True,
        progress=False,
    )
    assert [one.source_dirs.roots() for one in made.tasks] == [[tmp_path]] * 2
    with pytest.raises(CaughtError) as caught:
        make.generate.main(["ctl", "--level", "easy"], standalone_mode=False)
    assert caught.value.args == (Request((make_task("ctl", level="easy"),), rows={}),)


def test_more_rows_than_memory_can_hold_apart_are_refused_at_once_with_their_size(monkeypatch):
    monkeypatch.setattr(request, "_memory_bytes", lambda: 16 * 10**9)
    size = r"more than 800 GB on disk and 1,760 GB of memory. This machine has 16 GB"
    with pytest.raises(ParameterError, match=size):
        generation.generate("listops", rows={"test": 10**11})
    most = re.search(r"Allowed are 1 to ([0-9,]+) rows", _refusal("listops", 10**30))
    largest = int(most[1].replace(",", ""))
    plan_dataset(Request((make_task("listops"),), rows={"test": largest}))
    assert "Allowed" in _refusal("listops", largest + 1_000)
    monkeypatch.setattr(request, "_memory_bytes", lambda: None)  # as on Windows
    plan_dataset(Request((make_task("listops"),), rows={"test": 10**11}))


def _refusal(task, rows):
    with pytest.raises(ParameterError) as caught:
        plan_dataset(Request((make_task(task),), rows={"test": rows}))
    return str(caught.value)
