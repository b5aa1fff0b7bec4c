"""Predicted sequences that are longer than their rows: padding, and tokens behind the end."""

import pytest

import synthbench
from synthbench.evaluation.final_answer import score_answer
from synthbench.tasks import registry
from synthbench.tasks.chomsky.functions import END
from synthbench.tasks.registry import task as make_task
from tests.tasks.test_forms import Recall

STACK = make_task("chomsky", "stack-manipulation")
FULL, SHORT = {"id": "a", "label": "1 0 end"}, {"id": "b", "label": "1 end _ _"}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(registry._registered, Recall.name, Recall)


@pytest.mark.parametrize(
    ("row", "answer", "exact"),
    [
        (FULL, "1 0 end _ _ _", 1.0),
        (FULL, "1 0 end 0", 1.0),
        (FULL, "1 0 0 end", 0.0),
        (SHORT, "1 end _ _ _ _ _", 1.0),
        (SHORT, "1 end _ _ 0 end", 1.0),
        (SHORT, "1 end 0 1 0", 1.0),
        (SHORT, "1 1 end _ _ _", 0.0),
    ],
)
def test_what_is_behind_the_end_of_a_row_does_not_count(row, answer, exact):
    assert END in row["label"]
    for given in (answer, answer.split(" ")):
        assert synthbench.score(STACK, row, given) == exact
        assert synthbench.evaluate([row], [given], STACK).accuracy == exact
    assert score_answer(STACK, row, answer) == exact


def test_padding_to_the_width_of_a_batch_does_not_count():
    batch = next(iter(synthbench.stream("mqar", split="test", batch_size=40)))
    rows = [{"label": label} for label in batch["label"]]
    labels = [row["label"].split(" ") for row in rows]
    width = max(map(len, labels)) + 3
    padded = [[*one, *["_"] * (width - len(one))] for one in labels]
    report = synthbench.evaluate(rows, padded, "mqar")
    assert set(report.metrics.values()) == {1.0}
    assert (report.warning, report.too_long) == (None, ())
    assert "too long" not in str(report)


def test_a_label_may_be_a_list_and_other_tokens_behind_it_stay_wrong():
    task, row = make_task("recall"), {"label": "_ 2 _ 1"}
    for label in (row["label"], row["label"].split(" ")):
        assert task.read_answer({"label": label}, "_ 2 _ 1 _ _") == "_ 2 _ 1"
        assert synthbench.score(task, {"label": label}, "_ 2 _ 1 _ _") == 1.0
    assert task.read_answer(row, "_ 2 _ 1 1 _") == "_ 2 _ 1 1"
    assert synthbench.score(task, row, "_ 2 _ 1 1") == 0.0
    report = synthbench.evaluate([row], ["_ 2 _ 1 1"], task)
    assert report.too_long == ("row 0",)


def test_a_warning_says_that_most_predictions_are_longer_than_their_rows():
    task = make_task("state-tracking", "Z60")
    rows = [{"id": one, "label": "5 6 7"} for one in "abc"]
    report = synthbench.evaluate(rows, [[5, 6, 7, 0, 0], [5, 6, 7, 0], [5, 6, 7]], task)
    assert report.accuracy == pytest.approx(1 / 3)
    assert report.too_long == ("a", "b")
    assert report.to_dict()["too_long"] == 2
    assert report.warning.startswith(
        "2 of 3 predictions have more tokens than their row's label (2 more for id 'a'), and each"
    )
    assert "2 too long (more tokens than the label, each of which is wrong): 'a', 'b'" in str(
        report
    )
    assert "No prediction is missing, unknown, repeated or unreadable." in str(report)
    few = synthbench.evaluate(rows, [[5, 6, 7, 0], [5, 6, 7], [5, 6, 7]], task)
    assert (few.warning, few.too_long) == (None, ("a",))
