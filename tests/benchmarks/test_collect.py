"""Runs that were made by several commands become one comparison."""

import json

import pytest

from benchmarks import collect
from synthbench.errors import UsageError
from synthbench.tasks.registry import task
from synthbench.training.reproduce import reproduce
from synthbench.training.train import train

pytestmark = pytest.mark.slow


def test_runs_made_one_by_one_become_the_comparison_of_one_command(tmp_path, capsys):
    for model in ("clusters-dnas", "clusters-softmax"):
        data = tmp_path / model / "data"
        place = {"out": tmp_path / model / "run", "dataset": data, "rows": {"test": 4}}
        train("clusters", model=model, progress=False, **place)
    collect.main([str(tmp_path), "--into", str(tmp_path)])
    file = tmp_path / "clusters-cpu.json"
    assert str(file) in capsys.readouterr().out
    collected = json.loads(file.read_text(encoding="utf-8"))
    assert collected["command"] == "synthbench reproduce clusters --profile cpu"
    place = {"dataset": data, "out": tmp_path / "both"}
    models = ["clusters-softmax", "clusters-dnas"]  # in the order of the study
    once = reproduce(task("clusters"), models=models, seeds=1, progress=False, **place)
    for one, other in zip(collected["models"], once["models"], strict=True):
        for name in ("model", "variant", "recipes", "measures", "by_bucket"):
            assert one[name] == other[name]


def test_seeds_are_added_to_those_of_a_file_and_those_it_has_stay(tmp_path):
    results = []
    for seed, model in ((0, "clusters-dnas"), (1, "clusters-dnas"), (0, "clusters-softmax")):
        place = {"out": tmp_path / f"{model}-{seed}", "dataset": tmp_path / "data"}
        results.append(
            train("clusters", model=model, seed=seed, rows={"test": 4}, progress=False, **place)
        )
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for directory in (whole, parts):
        directory.mkdir()
    (file,) = collect.collect(results, whole)
    collect.collect(results[2:], parts)
    collect.collect(results[1:2], parts, add=True)
    for _ in range(2):  # the second time all runs are there already
        collect.collect(results[:1], parts, add=True)
    once, grown = (json.loads((one / file.name).read_text("utf-8")) for one in (whole, parts))
    assert grown["models"] == once["models"]
    assert grown["seeds"] == once["seeds"] == 2


def test_runs_of_other_rows_are_not_added(tmp_path):
    results = []
    for rows in (4, 5):
        out = tmp_path / str(rows)
        results.append(
            train("clusters", model="clusters-dnas", out=out, rows={"test": rows}, progress=False)
        )
    collect.collect(results[:1], tmp_path)
    before = (tmp_path / "clusters-cpu.json").read_bytes()
    with pytest.raises(UsageError, match="the file has other measures"):
        collect.collect(results[1:], tmp_path, add=True)
    assert (tmp_path / "clusters-cpu.json").read_bytes() == before
