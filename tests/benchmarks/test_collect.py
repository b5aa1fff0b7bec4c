"""Runs that were made by several commands become one comparison."""

import json
import re

import pytest

from benchmarks import collect
from synthbench.errors import UsageError
from synthbench.tasks.registry import task
from synthbench.training.comparison import made_with
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
    for seed, rows in enumerate((4, 5)):
        out, rows = tmp_path / str(rows), {"test": rows}
        results.append(
            train("clusters", model="clusters-dnas", seed=seed, out=out, rows=rows, progress=False)
        )
    collect.collect(results[:1], tmp_path)
    before = (tmp_path / "clusters-cpu.json").read_bytes()
    with pytest.raises(UsageError, match="the file has other data"):
        collect.collect(results[1:], tmp_path, add=True)
    assert (tmp_path / "clusters-cpu.json").read_bytes() == before
    with pytest.raises(UsageError, match="seed 1: other rows of balanced than in other runs"):
        collect.collect(results, tmp_path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = {"out": tmp_path_factory.mktemp("run"), "rows": {"test": 4}, "progress": False}
    return json.loads(json.dumps(train("clusters", model="clusters-dnas", **place)))


@pytest.mark.parametrize(
    "changes, said",
    [
        ({}, "balanced, clusters-dnas, seed 0: two of the results are of this run."),
        (
            {"seed": 1, "precision": "bfloat16"},
            "other precision than in other runs, bfloat16",
        ),
        ({"seed": 1, "recipe": {"steps": 9}}, "its steps is 9, the study's 0."),
        ({"seed": 1, "data": {"parameters": {}}}, "other parameters than in other runs, {} and {"),
    ],
)
def test_runs_that_one_table_cannot_hold_together_are_refused(run, changes, said, tmp_path):
    other = {**run, **changes, "recipe": {**run["recipe"], **changes.get("recipe", {})}}
    with pytest.raises(UsageError, match=re.escape(said)):
        collect.collect([run, other], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_keeps_its_runs_version_machine_and_seconds_and_what_it_is_held_against(
    run, tmp_path
):
    older = {**run, "synthbench": "0.1.0", "seconds": 5.0, "evaluation_seconds": 1.0}
    newer = {**run, "seed": 1, "seconds": 2.0, "evaluation_seconds": 1.0, "synthbench": "0.2.0"}
    (file,) = collect.collect([older], tmp_path)
    held = {"commit": "abc", "losses": {"lstm": [1.0]}}
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"held": held}), "utf-8")
    for _ in range(2):
        collect.collect([newer], tmp_path, add=True)
    comparison = json.loads(file.read_text(encoding="utf-8"))
    assert comparison["held"] == held
    assert comparison["run_seconds"] == 9.0
    assert "synthbench 0.1.0" in made_with(comparison)
    assert "synthbench 0.2.0" in made_with(comparison)
    with pytest.raises(UsageError, match="the file has other precision"):
        collect.collect([{**newer, "seed": 2, "precision": "bfloat16"}], tmp_path, add=True)


def test_a_field_that_a_stored_recipe_lacks_has_its_default(run, tmp_path):
    (file,) = collect.collect([run], tmp_path)
    stored = json.loads(file.read_text(encoding="utf-8"))
    recipe = stored["models"][0]["recipes"][0]
    del recipe["form"]
    file.write_text(json.dumps(stored), encoding="utf-8")
    collect.collect([{**run, "seed": 1}], tmp_path, add=True)
    assert len(json.loads(file.read_text(encoding="utf-8"))["models"][0]["runs"]) == 2
    recipe["weight_decay"] = 9.0
    file.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(UsageError, match="the file has another recipe"):
        collect.collect([{**run, "seed": 1}], tmp_path, add=True)
