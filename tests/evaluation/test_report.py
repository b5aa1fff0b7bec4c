"""What the report says, and of which splits."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.scores import wilson
from tests.evaluation.making import SIZES, wrong

# Which splits are evaluated.


def test_without_a_split_those_with_predictions_are_evaluated(made):
    report = evaluate(made.path, made.right("iid", "test"))
    assert list(report.splits) == ["iid", "test"]
    assert report.without_predictions == ("train", "validation")
    assert report.rows == SIZES["iid"] + SIZES["test"]
    assert "Not evaluated, because they have no predictions: train, validation" in str(report)
    assert "\nall " in str(report)
    everything = evaluate(made.path, made.right(*SIZES))
    assert list(everything.splits) == list(SIZES)
    assert everything.without_predictions == ()


def test_the_report_says_that_predictions_were_taken_in_order(made):
    by_id = evaluate(made.path, made.right("test"))
    in_order = evaluate(made.path, [row["label"] for row in made.rows["test"]], split="test")
    said = "Predictions without ids: taken in the order of the rows."
    assert said in str(in_order) and said not in str(by_id)
    assert in_order.to_dict()["matched_by"] == "order"
    assert by_id.to_dict()["matched_by"] == "id"


def test_one_prediction_is_enough_for_its_split_to_be_evaluated(made):
    predictions = made.right("test")
    straggler = made.rows["train"][-1]
    report = evaluate(made.path, {straggler["id"]: straggler["label"], **predictions})
    assert report.splits["train"].accuracy == 1 / SIZES["train"]
    assert report.splits["test"].accuracy == 1.0
    assert len(report.missing) == SIZES["train"] - 1


def test_the_split_column_sets_other_splits_aside(made, tmp_path):
    path = tmp_path / "p.jsonl"
    lines = [
        json.dumps({"id": row["id"], "prediction": row["label"], "split": split})
        for split in ("iid", "test")
        for row in made.rows[split]
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert list(evaluate(made.path, path).splits) == ["iid", "test"]
    report = evaluate(made.path, path, split="test")
    assert report.accuracy == 1.0
    assert report.unknown == ()


# Which rows count.


def test_rows_without_a_prediction_are_counted_in_every_line_or_left_out(made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    rows = made.rows["test"]
    deep = [row for row in rows if row["dependency_depth"] == 8]
    predictions = {row["id"]: row["label"] for row in deep[:10]}
    predictions[deep[0]["id"]] = "no idea"
    report = evaluate(made.path, predictions, split="test")
    assert (report.rows, report.asked, report.accuracy) == (40, 10, 9 / 40)
    by_depth = {
        depth: (one.rows, one.asked) for depth, one in report.by["dependency_depth"].items()
    }
    assert by_depth == {7: (20, 0), 8: (20, 10)}
    lines = str(report).splitlines()
    assert lines[2].split()[:3] == ["split", "rows", "asked"]
    assert next(line for line in lines if line[:2] == "8 ").split()[:3] == ["8", "20", "10"]
    only = evaluate(made.path, predictions, answered_only=True)
    assert (only.rows, only.asked, only.accuracy) == (10, 10, 0.9)
    assert list(only.splits) == ["test"]
    assert only.splits["test"].rows == only.by["dependency_depth"][8].rows == 10
    assert list(only.by["dependency_depth"]) == [8]
    assert only.missing == report.missing and len(only.missing) == 30
    assert only.to_dict()["answered_only"] is True
    assert str(only).splitlines()[2].split()[:2] == ["split", "asked"]
    assert "30 missing (no prediction, do not count)" in str(only)
    assert evaluate(made.path, made.right("test"), answered_only=True).to_dict()["asked"] == 40


# What the report says.


def test_the_breakdowns_are_those_of_the_rows(made):
    rows = made.rows["test"]
    predictions = made.right("test")
    for row in rows:
        if row["dependency_depth"] == 7:
            predictions[row["id"]] = wrong(row["label"])
    report = evaluate(made.path, predictions, split="test")
    by_depth = report.by["dependency_depth"]
    assert {depth: one.accuracy for depth, one in by_depth.items()} == {7: 0.0, 8: 1.0}
    assert by_depth[7].intervals["accuracy"][0] == 0.0
    for band, one in report.by["length"].items():
        low, high = map(int, band.split(".."))
        assert (low, high) == (low // 10 * 10 + 1, low // 10 * 10 + 10)
        assert one.rows == sum(low <= row["length"] <= high for row in rows)
    assert list(report.by["depth"]) == sorted({row["depth"] for row in rows})


def test_the_report_is_json_values(made):
    predictions = {**made.right("test"), "b": 1, "a": 2}
    predictions[made.rows["test"][0]["id"]] = "none"
    report = evaluate(made.path, predictions)
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["task"] == "listops" and values["variant"] == "default"
    assert values["accuracy"] == report.accuracy == 39 / 40
    assert values["accuracy_interval"] == list(report.intervals["accuracy"])
    assert values["splits"]["test"]["rows"] == values["rows"] == 40
    assert values["by"]["dependency_depth"]["8"]["rows"] == 20
    assert (values["missing"], values["unknown"], values["unparsed"]) == (0, 2, 1)
    assert values["unknown_ids"] == ["b", "a"]
    assert values["unparsed_ids"] == [made.rows["test"][0]["id"]]
    assert values["without_predictions"] == ["train", "iid", "validation"]


def test_the_printed_report_is_an_aligned_table(made):
    labels = [row["label"] for row in made.rows["test"]]
    labels[:10] = [wrong(label) for label in labels[:10]]
    lines = str(evaluate(made.path, labels, split="test")).splitlines()
    assert lines[0] == "listops, default"
    assert lines[2].split() == ["split", "rows", "accuracy", "95%", "interval", "scaled_accuracy"]
    assert lines[3].split() == ["test", "40", "0.7500", "0.5981", "to", "0.8581", "0.7222"]
    assert lines[-1] == "- No prediction is missing, unknown, repeated or unreadable."
    assert not any(line.startswith("all ") for line in lines)  # as there is one split
    table = [line for line in lines[2:] if line and not line.startswith("- ")]
    assert len({len(line) for line in table}) == 1
    heads = [line.split()[0] for line in table if "rows" in line]
    assert heads == ["split", "dependency_depth", "depth", "length"]


def test_the_printed_report_names_problems_and_few_ids(made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # nothing wraps
    predictions: dict[str, Any] = dict.fromkeys(made.right("test"), math.nan)
    predictions = dict(list(predictions.items())[:-1])
    predictions["\ud800 unprintable"] = 1
    text = str(evaluate(made.path, predictions, split="test"))
    first, second, third, *_, last = made.right("test")
    assert (
        f"39 unparsed (no answer, scored as wrong): '{first}', '{second}', '{third}', ..." in text
    )
    assert f"1 missing (no prediction, scored as wrong): '{last}'\n" in text
    assert r"1 unknown (not in test): '\ud800 unprintable'" in text
    assert "repeated" not in text
    text.encode("utf-8")


# The interval; the known ones are in Newcombe (1998), table I, method 3.


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_the_interval_has_known_values(successes, trials, low, high):
    assert tuple(round(bound, 4) for bound in wilson(successes, trials)) == (low, high)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_is_symmetric(drawn):
    successes, trials = drawn
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low), abs=1e-12)
