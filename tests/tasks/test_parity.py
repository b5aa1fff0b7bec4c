"""Parity: all equations, the rule, and the two splits that share them out."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.tasks.describe import draw_row
from synthbench.tasks.parity.task import Parity
from synthbench.tasks.row_ids import are_held_out, fingerprints
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, propose, rows_of

n_values = st.integers(3, 40)


@pytest.fixture(scope="module")
def every_row():
    task = Parity()
    return rows_of(task, task.enumerate_rows(task.split("train"), 0))


# The paper's rows.


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 4 7 2 =", 7), ("4 3 7 2 =", 7), ("3 5 7 2 =", 2), ("4 6 7 2 =", 2), ("0 1 10 0 =", 10),
        ("0 0 10 0 =", 0),
    ],
)  # fmt: skip
def test_the_answer_is_c_if_exactly_one_of_a_and_b_is_odd_else_d(text, answer):
    task = Parity()
    assert task.solve(text) == answer
    a, b, c, d = map(int, text.split()[:4])
    assert task.recompute_columns({"text": text}) == {
        "label": answer,
        "a": a,
        "b": b,
        "c": c,
        "d": d,
    }


def test_every_label_is_equally_frequent_and_a_constant_choice_of_c_or_d_does_poorly(every_row):
    labels = np.array([row["label"] for row in every_row])
    assert np.bincount(labels).tolist() == [1331] * 11
    assert sum(row["label"] == row["c"] for row in every_row) == 7_931
    assert sum(row["label"] == row["d"] for row in every_row) == 8_041


@pytest.mark.parametrize("n", [3, 5, 11])
def test_train_has_30_percent_and_test_all_that_are_held_out(n):
    task = Parity(parameters={"n_values": n})
    train, test = task.splits
    assert (train.name, train.evaluation, test.name, test.evaluation) == (
        ("train", False, "test", True)
    )
    assert train.rows == round(0.3 * n**4)
    assert test.rows == are_held_out(fingerprints(task, task.enumerate_rows(test, 0))).sum()
    assert n < 11 or (train.rows, test.rows) == (4_392, 1_844)


# Rows.


@given(n_values, st.integers(0, 5))
@settings(max_examples=10, deadline=None)
def test_rows_of_any_n_values_are_sound(n, block):
    task = Parity(parameters={"n_values": n})
    assert_sound(task, propose(task, block=block))


def test_the_four_numbers_are_drawn_uniformly_and_apart():
    numbers = propose(Parity(), n=40_000)["tokens"].astype(int) - 1
    for i, j in itertools.combinations(range(4), 2):
        assert_uniform((numbers[:, i] * 11 + numbers[:, j]).tolist(), range(121))


# What is refused.


@pytest.mark.parametrize("given_value", [2, 41, 0, -11])
def test_an_impossible_n_values_is_refused(given_value):
    with pytest.raises(ParameterError, match=f"n_values={given_value}: allowed are 3 to 40"):
        Parity(parameters={"n_values": given_value})


BAD_TEXT = [
    "", "=", "1 2 3 =", "1 2 3 4", "1 2 3 4 5", "1 2 3 4 5 =", "1 2 3 11 =", "1 2 3 -1 =",
    "1 2 3 04 =", "1 2 = 4 =", "= 1 2 3 4", "a b c d =",
]  # fmt: skip


@pytest.mark.parametrize("text", [*BAD_TEXT, "1  2 3 4 =", "1 2 3 4 = "])
def test_text_that_is_no_row_is_refused_by_parse(text):
    for column in ([text], ["1 2 3 4 =", text], [text, "1 2 3 4 ="]):
        with pytest.raises(ValueError, match=r"parity: not every row|is not a token"):
            Parity().parse({"text": pa.array(column)})


@pytest.mark.parametrize("text", BAD_TEXT)
def test_the_solver_says_what_a_question_looks_like(text):
    with pytest.raises(ValueError, match="expected 'a b c d =' with four numbers from 0 to 10"):
        Parity().solve(text)


# Scoring.


def test_probes_ask_for_the_indicators_the_outcome_and_the_targets():
    task = Parity()
    row = {"text": "3 4 7 2 =", **task.recompute_columns({"text": "3 4 7 2 ="})}
    expected = {"a is odd": 1, "b is odd": 0, "outcome": 1, "c": 7, "d": 2, "label": 7}
    assert task.probe_targets(row) == expected


# For people.


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("3 4 7 2 =", "3 4 7 2 =  ->  7\na is odd, b is even: the answer is c"),
        ("4 4 7 2 =", "4 4 7 2 =  ->  2\na is even, b is even: the answer is d"),
    ],
)
def test_a_row_is_drawn_with_its_parities(text, drawn):
    assert str(draw_row(Parity(), {"text": text})) == drawn
