"""Arguments of any type: a report or a score, or an error of ours that says what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synthbench
from synthbench.errors import SynthbenchError
from synthbench.evaluation.report import Report
from tests.odd import MANY, odd, refused, words

#: A row of each task that has one of its own kind of answer.
ROWS = {
    "parity": {"id": "a", "text": "3 4 7 2 =", "label": 7},
    "ctl": {"id": "a", "label": 5},
    "grid-count": {"id": "a", "grid": [[1, 0], [0, 1]], "label": [[2, 0], [0, 2]]},
    "identity": {"id": "a", "label": [0.5] * 5},
}


@MANY
@given(odd, st.sampled_from(words("dataset task split read predictions answered_only progress")))
def test_evaluate(drawn, argument):
    arguments = {"dataset": [ROWS["parity"]], "task": "parity", "predictions": {"a": 7}}
    found = refused(synthbench.evaluate, **{**arguments, argument: drawn.value})
    assert isinstance(found, SynthbenchError | Report)


@MANY
@given(odd, st.sampled_from(list(ROWS)))
def test_evaluate_a_prediction(drawn, task):
    row = ROWS[task]
    for predictions in (
        {"a": drawn.value},
        [drawn.value],
        {"id": ["a"], "prediction": drawn.value},
    ):
        found = refused(synthbench.evaluate, [row], predictions, task=task)
        assert isinstance(found, SynthbenchError | Report)
        str(found)


@MANY
@given(odd, st.data())
def test_evaluate_and_score_a_row(drawn, data):
    task = data.draw(st.sampled_from(list(ROWS)))
    row = {**ROWS[task], data.draw(st.sampled_from(list(ROWS[task]))): drawn.value}
    found = refused(synthbench.evaluate, [row], [7], task=task)
    assert isinstance(found, SynthbenchError | Report)
    found = refused(synthbench.score, task, row, ROWS[task]["label"])
    assert isinstance(found, SynthbenchError | float)


@MANY
@given(odd, st.sampled_from(words("task row answer")))
def test_score(drawn, argument):
    arguments = {"task": "parity", "row": ROWS["parity"], "answer": 7}
    found = refused(synthbench.score, **{**arguments, argument: drawn.value})
    assert isinstance(found, SynthbenchError) or found in (0.0, 1.0)


@pytest.mark.parametrize("task", ROWS)
def test_the_rows_themselves_are_evaluated(task):
    row = ROWS[task]
    assert synthbench.score(task, row, row["label"]) in (0.0, 1.0)
    assert isinstance(synthbench.evaluate([row], [row["label"]], task=task), Report)
