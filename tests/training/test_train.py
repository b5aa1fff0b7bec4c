"""Runs: that they learn, tell what they did, and refuse what cannot be."""

import dataclasses
import importlib
import json
import math

import pytest
import torch

from synthbench import __version__
from synthbench.cli.main import _run, commands
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.generation.generate import generate
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from synthbench.training import run as running
from synthbench.training import train as training
from synthbench.training.directory import RunDirectory
from synthbench.training.figures.figure import open_run
from synthbench.training.options import Setting
from synthbench.training.predicting import predict
from synthbench.training.setting import commit
from synthbench.training.train import train
from tests.training.making import CTL, RECIPE, STUDY, add_study, make_ctl, run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("study")]


# What a run does.


def test_a_run_learns_its_training_rows(tmp_path, data):
    learning = {"steps": 300, "validate_every": 100, "learning_rate": 1e-2}
    options = {"d_model": 32, "dropout": 0.0}
    result = run(tmp_path / "run", data, model="lstm", recipe=learning, options=options)
    assert result["curve"][-1]["train/accuracy"] == 1.0
    assert result["curve"][-1]["train/loss"] < 0.1


def test_every_split_is_read_once_and_through_the_dataset_that_was_opened(
    tmp_path, data, monkeypatch
):
    opened, read, looked_up = [], [], []
    open_dataset, batches, find_study = (
        DatasetDirectory.open,
        DatasetDirectory.batches,
        training.find_study,
    )

    def noting_open(path):
        opened.append(path)
        return open_dataset(path)

    def noting_batches(self, variant, split, *arguments, **options):
        if arguments[1:] == () and "batch_rows" not in options:  # not the few rows of the trial
            read.append(split)
        return batches(self, variant, split, *arguments, **options)

    def noting_study(*arguments):
        looked_up.append(arguments)
        return find_study(*arguments)

    monkeypatch.setattr(DatasetDirectory, "open", noting_open)
    monkeypatch.setattr(DatasetDirectory, "batches", noting_batches)
    monkeypatch.setattr(training, "find_study", noting_study)
    run(tmp_path / "run", data)
    assert opened == [data, data]  # its manifest names the task, and then its rows are read
    assert sorted(read) == ["iid", "test", "train", "validation"]
    assert len(looked_up) == 1


def test_reports_are_those_of_evaluate_on_the_directory_and_of_the_run_that_is_opened(whole, data):
    path, result = whole
    for split, report in result["splits"].items():
        view = open_run(path, split=split)
        assert view.recipe == dataclasses.replace(RECIPE, published={})
        given = predict(view.model, view.rows, view.form, Setting())
        assert evaluate(data, given, split=split).to_dict() == report


def test_a_result_says_what_was_run_on_what_and_how_every_split_came_out(whole):
    path, result = whole
    assert result == json.loads((path / "result.json").read_text(encoding="utf-8"))
    assert result["recipe"]["options"] == RECIPE.options
    assert result["splits"].keys() == {"iid", "validation", "test"}
    assert result["splits"]["test"]["by"]["length"]["5"]["rows"] == 40
    assert result["data"]["parameters"]["functions"] == 3
    assert result["machine"]["torch"] == torch.__version__
    assert result["machine"]["processor"] and result["synthbench"] == __version__
    assert result["commit"] == commit()
    assert result["seconds"] > 0 and result["evaluation_seconds"] > 0
    looks = [line for line in RunDirectory(path).metrics() if "validation/loss" in line]
    assert result["curve"] == looks
    assert [line["step"] for line in looks] == [4, 8, 10, 12, 16, 20, 24, 28, 30, 32, 36, 40]
    assert result["curve"][1]["epoch"] == 8 * 32 / 200


def test_the_checkpoint_that_is_kept_is_the_best_on_the_validation_split(whole, data):
    _, result = whole
    # Looks between the validations are for the curve: what a recipe chooses from stays as it was.
    curve = [line for line in result["curve"] if line["step"] % RECIPE.validate_every == 0]
    best = max(curve, key=lambda line: (line["validation/accuracy"], -line["validation/loss"]))
    assert result["best_step"] == best["step"]
    assert result["splits"]["validation"]["accuracy"] == best["validation/accuracy"]


