"""One row at a time: judged, solved, and its answer read as a class."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.single_rows import score, solve
from synthbench.tasks.base import read_class
from synthbench.tasks.features import list_of, value
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.registry import task as make_task
from tests.toy_task import Numbers

# One row at a time.


def test_score_judges_one_prediction():
    row = {"label": 6}
    assert score("listops", row, " 6\n") == 1.0
    assert score("listops", row, 5) == 0.0
    assert score(ListOps(), row, "six") == 0.0
    assert score(synthbench.task("parity", n_values=12), {"label": 11}, 11) == 1.0


def test_score_refuses_a_row_that_cannot_be_judged():
    with pytest.raises(UsageError, match="no column 'label'"):
        score("listops", {"text": "3"}, 3)
    with pytest.raises(UsageError, match="Did you mean 'listops'"):
        score("listop", {"label": 3}, 3)


#: What means the label 3 of listops in a row, and what means none.
LABELS = [3, "3", "3.0", np.int64(3), np.array(3), pa.scalar(3), 3.0, b"3"]
NO_LABELS = [None, "three", "13", 10, -1, True, 3.5, [3], {"3": 3}, "03", math.nan, 10**5000]


def test_a_label_may_be_of_any_type_that_means_a_class():
    reward = llm.trl_reward("listops")
    for label in LABELS:
        row = {"label": label}
        assert score("listops", row, 3) == 1.0, repr(label)
        assert score("listops", row, 4) == 0.0, repr(label)
        assert llm.score("listops", row, "Answer: 3") == 1.0, repr(label)
        assert reward(["Answer: 3", "Answer: 4"], label=[label, label]) == [1.0, 0.0], repr(label)
        assert evaluate([row], [3], task="listops").accuracy == 1.0, repr(label)
    for label in NO_LABELS:
        for call in (
            lambda row: score("listops", row, 3),
            lambda row: llm.score("listops", row, "Answer: 3"),
            lambda row: evaluate([row], [3], task="listops"),
        ):
            with pytest.raises(UsageError, match="Column 'label' of a row: "):
                call({"label": label})


def test_a_label_as_text_is_a_name_before_it_is_an_index():
    assert llm.trl_reward("ctl")(["101", "100"], label=["101", "101"]) == [1.0, 0.0]
    assert score("ctl", {"label": "5"}, "101") == 1.0
    with pytest.raises(UsageError, match="'01' is not a class"):
        score("ctl", {"label": "01"}, "001")


def test_a_grid_may_be_an_array_of_any_library():
    grid, label = [[1, 0], [0, 1]], [[2, 0], [0, 2]]
    for make in (np.array, pa.array, json.dumps):
        row = {"grid": make(grid), "label": make(label)}
        assert score("grid-count", row, label) == 1.0
    with pytest.raises(UsageError, match="The row cannot be judged"):
        score("grid-count", {"grid": grid, "label": [[1], [2, 3]]}, label)


@pytest.mark.parametrize(
    ("column", "label", "wrong"),
    [
        (value("uint64"), 2**63 + 33_901, 2**63 + 33_902),
        (value("int64"), -(10**18) - 1, -(10**18)),
        (value("float32"), 2.8, 2.9),
        (list_of(list_of(value("int8"))), [[], [5], [5, 5]], [[], [5], [5, 6]]),
        (list_of(list_of(value("int8"))), [[], [5], [5, 5]], [[5], [], [5, 5]]),
    ],
    ids=repr,
)
def test_a_label_of_any_type_is_right_and_another_answer_wrong(column, label, wrong):
    columns = {"text": value("string"), "label": column, "bucket": value("int8")}
    task = type("Other", (Numbers,), {"name": "other", "columns": columns})()
    (stored,) = column.cast([label]).to_pylist()
    for written in (stored, json.dumps(label)):
        row = {"id": "a", "text": "0:1", "label": written, "bucket": 0}
        for answer in (label, stored, json.dumps(label)):
            assert score(task, row, answer) == evaluate([row], [answer], task).accuracy == 1.0
        for answer in (wrong, json.dumps(wrong)):
            assert score(task, row, answer) == 0.0
            assert evaluate([row], {"a": answer}, task).accuracy == 0.0


def test_solve_answers_by_the_reference_solver():
    assert solve("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]") == 6
    assert solve("parity", "3 4 7 2 =") == 7
    assert solve("grid-count", [[6, 6, 0], [3, 7, 0], [4, 3, 6]])[0] == [3, 3, 0]
    backward = solve(synthbench.task("ctl", "backward", seed=3), "b a 101")
    assert backward == solve(synthbench.task("ctl", seed=3), "101 a b")
    assert backward == solve(make_task("ctl", seed=3), "101 a b")


@pytest.mark.parametrize("question", ["[MED 4", "[FOO 1 2 ]", "", None, 5, [1, 2]], ids=repr)
def test_solve_refuses_what_is_not_the_text_of_a_row(question):
    with pytest.raises(UsageError) as caught:
        solve("listops", question)
    assert str(caught.value).startswith(f"Cannot solve {question!r}: ")


# What is read as a class.


DIGITS = tuple("0123456789")


THREE: list[Any] = [
    3, 3.0, "3", " 3\n", "\t3", "03", b"3", " 3 ",
    np.int8(3), np.uint64(3), np.float16(3), np.float32(3), np.longdouble(3),
    np.str_("3"), np.bytes_(b"3"), np.array(3), np.array("3"), np.array(3.0),
    "3.0", "03.00", b"3.0", Fraction(3), Fraction(6, 2), Decimal(3), Decimal("3.00"),
    pa.scalar(3), pa.scalar(3.0), pa.scalar("3"), pa.scalar(3, pa.uint8()),
    pa.scalar("3").cast(pa.large_string()), pa.array(["3"]).dictionary_encode()[0],
]  # fmt: skip
NO_DIGIT: list[Any] = [
    None, "three", "", " ", "3.", ".3", "3.5", "3.01", "10.0", "3,0", "3.0.0",
    Fraction(7, 2), Fraction(10), Fraction(-3), Decimal("3.5"), Decimal("1e999999"),
    Decimal("nan"), Decimal("sNaN"), Decimal("-inf"), pa.scalar(True), pa.scalar(None),
    pa.scalar([3]), pa.scalar(3.5), "-3", "+3", "1_0", "3 3", "0x3", "3e0", "\x00",
    "３", "³", "٣", "10", "11", "9" * 5_000, b"\xff", b"three", bytearray(b"3"),
    3.5, -1, 10, 10**400, -(10**400), 1e300, math.nan, math.inf, -math.inf,
    True, False, np.True_, np.array(True),
    np.float64("nan"), np.float32("inf"), np.int64(-1), np.uint64(2**64 - 1),
    np.longdouble("nan"), np.datetime64("2020-01-01"), np.array(None),
    np.array([3]), [3], (3,), {"3": 3}, {3}, 3 + 0j, object,
]  # fmt: skip


def test_what_means_3_is_read_as_3():
    for prediction in THREE:
        read = read_class(prediction, DIGITS)
        assert (read, type(read)) == (3, int), repr(prediction)


def test_what_means_no_digit_is_not_read():
    for prediction in NO_DIGIT:
        assert read_class(prediction, DIGITS) is None, repr(prediction)[:30]


def test_thousands_of_leading_zeros_do_not_matter():
    assert read_class("0" * 5_000 + "3", DIGITS) == 3
    assert read_class("0" * 5_000, DIGITS) == 0


def test_names_come_before_indices():
    assert read_class("1", ("2", "1", "0")) == 1
    assert read_class("0", ("2", "1", "0")) == 2
    assert read_class(0, ("2", "1", "0")) == 0
    assert read_class("1", ("shirt", "bag")) == 1
    assert read_class(" bag", ["shirt", "bag"]) == 1
    assert read_class("12", [str(number) for number in range(100)]) == 12


@given(st.integers() | st.floats() | st.text() | st.binary() | st.none() | st.booleans())
def test_anything_is_read_as_a_class_or_not_at_all(prediction):
    read = read_class(prediction, DIGITS)
    assert read is None or (type(read) is int and 0 <= read < 10)


@pytest.mark.parametrize(
    ("task", "row", "said"),
    [
        ("chomsky", 5, "5 of type int is not the 'text' of a row of chomsky: expected a text, or"),
        ("chomsky", None, "None of type NoneType is not the 'text' of a row of chomsky"),
        ("chomsky", {"text": None}, "of chomsky: expected a text."),
        ("chomsky", {"txt": "0 1"}, "is not a row of chomsky: it has no 'text'. A row needs text."),
        ("chomsky", ["0", "1"], "of type list is not the 'text' of a row of chomsky"),
        ("grid-count", "a", "'a' of type str is not the 'grid' of a row of grid-count: expected L"),
        ("clusters", None, "it has no 'cluster'. A row needs points, cluster."),
        ("composites", {"quadrants": [1]}, "of type list is not the 'quadrants' of a row"),
    ],
)
def test_what_is_no_row_is_named_with_its_type_and_what_is_allowed(task, row, said):
    with pytest.raises(UsageError) as caught:
        synthbench.is_held_out(task, row)
    assert said in str(caught.value)
