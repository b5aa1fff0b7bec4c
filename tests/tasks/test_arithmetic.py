"""Arithmetic: the generator against the solver, exact counts, dependency depth by hand."""

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.task import Arithmetic
from synthbench.tasks.describe import draw_row
from synthbench.tasks.trees.every import every_tree
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import all_candidates, assert_sound, propose_all


@st.composite
def tasks(draw):
    deepest = draw(st.integers(2, 9))
    parameters = {
        "p_op": draw(st.sampled_from([0.001, 0.1, 0.2, 0.5, 0.9, 0.999])),
        "modulus": draw(st.one_of(st.just(10), st.integers(2, 100))),
        "max_length": draw(st.integers(1 + 4 * deepest, 80)),
        "operators": draw(st.lists(st.sampled_from("+*"), min_size=1, unique=True)),
        "train_depths": [deepest, 1],
        "validation_depths": [deepest - 1],
        "test_depths": [deepest],
    }
    return Arithmetic(parameters=parameters, seed=draw(st.integers(0, 3)))


def derived(text, **parameters):
    return Arithmetic(parameters=parameters).recompute_columns({"text": text})


# The paper's rows.


@pytest.mark.parametrize(
    ("text", "label", "depth", "dependency_depth"),
    [
        ("((4*7)+2)", 0, 2, 2), ("(((3+1)*(5*2))+9)", 9, 3, 3), ("((0*((1+2)*3))+4)", 4, 4, 2),
        ("(9+9)", 8, 1, 1), ("(9*9)", 1, 1, 1), ("(0*0)", 0, 1, 1),
        # A factor of 0 makes the other one unneeded, on either side.
        ("(0*(1+2))", 0, 2, 1), ("((1+2)*0)", 0, 2, 1), ("((5*2)*((1+2)+3))", 0, 3, 2),
        ("(((1+2)+3)*(5+5))", 0, 3, 2),
        # Where it is a factor of value 0 itself that is deep, it is needed.
        ("(((1+1)*5)*7)", 0, 3, 3),
        # Of two zero factors the shallower is kept, by what is left of it.
        ("((5*2)*0)", 0, 2, 1), ("(((1+1)*5)*(2*5))", 0, 3, 2), ("((0*(1+2))*(5*(1+1)))", 0, 3, 2),
        ("((0*(1+(2+3)))*((1+1)*5))", 0, 4, 2),
        # A sum needs both, whatever their values.
        ("(0+(1+2))", 3, 2, 2), ("((1+2)+0)", 3, 2, 2), ("((5+5)+(0*(1+(2+3))))", 0, 4, 2),
        # Only 0 is: 1 is not.
        ("(1*(1+2))", 3, 2, 2),
    ],
)  # fmt: skip
def test_rows_worked_by_hand(text, label, depth, dependency_depth):
    assert Arithmetic().solve(text) == label
    assert derived(text) == {
        "label": label,
        "depth": depth,
        "dependency_depth": dependency_depth,
        "length": len(text),
    }


@pytest.mark.parametrize(
    ("text", "modulus", "label", "dependency_depth"),
    [
        ("((4*7)+2)", 7, 2, 2),
        ("((4*7)*(1+2))", 7, 0, 2),
        ("(7*(1+2))", 7, 0, 1),  # the digit 7 is 0 modulo 7
        ("((4*7)+2)", 97, 30, 2),
        ("(9*(9*9))", 100, 29, 2),
        ("((5*2)*(1+(2+3)))", 11, 5, 3),
    ],
)
def test_every_value_is_taken_modulo_the_modulus(text, modulus, label, dependency_depth):
    row = derived(text, modulus=modulus)
    assert (row["label"], row["dependency_depth"]) == (label, dependency_depth)


def test_there_are_as_many_labels_as_the_modulus():
    assert Arithmetic().columns["label"].names == tuple("0123456789")
    names = Arithmetic(parameters={"modulus": 12}).columns["label"].names
    assert names == tuple(str(number) for number in range(12))


# Rows.


