"""`curve`: accuracy by difficulty on fresh held-out rows, each asked once."""

from __future__ import annotations

import json

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.evaluation.scores import wilson
from synthbench.tasks.registry import task as make_task
from tests.streaming.test_tokens import Words


def solver_of(task, form):
    """Right classes, or right ids, by the reference solver."""
    batches = synthbench.tokens(task, form=form)
    tokens, answers = batches.input_tokens, batches.output_tokens
    task = make_task(task) if isinstance(task, str) else task
    asked = []

    def right(batch):
        assert "labels" not in batch
        found = []
        for ids in batch["input_ids"].tolist():
            words = [tokens[one] for one in ids if one]
            text = [one for one in words if not one.startswith("<")]
            asked.append(" ".join(text))
            found.append(answers.index(str(task.solve(" ".join(text)))))
        if form == "masked-lm":
            masked = batch["input_ids"] == tokens.index("<mask>")
            return np.where(masked, np.array(found)[:, None], 0)
        if form == "causal-lm":
            end = np.full((len(found), 1), tokens.index("<end>"))
            return np.hstack([np.array(found)[:, None], end, end - 1])
        return np.array(found)

    return right, asked


@pytest.mark.parametrize("form", ["sequence-classification", "masked-lm", "causal-lm"])
def test_right_answers_score_one_in_every_bucket(form):
    right, asked = solver_of("ctl", form)
    curve = synthbench.curve("ctl", right, rows=300, form=form, batch_size=70)
    assert len(asked) == len(set(asked)) == curve.rows == 300
    assert all(synthbench.is_held_out("ctl", text) for text in asked)
    assert curve.accuracy == 1.0
    assert set(curve.by) == {9, 10}
    assert sum(score.rows for score in curve.by.values()) == 300
    assert curve.intervals["accuracy"] == wilson(300, 300)


def test_a_tokenizers_answers_are_read_as_text():
    tokenizer = Words()
    task = make_task("addition", level="easy")

    def right(batch):
        rows = []
        for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True):
            a, _, b, *_ = tokenizer.convert_ids_to_tokens(ids[mask > 0][1:])
            rows += tokenizer([str(int(a) + int(b))], add_special_tokens=False)["input_ids"]
        return np.array(rows)

    curve = synthbench.curve(task, right, rows=60, tokenizer=tokenizer)
    assert curve.accuracy == 1.0

    def going_on(batch):
        """As a loop that generates a fixed number of tokens does, behind the end of text."""
        return np.array([[*row, 2, *tokenizer(["7"])["input_ids"][0]] for row in right(batch)])

    assert synthbench.curve(task, going_on, rows=60, tokenizer=tokenizer).accuracy == 1.0
    with pytest.raises(UsageError, match="with a tokenizer, allowed is 'causal-lm'"):
        synthbench.curve(task, right, form="masked-lm", tokenizer=tokenizer)


def test_rows_that_come_again_are_not_asked_again_and_it_is_said():
    right, asked = solver_of("parity", "sequence-classification")
    curve = synthbench.curve("parity", lambda batch: right(batch) * 0, rows=5_000)
    assert len(asked) == len(set(asked)) == curve.rows == 1_844
    assert curve.drawn == 5_000
    assert "1,844 distinct rows were asked of 5,000 drawn" in " ".join(repr(curve).split())
    assert 0 < curve.accuracy < 0.2
    assert json.loads(json.dumps(curve.to_dict()))["drawn"] == 5_000


def test_rows_are_grouped_by_any_column():
    right, _ = solver_of("ctl", "sequence-classification")

    def wrong_for_ten(batch):
        return np.where(batch["attention_mask"].sum(axis=1) == 11, -1, right(batch))

    curve = synthbench.curve("ctl", wrong_for_ten, rows=200)
    assert (curve.by[9].accuracy, curve.by[10].accuracy) == (1.0, 0.0)
    lines = repr(curve).splitlines()
    assert lines[0].split()[:2] == ["length", "rows"]
    assert [line.split()[0] for line in lines[1:4]] == ["9", "10", "all"]
    assert set(synthbench.curve("ctl", right, rows=200, by="label").by) == {
        *make_task("ctl").symbols
    }
    assert synthbench.curve("parity", lambda batch: batch["input_ids"][:, 2] - 1, rows=50).by == {}


@pytest.mark.parametrize(
    ("predict", "options", "message"),
    [
        (lambda batch: np.zeros(3, int), {}, r"an array \(3,\) for a batch of 100 rows"),
        (lambda batch: None, {}, "predict returned"),
        (lambda batch: batch["input_ids"], {}, "sequence-classification: expected whole numbers"),
        (
            lambda batch: np.zeros((len(batch["input_ids"]), 3)),
            {},
            r"expected at least 11 scores, one for each number .* Got 3, in an array \(100, 3\)",
        ),
        (
            lambda batch: np.zeros((*batch["input_ids"].shape, 10)),
            {"form": "masked-lm"},
            r"masked-lm: expected at least 12 scores, .* Got 10, in an array \(100, 6, 10\)",
        ),
        (
            lambda batch: batch["input_ids"][:, :3],
            {"form": "masked-lm"},
            "every place of input_ids",
        ),
        (None, {"by": "lenght"}, "Unknown column of parity 'lenght'"),
        (None, {"rows": 0}, "Rows 0: allowed are whole numbers from 1"),
        (None, {"form": "token-classification"}, "Unknown form of parity"),
    ],
)
def test_what_cannot_be_scored_is_refused(predict, options, message):
    with pytest.raises(UsageError, match=message):
        synthbench.curve("parity", predict, **{"rows": 100, **options})


@pytest.mark.parametrize(
    ("form", "broken"),
    [
        ("sequence-classification", lambda ids: np.full((len(ids), 11), np.nan)),
        ("sequence-classification", lambda ids: np.full(len(ids), 77)),
        ("sequence-classification", lambda ids: np.full(len(ids), -100)),
        ("masked-lm", lambda ids: np.full((*ids.shape, 20), np.nan)),
        ("masked-lm", lambda ids: np.full(ids.shape, 1_000)),
        ("causal-lm", lambda ids: np.full((len(ids), 2, 20), np.nan)),
    ],
)
def test_predictions_that_cannot_be_read_are_counted_and_said(form, broken):
    curve = synthbench.curve(
        "parity", lambda batch: broken(batch["input_ids"]), rows=40, form=form, batch_size=16
    )
    assert curve.accuracy == 0.0
    assert curve.unparsed == curve.to_dict()["unparsed"] == curve.rows
    said = f"{curve.rows} of {curve.rows} predictions cannot be read and count as wrong."
    assert said in str(curve)


def test_scores_that_are_not_numbers_count_only_where_they_are():
    def first_row_is_broken(batch):
        scores = np.zeros((len(batch["input_ids"]), 12))  # one more than there are classes
        scores[0, 3] = np.nan
        return scores

    curve = synthbench.curve("parity", first_row_is_broken, rows=40, batch_size=1_000)
    assert curve.unparsed == 1
    right, _ = solver_of("ctl", "masked-lm")
    assert synthbench.curve("ctl", right, rows=30, form="masked-lm").unparsed == 0
    assert "cannot be read" not in str(synthbench.curve("ctl", right, rows=30, form="masked-lm"))