@pytest.mark.parametrize(("end", "counts"), [(1.0, True), (0.98, False)])
def test_the_last_parameters_count_if_they_alone_have_learned_the_training_rows(
    end, counts, whole, data, tmp_path, monkeypatch
):
    scores = iter([(end, end), (0.97, 0.97)])
    monkeypatch.setattr(running, "training_score", lambda *_: next(scores))
    result = run(tmp_path / "run", data, recipe={"learning_rate": 0.0, "steps": 40})
    assert result["best_step"] == (40 if counts else RECIPE.validate_every)
    assert result["fit"]["chosen"] == (1.0 if counts else 0.97)


@pytest.mark.parametrize(
    ("steps", "every", "notes", "looks"),
    [
        (1, 1000, 1, 1),
        (7, 1000, 7, 7),
        (50, 1000, 50, 10),
        (99, 1000, 50, 10),
        (130, 1, 130, 130),
        (130, 20, 50, 14),
    ],
)
def test_training_is_noted_fifty_times_a_run_and_the_watched_splits_are_looked_at_ten_times(
    steps, every, notes, looks, tmp_path, data
):
    recipe = {"steps": steps, "validate_every": every, "batch_size": 2}
    run(tmp_path / "run", data, model="lstm", recipe=recipe, options={"d_model": 2})
    metrics = RunDirectory(tmp_path / "run").metrics()
    assert all("train/loss" in line for line in metrics)
    looked = [line["step"] for line in metrics if "iid/accuracy" in line]
    assert len(looked) >= looks
    assert len(metrics) >= notes
    assert {*range(every, steps + 1, every), steps} <= {*looked}
    assert metrics[-1]["step"] == steps


def test_a_study_may_stream_unless_the_train_split_is_asked_for(tmp_path, monkeypatch):
    add_study(monkeypatch, dataclasses.replace(STUDY, profile="fresh", stream=True))
    asked = {"profile": "fresh", "recipe": {"steps": 2}, "data": make_ctl(tmp_path / "data")}
    assert run(tmp_path / "fresh", **asked)["stream"]
    assert not run(tmp_path / "split", **asked, stream=False)["stream"]


def test_a_stream_trains_on_fresh_rows(tmp_path):
    result = train(
        "ctl",
        model="small",
        profile="tiny",
        out=tmp_path / "run",
        stream=True,
        device="cpu",
        progress=False,
        recipe={"steps": 10},
    )
    dataset = DatasetDirectory.open(tmp_path / "run" / "data")
    assert dataset.manifest.variants["forward"]["train"].rows == 100
    assert result["stream"]
    # An epoch of a stream is as many rows as the paper's train split.
    assert result["curve"][0]["epoch"] == 32 * result["curve"][0]["step"] / 53_704
    assert result["splits"]["test"]["rows"] == 40


def test_heat_reaches_the_model_before_every_step(tmp_path, data, monkeypatch):
    from synthbench.training.layers.attention import Attention

    given = []
    monkeypatch.setattr(Attention, "set_temperature", lambda self, value: given.append(value))
    run(tmp_path / "run", data, recipe={"steps": 10, "heat": "1,3,0.5"})
    # 1/τ falls from 1 to 1/3 along half a cosine.
    falling = [1 / 3 + (1 + math.cos(math.pi * step / 5)) / 3 for step in range(5)]
    assert given == pytest.approx([1 / inverse for inverse in falling] + [3.0] * 5)


def test_halting_adds_its_cost_to_the_loss_and_its_steps_to_the_result(tmp_path, data):
    study = dataclasses.replace(
        STUDY,
        recipes=(
            dataclasses.replace(RECIPE, model="transformer-relative-act", ponder=0.03, steps=10),
        ),
    )
    with pytest.MonkeyPatch.context() as patch:
        add_study(patch, study)
        result = run(tmp_path / "run", data)
    assert result["halting"].keys() == {"iid", "validation", "test"}
    assert all(1 <= steps <= 2 for steps in result["halting"].values())