@given(tasks(), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_rows_of_any_parameters_are_sound_of_their_bucket_and_within_the_limits(task, block):
    chosen = task.parameters
    for split in task.splits:
        for bucket in split.buckets:
            drawn = task.propose(Draws({"test": bucket}, block), 60, split, bucket)
            for row in assert_sound(task, drawn):
                assert row["label"] == eval(row["text"]) % chosen.modulus
                assert 1 <= row["dependency_depth"] <= row["depth"] == bucket
                assert row["length"] == len(row["text"]) <= chosen.max_length
                assert {sign for sign in "+*" if sign in row["text"]} <= set(chosen.operators)


@pytest.mark.parametrize("depth", [1, 4])
def test_digits_and_operators_are_uniform_wherever_they_stand(depth):
    task = Arithmetic()
    block = all_candidates(task, {"test": 2}, 20_000, depth)
    texts = task.rendered(block)["text"].to_pylist()
    for characters, take in (("0123456789", ""), ("+*", "reversed")):
        for place in (0, 1):
            found = [
                [one for one in (reversed(text) if take else text) if one in characters][place]
                for text in texts
                if sum(one in characters for one in text) > place
            ]
            if found:
                assert_uniform(found, characters)


# Counting.


def every_expression(operators, depth):
    """All expressions of depth 0 to `depth`, by depth, however long."""
    found = dict.fromkeys("0123456789", 0)
    for _ in range(depth):
        found |= {
            f"({left}{sign}{right})": 1 + max(found[left], found[right])
            for sign in operators
            for left, right in itertools.product(list(found), repeat=2)
        }
    return found


@pytest.mark.parametrize(
    ("operators", "max_length", "counts"),
    [("*", 50, [100, 12_000]), ("+*", 12, [200, 8_000])],
)
def test_capacity_counts_the_listing_which_is_every_expression(operators, max_length, counts):
    shallow = {"train_depths": "1,2", "validation_depths": "1", "test_depths": "1"}
    task = Arithmetic(
        parameters={"operators": list(operators), "max_length": max_length, **shallow}
    )
    split = task.split("train")
    assert [task.capacity(split, depth) for depth in (1, 2)] == counts
    found = every_expression(operators, 2)
    for depth in (1, 2):
        block = task.enumerate_rows(split, depth)
        texts = task.rendered(block)["text"].to_pylist()
        assert len(texts) == counts[depth - 1]
        assert sorted(texts) == sorted(
            text for text, own in found.items() if own == depth and len(text) <= max_length
        )


def test_deeper_expressions_are_counted_exactly():
    task = Arithmetic()
    counts = [task.capacity(split, depth) for split in task.splits for depth in split.buckets]
    operands = 10 + 200 + 88_000
    # All expressions of depth 3 have at most 29 characters.
    assert counts[2] == 2 * (operands**2 - (10 + 200) ** 2) == 15_561_920_000
    assert counts[5] == counts[0] == 200


def test_rows_no_longer_than_their_depth_needs_are_counted_and_listed():
    task = Arithmetic(
        parameters={"max_length": 45, "operators": "+", "train_depths": "11"}
        | {"validation_depths": "1", "test_depths": "1"}
    )
    # In every operation but the innermost one, the left or the right operand is a digit.
    assert every_tree(dataclasses.replace(task.grammar(11), digits=1), 11).trees == 2**10
    assert task.capacity(task.split("train"), 11) == 2**10 * 10**12


# What is refused.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"modulus": 1}, "modulus=1: allowed are 2 to 100"),
        ({"modulus": 101}, "modulus=101: allowed are 2 to 100"),
        (
            {"max_length": 32},
            "max_length=32: too short for test_depths up to 8; "
            "the shortest expression of depth 8 has 33 tokens",
        ),
    ],
)
def test_impossible_parameters_are_refused_with_what_is_allowed(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Arithmetic(parameters=parameters)


def test_without_nesting_there_are_rows_of_depth_1():
    shallow = {"train_depths": "1", "validation_depths": "1", "test_depths": "1"}
    task = Arithmetic(parameters={"p_op": 0, **shallow})
    assert set(propose_all(task)["length"].tolist()) == {5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not an expression"),
        ("(1+2", r"'\(1\+2' is not an expression"),
        ("(1+2)3", "is not an expression"),
        ("1+2", "is not an expression"),
        ("+", "is not an expression"),
        ("(1+2))", r"'\)' is out of place"),
        ("(1 + 2)", "' ' is out of place"),
        ("(1-2)", "'-' is out of place"),
        ("(1+٣)", "'٣' is out of place"),
        ("()", "brackets without an operation of two operands"),
        ("(7)", "without an operation of two operands"),
        ("(1+2+3)", "without an operation of two operands"),
        ("(12+3)", "without an operation of two operands"),
        ("(+1)", "without an operation of two operands"),
        ("(" * 5_000, "is not an expression"),
    ],
)
def test_the_solver_says_what_is_wrong_with_a_question(text, message):
    with pytest.raises(ValueError, match=message):
        Arithmetic().solve(text)


# Scoring.


def test_a_larger_modulus_allows_larger_answers():
    assert Arithmetic(parameters={"modulus": 97}).read_answer({}, "30") == 30


# For people.


def test_a_row_is_drawn_as_a_tree_with_what_is_not_needed_marked():
    assert str(draw_row(Arithmetic(), {"text": "((0*(1+2))+4)"})) == (
        "((0*(1+2))+4)\n"
        "+ = 4\n"
        "├─ * = 0\n"
        "│  ├─ 0\n"
        "│  └─ (+ = 3) not needed\n"
        "│     ├─ (1)\n"
        "│     └─ (2)\n"
        "└─ 4"
    )


def test_digits_that_are_not_their_own_value_are_drawn_with_it():
    drawn = draw_row(Arithmetic(parameters={"modulus": 7}), {"text": "(7*8)"})
    assert str(drawn) == "(7*8)\n* = 0\n├─ 7 = 0\n└─ (8 = 1)"
