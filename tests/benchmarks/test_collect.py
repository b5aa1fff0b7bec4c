"""Finished runs become rows of the table of runs."""

import json

import pytest

from benchmarks import collect
from benchmarks.collect import collected
from synthbench.errors import UsageError
from synthbench.tasks.base import Split
from synthbench.tasks.clusters.task import Clusters
from synthbench.tasks.registry import task
from synthbench.training.reproduce import reproduce
from synthbench.training.runs import read_runs, write_runs
from synthbench.training.stored import comparisons
from synthbench.training.train import train

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _few_rows():
    """Fewer rows of `clusters`, because its models compute attention among 500 points."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Clusters, "splits", (Split("test", 50),))
        yield


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A run of `clusters`, which has nothing to learn, with all rows of its study."""
    place = {"out": tmp_path_factory.mktemp("run") / "run", "profile": "paper", "progress": False}
    return json.loads(json.dumps(train("clusters", model="clusters-dnas", **place)))


def test_runs_made_one_by_one_become_the_comparison_of_one_command(tmp_path, capsys):
    data = tmp_path / "data"
    for model in ("clusters-dnas", "clusters-softmax"):
        train("clusters", model=model, progress=False, out=tmp_path / "runs" / model, dataset=data)
    table = tmp_path / "runs.parquet"
    for added in (2, 0):  # the second time all runs are there already
        collect.main([str(tmp_path / "runs"), "--into", str(table)])
        printed = capsys.readouterr().out.splitlines()
        assert printed[-1] == f"{added} of 2 runs added; 2 in {table}"
        assert len(printed) == added + 1
    (made,) = comparisons(read_runs(table))
    assert made["command"] == "synthbench reproduce clusters --profile cpu"
    place = {"dataset": data, "out": tmp_path / "both"}
    models = ["clusters-softmax", "clusters-dnas"]  # in the order of the study
    once = reproduce(task("clusters"), models=models, seeds=1, workers=1, progress=False, **place)
    assert [one["model"] for one in made["models"]] == models
    for one, other in zip(made["models"], once["models"], strict=True):
        for name in ("model", "variant", "recipes", "measures", "by_bucket", "model_parameters"):
            assert one[name] == other[name]


def test_a_written_table_is_read_again_as_it_was(tmp_path, result):
    runs, _ = collected([], [result, {**result, "seed": 1}])
    write_runs(tmp_path / "runs.parquet", runs)
    assert read_runs(tmp_path / "runs.parquet") == runs


def test_a_run_of_the_same_line_and_seed_is_added_only_in_place_of_the_other(result):
    runs, _ = collected([], [result])
    again = json.loads(json.dumps(result))
    again["splits"]["test"]["separated"] = 0.125
    with pytest.raises(UsageError, match="clusters-dnas, seed 0: the table has this run with"):
        collected(runs, [again])
    after, added = collected(runs, [again], replace=True)
    assert [one["study"] for one in after] == [None, "main"] and len(added) == 1
    assert [one["searched"] for one in after] == [True, False]


def other(result, **changes):
    return {**result, **changes, "recipe": {**result["recipe"], **changes.get("recipe", {})}}


def test_a_run_of_other_recipe_data_or_precision_is_of_no_study(result):
    name, value = next(iter(task("clusters").parameters.to_dict().items()))
    changes = (
        {"precision": "bfloat16"},
        {"recipe": {"learning_rate": 0.5}},
        {"steps": 9},
        {"rows": {**result["rows"], "test": 4}},
        {"data": {"parameters": {**result["data"]["parameters"], name: value / 2}}},
    )
    runs, added = collected([], [other(result, **one) for one in changes])
    assert len(added) == len(changes), "each is another setting"
    assert all(run["study"] is None and run["searched"] for run in runs)
    (kept,), _ = collected([], [result])
    assert (kept["study"], kept["searched"]) == ("main", False)
    older = {k: v for k, v in result["recipe"].items() if k != "form"}
    assert collected([], [{**result, "recipe": older}])[0][0]["study"] == "main", "a later field"


def test_quick_runs_are_left_out_and_a_searched_size_is_marked(result):
    assert collected([], [{**result, "study": {**result["study"], "profile": "quick"}}]) == ([], [])
    (run,), _ = collected([], [result], searched=True)
    assert (run["study"], run["searched"]) == ("main", True)


def test_a_run_has_the_golden_losses_of_its_commit_if_they_are_known():
    assert collect.golden_losses(None, "ndr") is None
    assert collect.golden_losses("0" * 40, "ndr") is None
    assert collect.golden_losses("HEAD-dirty", "ndr") is None
    losses = collect.golden_losses("HEAD", "ndr")
    if (collect._ROOT / ".git").exists():
        assert len(losses) == 10
