"""Metrics and group_by of every kind of task."""

from __future__ import annotations

import json
import math
from typing import ClassVar

import numpy as np
import pytest

import synthbench
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.generation.generate import generate
from synthbench.tasks.listops.task import ListOps
from tests.evaluation.making import refusal
from tests.support import every_variant


class Numbers(ListOps):
    """A task of odd metrics on the columns of listops."""

    name = "numbers"
    metrics = ("error", "told", "accuracy")
    scored_columns: ClassVar[tuple[str, ...]] = ("label",)

    def measure(self, row, answer):
        if answer is None:
            return {"error": math.inf, "told": math.nan, "accuracy": 0.0}
        right = answer == row["label"]
        told = float(right) / 2 if row["label"] < 5 else math.nan
        return {"error": abs(answer - row["label"]), "told": told, "accuracy": float(right)}

    def baseline(self):
        return {"guessing": 0.1}


def test_metrics_without_a_value_are_left_out_of_the_mean():
    rows = [{"label": label} for label in (1, 2, 8, 9)]
    report = evaluate(rows, [1, 3, 8, 9], task=Numbers())
    scaled = report.metrics.pop("scaled_accuracy")
    assert report.metrics == {"error": 0.25, "told": 0.25, "accuracy": 0.75}
    assert scaled == pytest.approx((0.75 - 0.1) / 0.9)
    assert math.isnan(evaluate(rows[2:], [8, 9], task=Numbers()).metrics["told"])


def test_only_metrics_of_0_and_1_have_an_interval():
    rows = [{"label": 1}, {"label": 9}]
    report = evaluate(rows, [1, 9], task=Numbers())
    assert set(report.intervals) == {"accuracy"}
    assert str(report).splitlines()[2].split() == [
        "split", "rows", "error", "told", "accuracy", "95%", "interval", "scaled_accuracy",
    ]  # fmt: skip


def test_means_that_are_no_finite_number_are_null_in_json():
    report = evaluate([{"label": 9}], [None], task=Numbers())
    assert report.metrics["error"] == math.inf
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["error"] is None and values["told"] is None and values["accuracy"] == 0.0
    assert str(report).splitlines()[3].split()[2:5] == ["inf", "-", "0.0000"]


def test_a_task_whose_first_metric_is_no_accuracy_has_none():
    report = evaluate([{"label": 9}], [9], task=Numbers())
    with pytest.raises(AttributeError, match="the task measures error, told, accuracy"):
        report.accuracy  # noqa: B018


def test_what_is_reached_without_solving_the_task_stands_beside():
    report = evaluate([{"label": 9}], [9], task=Numbers())
    assert report.to_dict()["baselines"] == {"guessing": 0.1}
    assert "For comparison, guessing: 0.1000\n" in str(report)


def test_grids_are_evaluated_from_their_directory(tmp_path):
    rows = {"train": 20, "iid": 10, "test": 14}
    generate("grid-count", out=tmp_path / "grids", rows=rows, workers=1, progress=False)
    there = list(DatasetDirectory.open(tmp_path / "grids").rows("default", "test"))
    predictions = [np.array(row["label"], np.float32) + 0.2 for row in there]
    predictions[3] = np.zeros((1, 1), np.float32)
    report = evaluate(tmp_path / "grids", predictions, split="test")
    assert report.metrics["grid_accuracy"] == 13 / 14
    assert report.accuracy == report.metrics["cell_accuracy"]
    assert report.unparsed == (there[3]["id"],)
    assert list(report.by["size"]) == [7, 8, 9, 10, 12, 15, 20]


def test_class_labels_are_broken_down_by_their_names(tmp_path):
    parameters = {"n_values": 4}
    out = tmp_path / "parity"
    generate(synthbench.task("parity", **parameters), out=out, workers=1, progress=False)
    rows = list(DatasetDirectory.open(out).rows("default", "test"))
    in_order = [row["label"] for row in rows]
    report = evaluate(rows, in_order, synthbench.task("parity", **parameters))
    assert list(report.by["label"]) == ["0", "1", "2", "3"]
    assert evaluate(out, in_order, split="test").by == report.by


def test_another_variant_is_evaluated_when_named(tmp_path):
    sizes = {"train": 80, "iid": 8, "validation": 6, "test": 6}
    out = tmp_path / "ctl"
    generate(every_variant("ctl"), out=out, rows=sizes, workers=1, progress=False)
    rows = list(DatasetDirectory.open(out).rows("backward", "test"))
    backward = synthbench.task("ctl", "backward")
    report = evaluate(out, [row["steps"][-1] for row in rows], backward, split="test")
    assert (report.variant, report.accuracy) == ("backward", 1.0)
    forward = tmp_path / "forward"
    generate("ctl", out=forward, rows=sizes, workers=1, progress=False)
    text = refusal(UsageError, forward, {}, task=backward, split="test")
    assert "'backward'. Allowed: forward." in text
