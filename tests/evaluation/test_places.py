"""Accuracy by place and by length of labels that are sequences."""

import pytest

import synthbench
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from tests.tasks.test_forms import Recall
from tests.tasks.test_sequences import Sorting

ROWS = [
    {"id": "a", "text": "3 1 2", "label": "1 2 3", "length": 3},
    {"id": "b", "text": "4 4 1", "label": "1 4", "length": 3},
    {"id": "c", "text": "9 9 9 9", "label": "9", "length": 4},
]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for task in (Recall, Sorting):
        monkeypatch.setitem(registry._registered, task.name, task)


def shares(report):
    by_place = report.by["place"].items()
    return {place: score.metrics["position_accuracy"] for place, score in by_place}


def test_each_place_counts_the_rows_that_have_it():
    report = synthbench.evaluate(ROWS, ["1 2 4", "1 3 5", "x"], "sorting")
    shares = {
        place: score.metrics["position_accuracy"] for place, score in report.by["place"].items()
    }
    assert shares == {1: 2 / 3, 2: 1 / 2, 3: 0.0}
    assert [score.rows for score in report.by["place"].values()] == [3, 2, 2]
    assert report.metrics["position_accuracy"] == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)
    assert report.to_dict()["by"]["place"]["1"]["exact_match"] is None
    assert report.to_dict()["by"]["length"]["4"]["position_accuracy"] == 0.0
    assert "place" in repr(report)


def test_rows_without_a_prediction_are_not_asked_at_their_places():
    report = synthbench.evaluate(ROWS, {ROWS[0]["id"]: "1 2 4"}, "sorting")
    counts = [(score.rows, score.asked) for score in report.by["place"].values()]
    assert counts == [(3, 1), (2, 1), (1, 1)]


def test_places_that_nobody_asks_are_left_out():
    rows = [{"id": "a", "text": "a 1 b 2 b a", "label": "_ _ _ _ 2 1"}]
    report = synthbench.evaluate(rows, ["1 1 1 1 2 2"], "recall")
    assert {
        place: score.metrics["position_accuracy"] for place, score in report.by["place"].items()
    } == {
        5: 1.0,
        6: 0.0,
    }


def test_many_places_are_reported_but_not_printed():
    rows = [{"id": "a", "text": "1", "label": " ".join("0123456789" * 3), "length": 1}]
    report = synthbench.evaluate(rows, [rows[0]["label"]], "sorting")
    assert len(report.by["place"]) == 30
    assert "place" not in repr(report)


def test_other_labels_have_no_places():
    assert make_task("parity").answer.right_places(3, 3) == {}
