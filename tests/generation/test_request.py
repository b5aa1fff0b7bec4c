"""A request: the same from Python and from the command line, with every option once."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from synthbench.cli import make
from synthbench.generation import generate as generation
from synthbench.generation.request import Request

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
    (request,) = caught.value.args
    assert dataclasses.asdict(request) == given


def test_every_option_of_the_command_line_arrives_too(monkeypatch):
    monkeypatch.setattr(generation, "run_all", catch)
    words = (
        "ctl --variant forward --variant backward --out here --seed 3 --preset small "
        "--rows train=5 --set symbols=6 --shard-rows 7 --workers 2 --engine dask "
        "--scheduler tcp://host:1 --source-dir /images --overwrite --quiet"
    )
    with pytest.raises(CaughtError) as caught:
        make.generate.main(words.split(), standalone_mode=False)
    (request,) = caught.value.args
    assert request == Request(
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
        source_dir=request.source_dir,
        overwrite=True,
        progress=False,
    )
    assert list(map(str, request.source_dir)) == ["/images"]
    bare = dataclasses.replace(Request("ctl"), rows={}, parameters={}, source_dir=())
    with pytest.raises(CaughtError) as caught:
        make.generate.main(["ctl"], standalone_mode=False)
    assert caught.value.args == (bare,)
