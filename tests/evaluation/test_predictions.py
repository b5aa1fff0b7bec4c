"""Predictions in any form, right or changed: the report tells exactly how they are."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import DatasetError
from synthbench.evaluation.evaluate import evaluate
from synthbench.tasks.listops.task import ListOps
from tests.evaluation.making import SIZES, refusal, wrong

# Predictions that were changed: the report tells exactly how.


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_change_to_right_predictions_is_counted(made, data):
    rows = made.rows["test"]
    ids = [row["id"] for row in rows]
    kinds = ["right", "right", "wrong", "missing", "unreadable"]
    fates = data.draw(st.lists(st.sampled_from(kinds), min_size=len(rows), max_size=len(rows)))
    predictions: dict[str, Any] = {"another": 3}
    for row, fate in zip(rows, fates, strict=True):
        if fate != "missing":
            answers = {"right": row["label"], "wrong": wrong(row["label"]), "unreadable": "three"}
            predictions[row["id"]] = answers[fate]
    names = data.draw(st.permutations(list(predictions)))

    report = evaluate(made.path, {name: predictions[name] for name in names}, split="test")

    right = fates.count("right")
    assert report.accuracy == right / len(rows)
    assert report.rows == len(rows)
    assert report.missing == tuple(i for i, f in zip(ids, fates, strict=True) if f == "missing")
    unreadable = tuple(i for i, f in zip(ids, fates, strict=True) if f == "unreadable")
    assert report.unparsed == unreadable
    assert report.unknown == ("another",)
    assert report.repeated == ()
    for column in ("dependency_depth", "depth", "length"):
        scores = report.by[column].values()
        assert sum(one.rows for one in scores) == len(rows)
        # The groups' right answers add up to the right answers of all.
        assert sum(round(one.accuracy * one.rows) for one in scores) == right


@given(flipped=st.integers(0, SIZES["iid"]))
@settings(max_examples=20, deadline=None)
def test_k_wrong_answers_of_n_take_k_nths_away(made, flipped):
    labels = [row["label"] for row in made.rows["iid"]]
    given = [wrong(label) for label in labels[:flipped]] + labels[flipped:]
    report = evaluate(made.path, given, split="iid")
    assert Fraction(report.accuracy).limit_denominator(1000) == 1 - Fraction(flipped, len(labels))


@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 9)), min_size=1, max_size=80))
@settings(max_examples=30, deadline=None)
def test_of_repeated_ids_the_first_prediction_counts(made, tmp_path_factory, drawn):
    rows = made.rows["test"]
    path = tmp_path_factory.mktemp("repeated") / "p.jsonl"
    lines = (json.dumps({"id": rows[i]["id"], "prediction": answer}) for i, answer in drawn)
    path.write_text("\n".join(lines), encoding="utf-8")
    first = {}
    for i, answer in drawn:
        first.setdefault(rows[i]["id"], answer)

    report = evaluate(made.path, path, split="test")

    assert report.accuracy == evaluate(made.path, first, split="test").accuracy
    asked = [rows[i]["id"] for i, _ in drawn]
    again = [name for place, name in enumerate(asked) if name in asked[:place]]
    assert report.repeated == tuple(dict.fromkeys(again))


def test_predictions_of_which_none_is_for_a_row_are_an_error_and_no_score(made):
    for predictions in (made.right("iid"), {"x": 1}, {}):
        text = refusal(DatasetError, made.path, predictions, split="test")
        assert f"None of the {len(predictions)} predictions has an id of " in text
        assert "'default', split 'test'" in text
    one = {made.rows["test"][0]["id"]: 1, **made.right("iid")}
    report = evaluate(made.path, one, split="test")
    assert len(report.missing) == SIZES["test"] - 1
    assert report.unknown == tuple(row["id"] for row in made.rows["iid"])


# Forms of rows and predictions.


@pytest.mark.parametrize("form", [list, tuple, datasets.Dataset.from_list])
def test_rows_at_hand_give_the_report_of_the_directory(made, form):
    predictions = made.right("test")
    for name in list(predictions)[:5]:
        predictions[name] = None
    rows = form(made.rows["test"])
    expected = evaluate(made.path, predictions, split="test")
    assert evaluate(rows, predictions, task="listops", split="test") == expected
    assert evaluate(rows, predictions, task=ListOps(), split="test") == expected
    assert len(expected.unparsed) == 5


def test_a_loaded_dataset_is_evaluated_in_whatever_format_it_is(made, tmp_path):
    loaded = datasets.load_dataset(str(made.path), cache_dir=str(tmp_path))
    predictions = made.right("test", "iid")
    report = evaluate(loaded, predictions, task="listops")
    assert report == evaluate(made.path, predictions)
    arrays = loaded["test"].with_format("numpy")
    report = evaluate(arrays, np.zeros(SIZES["test"]), task="listops")
    assert list(report.splits) == ["test"]
    zeros = sum(row["label"] == 0 for row in made.rows["test"])
    assert report.accuracy == zeros / SIZES["test"]
    assert set(report.by["dependency_depth"]) == {7, 8}


def test_rows_need_only_what_their_answers_are_judged_by():
    rows = [{"label": 3}, {"label": 4}]
    report = evaluate(rows, [3, "x"], task="listops")
    assert report.accuracy == 0.5
    assert report.by == {}
    assert report.unparsed == ("row 1",)
    assert list(report.splits) == ["rows"]


def test_numbers_of_rows_at_hand_may_be_of_numpy(made):
    rows = [{name: np.array(value)[()] for name, value in row.items()} for row in made.rows["test"]]
    report = evaluate(rows, made.right("test"), task="listops")
    assert report.accuracy == 1.0
    assert report.by["dependency_depth"][7].rows == 20
