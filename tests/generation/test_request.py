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

OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(generation.generate).parameters.items()
}


class CaughtError(Exception):
    """Carries the request that would have been run."""


def catch(request):
    raise CaughtError(request)


def test_the_options_of_generate_are_the_fields_of_a_request_with_their_defaults():
    fields = dataclasses.fields(Request)
    assert list(OPTIONS) == [field.name for field in fields]
    assert [OPTIONS[field.name] for field in fields[1:]] == [field.default for field in fields[1:]]


def test_every_option_of_generate_arrives_under_its_name(monkeypatch):
    monkeypatch.setattr(generation, "run", catch)
    given: dict[str, Any] = {name: f"given as {name}" for name in OPTIONS}
    given |= {"preset": "small", "shard_rows": 7, "workers": 2, "engine": "dask", "seed": 3}
    given |= {"rows": {"train": 5}, "parameters": {"symbols": 6}}
    given |= {"overwrite": True, "progress": False}
    with pytest.raises(CaughtError) as caught:
        generation.generate(**given)
    (made,) = caught.value.args
    assert dataclasses.asdict(made) == given


def test_every_option_of_the_command_line_arrives_too(monkeypatch):
    monkeypatch.setattr(generation, "run_all", catch)
    words = (
        "ctl --variant forward --variant backward --out here --seed 3 --preset small "
        "--rows train=5 --set symbols=6 --shard-rows 7 --workers 2 --engine dask "
        "--scheduler tcp://host:1 --source-dir /images --overwrite --quiet"
    )
    with pytest.raises(CaughtError) as caught:
        make.generate.main(words.split(), standalone_mode=False)
    (made,) = caught.value.args
    assert made == Request(
        "ctl",
        variant=["forward", "backward"],
        out="here",
        seed=3,
        preset="small",
        rows={"train": 5},
        parameters={"symbols": "6"},
        shard_rows=7,
        workers=2,
        engine="dask",
        scheduler="tcp://host:1",
        source_dir=made.source_dir,
        overwrite=True,
        progress=False,
    )
    assert list(map(str, made.source_dir)) == ["/images"]
    bare = dataclasses.replace(Request("ctl"), rows={}, parameters={}, source_dir=())
    with pytest.raises(CaughtError) as caught:
        make.generate.main(["ctl"], standalone_mode=False)
    assert caught.value.args == (bare,)


def test_more_rows_than_memory_can_hold_apart_are_refused_at_once_with_their_size(monkeypatch):
    monkeypatch.setattr(request, "_memory_bytes", lambda: 16 * 10**9)
    size = r"more than 800 GB on disk and 1,760 GB of memory; this machine has 16 GB"
    with pytest.raises(ParameterError, match=size):
        generation.generate("listops", rows={"test": 10**11})
    most = re.search(r"Allowed are 1 to ([0-9,]+) rows", _refusal("listops", 10**30))
    largest = int(most[1].replace(",", ""))
    plan_dataset(Request("listops", rows={"test": largest}))
    assert "Allowed" in _refusal("listops", largest + 1_000)
    monkeypatch.setattr(request, "_memory_bytes", lambda: None)  # as on Windows
    plan_dataset(Request("listops", rows={"test": 10**11}))


def _refusal(task, rows):
    with pytest.raises(ParameterError) as caught:
        plan_dataset(Request(task, rows={"test": rows}))
    return str(caught.value)
