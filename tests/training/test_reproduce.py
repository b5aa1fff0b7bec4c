"""`reproduce`: all runs of a study, summed up beside the paper's figures."""

import dataclasses
import json
import statistics

import numpy as np
import pytest
import torch

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import UsageError
from synthbench.training import fresh, loop, plan, run
from synthbench.training.cells import cell
from synthbench.training.comparison import markdown
from synthbench.training.directory import RunDirectory
from synthbench.training.recipes.base import Measure, Published
from synthbench.training.reproduce import reproduce
from tests.making import Interrupted, interrupting
from tests.support import run_python
from tests.training.making import CTL, RECIPE, STUDY, add_study, recorded_bars, without_times

pytestmark = pytest.mark.slow

PUBLISHED = {("forward", "test"): Published(1.0, "NDR, table 1", 0.02)}
QUICK = dataclasses.replace(
    STUDY,
    variants=("forward", "backward"),
    recipes=(
        dataclasses.replace(RECIPE, steps=20, published=PUBLISHED),
        dataclasses.replace(STUDY.recipes[1], steps=20),
    ),
)
LINES = [("forward", "small"), ("forward", "lstm"), ("backward", "small"), ("backward", "lstm")]


@pytest.fixture(autouse=True)
def _study(monkeypatch):
    add_study(monkeypatch, QUICK)