def test_compiled_steps_take_batches_of_one_width_and_evaluation_the_model_itself(
    tmp_path, data, monkeypatch
):
    widths = set()

    def compiled(model):
        def forward(inputs, lengths, record):
            widths.add(inputs.shape[1])
            return model(inputs, lengths, record)

        return forward

    monkeypatch.setattr(torch, "compile", compiled)
    result = run(tmp_path / "run", data, recipe={"steps": 10}, compile=True)
    assert widths == {4}
    assert result["splits"]["test"]["rows"] == 40


def test_a_model_whose_loss_is_no_number_ends_the_run(tmp_path, data):
    with pytest.raises(SynthbenchError, match=r"^The training loss of 'small' is (nan|inf) by st"):
        run(tmp_path / "run", data, recipe={"learning_rate": 1e30, "clip": 0})


def test_bfloat16_runs_through(tmp_path, data):
    result = run(tmp_path / "run", data, recipe={"steps": 10}, precision="bfloat16")
    assert result["precision"] == "bfloat16"
    assert result["curve"][0]["train/loss"] > 0


def test_the_command_prints_each_splits_metrics(tmp_path, data, capsys):
    words = ["--profile", "tiny", "--model", "small", "--dataset", str(data), "--recipe", "steps=2"]
    words += ["--out", str(tmp_path / "run"), "--option", "d_model=8", "--device", "cpu"]
    assert _run(commands, ["train", "ctl", *words]) == 0
    printed = capsys.readouterr().out
    assert "ctl, forward: small, 2 steps at" in printed
    assert [line.split()[0] for line in printed.splitlines()[-3:]] == ["iid", "validation", "test"]


# What is refused.


def test_data_of_another_task_or_with_other_parameters_is_refused(tmp_path, data):
    generate("parity", out=tmp_path / "parity", rows={"test": 10, "train": 10}, progress=False)
    with pytest.raises(UsageError, match=r"is of task 'parity'. Expected 'ctl'"):
        run(tmp_path / "run", tmp_path / "parity")
    with pytest.raises(UsageError, match="has functions=3; functions=4 was asked for"):
        run(tmp_path / "run", data, task=make_task("ctl", **{**CTL["parameters"], "functions": 4}))
    with pytest.raises(UsageError, match=r"Unknown variant .*'backward'. Allowed: forward"):
        run(tmp_path / "run", data, task=make_task("ctl", "backward", **CTL["parameters"]))


def test_a_task_without_recipes_is_refused(tmp_path, numbers):
    expected = r"Task 'numbers' has no recipes\. A module `recipes`.*`studies\(task\)`"
    with pytest.raises(UsageError, match=expected):
        train("numbers", model="lstm", out=tmp_path, progress=False)


def test_a_model_that_reads_other_rows_is_refused(tmp_path, data, monkeypatch):
    add_study(
        monkeypatch, dataclasses.replace(STUDY, recipes=(dataclasses.replace(RECIPE, model="vit"),))
    )
    with pytest.raises(UsageError, match="'vit' reads images, but the rows here are tokens"):
        run(tmp_path / "run", data)


def test_a_task_of_another_package_brings_recipes_for_our_models(tmp_path, monkeypatch):
    package = tmp_path / "sums"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "task.py").write_text(
        'from synthbench.tasks.parity.task import Parity\nclass Sums(Parity):\n    name = "sums"\n'
    )
    (package / "recipes.py").write_text(
        "from synthbench.training.recipes.base import Measure, Recipe, Study\n"
        "def studies(task):\n"
        '    recipe = Recipe("mine", "lstm", steps=2, batch_size=4, options={"d_model": 4})\n'
        '    measures = (Measure("test", "test", "accuracy"),)\n'
        '    return [Study(task.name, "cpu", "Ours", (recipe,), measures, eval_splits=("test",))]\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})
    registry.register(importlib.import_module("sums.task").Sums)
    result = train("sums", model="mine", out=tmp_path / "run", progress=False, device="cpu")
    assert (result["task"], result["steps"]) == ("sums", 2)
    assert 0 <= result["splits"]["test"]["accuracy"] <= 1
    with pytest.raises(UsageError, match="Unknown profile of sums 'paper'"):
        train("sums", model="mine", profile="paper", out=tmp_path / "other", progress=False)