def quick(out, variants=(), **changes):
    options = {"profile": "tiny", "out": out, "workers": 1, "device": "cpu", "progress": False}
    tasks = [synthbench.task("ctl", one, **CTL["parameters"]) for one in variants]
    return reproduce(tasks or "ctl", **{**options, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The study from beginning to end: its directory and its comparison."""
    with pytest.MonkeyPatch.context() as patch:
        add_study(patch, QUICK)
        path = tmp_path_factory.mktemp("whole")
        return path, quick(path)


def test_a_comparison_sums_up_the_seeds_of_every_model_and_variant(whole):
    tmp_path, comparison = whole
    assert [(one["variant"], one["model"]) for one in comparison["models"]] == LINES
    assert comparison == json.loads((tmp_path / "ctl-tiny.json").read_text(encoding="utf-8"))
    for line in comparison["models"]:
        figure = line["measures"]["test"]
        runs = [
            json.loads(
                (
                    tmp_path / line["variant"] / line["model"] / f"seed-{seed}" / "result.json"
                ).read_text(encoding="utf-8")
            )
            for seed in range(2)
        ]
        assert figure["values"] == [one["splits"]["test"]["accuracy"] for one in runs]
        assert figure["mean"] == statistics.fmean(figure["values"])
        assert figure["deviation"] == statistics.stdev(figure["values"])
        assert [one["seed"] for one in line["runs"]] == [0, 1]
        for kept, whole in zip(line["runs"], runs, strict=True):
            for name in ("seed", "steps", "seconds", "commit"):
                assert kept[name] == whole[name]
            assert kept["fit"].items() <= whole["fit"].items()
            assert kept["machine"] == whole["machine"]["processor"]
        for length, mean in line["by_bucket"].items():
            reports = [split["by"]["length"] for one in runs for split in one["splits"].values()]
            scores = [one[length]["accuracy"] for one in reports if length in one]
            assert len(scores) == 2 and mean == statistics.fmean(scores)
        assert line["by_bucket"]
    published = comparison["models"][0]["measures"]["test"]["published"]
    assert published == {"mean": 1.0, "deviation": 0.02, "runs": None, "source": "NDR, table 1"}
    assert comparison["command"] == "synthbench reproduce ctl --profile tiny"
    assert comparison["seconds"] > 0
    text = (tmp_path / "ctl-tiny.md").read_text(encoding="utf-8")
    assert "| `small` | forward |" in text
    assert "1.000 ± 0.020 |" in text


def test_an_interrupted_validation_is_continued_and_ends_the_same(tmp_path, monkeypatch, whole):
    with monkeypatch.context() as patch:
        interrupting(patch, loop.Loop, "_take_step", 67)  # in the fourth of eight runs
        with pytest.raises(Interrupted):
            quick(tmp_path / "run")
    finished = sorted((tmp_path / "run").rglob("result.json"))
    assert len(finished) == 3
    before = [file.stat().st_mtime_ns for file in finished]
    assert without_times(quick(tmp_path / "run")) == without_times(whole[1])
    assert [file.stat().st_mtime_ns for file in finished] == before


def test_overwrite_replaces_runs_of_other_recipes_alone(tmp_path, monkeypatch, whole):
    with monkeypatch.context() as patch:
        interrupting(patch, loop.Loop, "_take_step", 47)  # in the third of eight runs
        with pytest.raises(Interrupted):
            quick(tmp_path / "run")
    taken = []
    step = loop.Loop._take_step
    monkeypatch.setattr(loop.Loop, "_take_step", lambda *a: (taken.append(a[0].step), step(*a)))
    assert without_times(quick(tmp_path / "run", overwrite=True)) == without_times(whole[1])
    assert len(taken) == 8 * 20 - 40 - taken[0]
    file = tmp_path / "run" / "forward" / "lstm" / "seed-0" / "run.json"
    other = json.loads(file.read_text())
    file.write_text(json.dumps({**other, "recipe": {**other["recipe"], "learning_rate": 1.0}}))
    with pytest.raises(UsageError, match="learning_rate"):
        quick(tmp_path / "run")
    taken.clear()
    quick(tmp_path / "run", overwrite=True)
    assert len(taken) == 20


def test_a_comparison_has_the_rows_of_the_dataset_that_was_given(tmp_path):
    variants = [synthbench.task("ctl", name, **CTL["parameters"]) for name in QUICK.variants]
    synthbench.generate(variants, out=tmp_path / "data", rows={**QUICK.rows, "test": 17})
    comparison = quick(tmp_path / "run", models=["lstm"], seeds=1, dataset=tmp_path / "data")
    assert comparison["data"]["rows"] == {**QUICK.rows, "test": 17}
    assert f"--dataset {tmp_path / 'data'}" in comparison["command"]


def test_models_variants_and_seeds_can_be_chosen_and_stand_in_the_command(tmp_path):
    comparison = quick(tmp_path, models=["lstm"], variants=["backward"], seeds=1)
    assert [(one["variant"], one["model"]) for one in comparison["models"]] == LINES[3:]
    assert comparison["command"].endswith("--model lstm --variant backward --seeds 1")
    assert comparison["models"][0]["measures"]["test"]["deviation"] is None


def test_recipes_that_share_a_line_are_summed_up_together(tmp_path, monkeypatch):
    rates = (1e-3, 1e-2)
    recipes = tuple(
        dataclasses.replace(RECIPE, steps=2, name=f"small-{rate}", line="small", learning_rate=rate)
        for rate in rates
    )
    add_study(monkeypatch, dataclasses.replace(QUICK, variants=("forward",), recipes=recipes))
    (line,) = quick(tmp_path)["models"]
    assert line["model"] == "small"
    assert [one["learning_rate"] for one in line["recipes"]] == list(rates)
    assert len(line["measures"]["test"]["values"]) == 4


def test_runs_with_a_eureka_moment_are_counted_and_the_others_left_out_of_the_means(
    tmp_path, monkeypatch
):
    moments = iter([{"split": "validation", "step": 10, "epoch": 1.6}, None])
    monkeypatch.setattr(run.Run, "_eureka", lambda self, looks: next(moments))
    measures = tuple(
        Measure(name, "test", f"eureka_{name}") for name in ("ratio", "epoch", "accuracy")
    )
    add_study(
        monkeypatch,
        dataclasses.replace(
            QUICK, variants=("forward",), recipes=QUICK.recipes[:1], measures=measures
        ),
    )
    comparison = quick(tmp_path)
    figures = comparison["models"][0]["measures"]
    assert figures["ratio"]["values"] == [1.0, 0.0]
    assert figures["epoch"]["values"] == [1.6, None]
    assert figures["epoch"]["mean"] == 1.6
    assert figures["accuracy"]["values"][1] is None
    assert "| 1/2 (0.09 to 0.91) |" in markdown(comparison)


def test_epochs_are_compared_with_the_mean_epoch_of_another_line(tmp_path, monkeypatch):
    moments = iter([2.0, 4.0, 1.5, None])

    def moment(self, looks):
        epoch = next(moments)
        return epoch and {"split": "validation", "step": 10, "epoch": epoch}

    monkeypatch.setattr(run.Run, "_eureka", moment)
    measures = (
        Measure("epoch", "test", "eureka_epoch"),
        Measure("% of steps", "test", "eureka_percent", percent_of="small"),
    )
    study = dataclasses.replace(QUICK, variants=("forward",), measures=measures)
    add_study(monkeypatch, study)
    comparison = quick(tmp_path)
    values = [one["measures"]["% of steps"]["values"] for one in comparison["models"]]
    assert np.allclose(values[0], [200 / 3, 400 / 3])
    assert values[1] == [50.0, None]
    assert "| 50 (one run) |" in markdown(comparison)
    alone = quick(tmp_path, models=["lstm"])["models"][0]["measures"]["% of steps"]
    assert alone["values"] == [None, None] and alone["mean"] is None


def test_the_eureka_moment_is_the_first_look_above_the_threshold(tmp_path, monkeypatch):
    study = dataclasses.replace(QUICK, eureka=0.05, variants=("forward",))
    add_study(monkeypatch, study)
    quick(tmp_path, models=["small"], seeds=1)
    result = json.loads((tmp_path / "forward/small/seed-0/result.json").read_text())
    first = next(line for line in result["curve"] if line["validation/accuracy"] > 0.05)
    assert result["eureka"] == {
        "split": "validation",
        "step": first["step"],
        "epoch": first["epoch"],
    }


def test_the_table_says_how_long_was_trained_even_less_than_a_second_or_not_at_all(tmp_path):
    comparison = quick(tmp_path, models=["lstm"], variants=["forward"], seeds=1)
    (line,) = comparison["models"]
    for steps, seconds, shown in ((20, 0.3, "| 20 | <1 |"), (0, 0.0, "| 0 | - |")):
        line["runs"][0] |= {"steps": steps, "seconds": seconds}
        (row,) = [row for row in markdown(comparison).splitlines() if "`lstm`" in row]
        assert row.endswith(shown)


@pytest.mark.parametrize(
    ("metric", "figure", "runs", "shown"),
    [
        ("accuracy", {"mean": 0.98765, "deviation": None}, None, "0.988"),
        ("accuracy", {"mean": 0.5, "deviation": 0.25}, 3, "0.500 ± 0.250"),
        ("mse", {"mean": 7.98e-8, "deviation": 4.7e-8}, None, "8.0e-08 ± 4.7e-08"),
        ("eureka_ratio", {"mean": 0.7, "deviation": None}, 10, "7/10 (0.40 to 0.89)"),
        ("eureka_epoch", {"mean": None, "deviation": None}, 5, "-"),
        ("accuracy", None, None, ""),
    ],
)
def test_figures_are_shown_as_people_write_them(metric, figure, runs, shown):
    assert cell(metric, figure, runs) == shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ["lst"]}, "Unknown model for ctl.*Did you mean 'lstm'"),
        ({"variants": ["backwards"]}, "Did you mean 'backward'"),
        ({"seeds": 0}, "Seeds 0: allowed are whole numbers from 1"),
        ({"workers": 0}, "Workers 0: allowed are whole numbers from 1"),
        ({"profile": "tin"}, "Did you mean 'tiny'"),
    ],
    ids=str,
)
def test_wrong_choices_are_refused_before_any_work(changes, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        quick(tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


def test_two_runs_at_once_show_what_layer_normalisation_does_out_of_distribution(tmp_path):
    printed = run_python(f"""
import dataclasses
import torch._dynamo  # else each run would import what an optimizer needs
from synthbench.training import recipes
from synthbench.training.reproduce import reproduce
study = recipes.find_study("identity", "paper")
small = tuple(
    dataclasses.replace(one, steps=400, learning_rate=3e-3, schedule="one-cycle", validate_every=50,
                        options={{"d_ff": 64}})
    for one in study.recipes
)
rows = {{"train": 5000, "iid": 100, "test": 100}}
quick = dataclasses.replace(study, profile="quick", recipes=small, rows=rows)
recipes.STUDIES = (quick,)
found = reproduce("identity", profile="quick", out={str(tmp_path / "out")!r}, seeds=1, workers=2,
                 device="cpu")
for line in found["models"]:
    print(line["measures"]["iid"]["mean"], line["measures"]["test"]["mean"])
""")
    (plain_iid, plain_test), (norm_iid, norm_test) = (
        map(float, line.split()) for line in printed.splitlines()
    )
    assert plain_test < 0.1 * norm_test
    assert norm_iid < norm_test
    assert plain_iid < 1e-3


@pytest.mark.parametrize(
    ("by_default", "chosen", "words"),
    [
        (True, None, ""),
        (True, False, " --no-stream"),
        (False, None, ""),
        (False, True, " --stream"),
    ],
)
def test_the_command_says_how_rows_come_where_the_study_does_not(
    tmp_path, monkeypatch, by_default, chosen, words
):
    add_study(monkeypatch, dataclasses.replace(QUICK, profile="rows", stream=by_default))
    made = quick(
        tmp_path, profile="rows", models=["lstm"], variants=["forward"], seeds=1, stream=chosen
    )
    assert made["command"] == (
        "synthbench reproduce ctl --profile rows --model lstm --variant forward --seeds 1" + words
    )


def test_the_command_prints_the_table(tmp_path, capsys):
    words = ["reproduce", "ctl", "--profile", "tiny", "--model", "lstm", "--seeds", "1"]
    words += ["--variant", "forward", "--device", "cpu", "--workers", "1", "--out", str(tmp_path)]
    assert _run(commands, words) == 0
    assert "model  measure" in (printed := capsys.readouterr().out)
    assert "lstm   training rows" in printed


def test_what_is_tried_before_workers_are_forked_starts_no_threads_that_they_would_lack(
    tmp_path, monkeypatch
):
    threads = []

    def noting(*arguments):
        threads.append(torch.get_num_threads())
        return build(*arguments)

    build = fresh.build
    monkeypatch.setattr(fresh, "build", noting)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        quick(tmp_path, models=["small"], variants=["forward"], seeds=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert set(threads) == {1}


def test_the_bar_counts_the_steps_of_all_runs_those_taken_before_included(tmp_path, monkeypatch):
    shown = recorded_bars(monkeypatch)
    quick(tmp_path, models=["lstm"], variants=["forward"], seeds=1)
    (bar,) = shown
    assert (bar.unit, bar.total) == ("steps", 20)
    assert sorted(set(bar.seen)) == [*range(21)]
    quick(tmp_path, models=["lstm", "small"], variants=["forward"], seeds=1)
    _, bar = shown
    assert bar.total == 40
    assert sorted(set(bar.seen)) == [*range(20, 41)]
    assert {"ctl forward, lstm, seed 0:", "ctl forward, small, seed 0:"} <= set(bar.titles)


@pytest.mark.slow
def test_the_bar_names_the_runs_of_several_workers_and_counts_all_their_steps(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(plan, "_LOOK", 0.02)
    shown = recorded_bars(monkeypatch)
    quick(tmp_path, models=["lstm"], seeds=2, workers=2)
    (bar,) = shown
    assert bar.total == bar.seen[-1] == 80
    assert bar.seen == sorted(bar.seen)
    assert len(set(bar.seen)) > 3
    assert "ctl forward, lstm, seed 0: and 1 more" in bar.titles


def test_the_last_step_is_read_past_a_line_that_is_only_half_written(tmp_path):
    directory = RunDirectory(tmp_path)
    assert directory.last_step == 0
    (tmp_path / "metrics.jsonl").write_text('{"step": 5}\n{"step": 10}\n{"st')
    assert directory.last_step == 10
