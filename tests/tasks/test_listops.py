"""ListOps: the generator against the solver, dependency depth by hand, parameters, rows."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError, UsageError
from synthbench.generation.generate import generate
from synthbench.seeding import Draws
from synthbench.tasks.describe import draw_row
from synthbench.tasks.listops.distribution import OPERATORS, ListOpsDistribution
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees.distribution import DEPTH_BITS
from synthbench.tasks.trees.pools import is_too_rare
from tests.tasks.blocks import assert_sound, ids, propose_all, rows_of

FIRST = ListOps(parameters={"ties": "first"})
ONE_LEVEL = {"train_depths": "1", "validation_depths": "1", "test_depths": "1"}


@st.composite
def tasks(draw):
    deepest = draw(st.integers(2, 6))
    parameters = {
        "p_op": draw(st.sampled_from([0.001, 0.1, 0.3, 0.6, 0.9])),
        "max_args": draw(st.integers(2, 7)),
        "max_length": draw(st.integers(4 + 3 * (deepest - 1), 60)),
        "operators": draw(st.lists(st.sampled_from(OPERATORS), min_size=1, unique=True)),
        "ties": draw(st.sampled_from(["strict", "first"])),
        "train_depths": [deepest, 1],
        "validation_depths": [deepest - 1],
        "test_depths": [deepest],
    }
    return ListOps(parameters=parameters, seed=draw(st.integers(0, 3)))


def derived(text, task=None):
    return (task or ListOps()).recompute_columns({"text": text})


# The paper's rows.


@pytest.mark.parametrize(
    ("text", "label", "depth", "dependency_depth", "length"),
    [
        ("[MED 4 8 5 [MAX 8 4 9 ] ]", 6, 2, 1, 10), ("[SM 3 [MIN 0 [MAX 1 2 ] ] ]", 3, 3, 2, 10),
        ("[MIN 0 [SM 3 [MAX 1 2 ] ] ]", 0, 3, 1, 10), ("[SM 5 6 ]", 1, 1, 1, 4),
        ("[MAX 0 0 ]", 0, 1, 1, 4), ("[MED 3 4 ]", 3, 1, 1, 4), ("[MED 9 1 5 ]", 5, 1, 1, 5),
    ],
)  # fmt: skip
def test_rows_worked_by_hand(text, label, depth, dependency_depth, length):
    assert ListOps().solve(text) == label
    assert derived(text) == {
        "label": label,
        "depth": depth,
        "dependency_depth": dependency_depth,
        "length": length,
    }


@pytest.mark.parametrize(
    ("text", "strict", "first"),
    [
        # MIN and MAX are decided by one argument.
        ("[MIN 3 [MAX 1 9 ] ]", 1, 1),
        ("[MAX 3 [MAX 1 9 ] ]", 2, 2),
        # Of two with the same value by the shallower, or by the first.
        ("[MIN [MAX 1 2 ] 2 ]", 1, 2),
        ("[MIN 2 [MAX 1 2 ] ]", 1, 1),
        ("[MAX [SM 4 5 ] 9 ]", 1, 2),
        ("[MIN [MAX 2 [SM 1 1 ] ] [MIN 2 2 ] 7 ]", 2, 2),
        ("[MIN [MAX [SM 1 1 ] 2 ] [MIN 2 2 ] 7 ]", 2, 3),
        # The shallowest is decided by what is left of an argument, not by its own depth.
        ("[MAX [SM 2 [MIN 0 1 ] ] [MIN 2 [SM 9 [SM 9 9 ] ] ] ]", 2, 3),
        # MED of an odd count by the middle one.
        ("[MED 1 [SM 2 3 ] 9 ]", 2, 2),
        ("[MED [SM 0 1 ] 5 9 ]", 1, 1),
        ("[MED [SM 2 3 ] 5 9 ]", 1, 2),
        # MED of an even count by the two middle ones.
        ("[MED 1 4 [SM 3 3 ] 9 ]", 2, 2),
        ("[MED 4 5 [SM 0 1 ] [SM 9 0 ] ]", 1, 1),
        ("[MED [SM 2 3 ] 6 ]", 2, 2),
        # With equal middle values these are two different arguments.
        ("[MED [SM 2 3 ] 5 ]", 2, 2),
        ("[MED 1 [SM 2 3 ] 5 9 ]", 2, 2),
        ("[MED 1 5 [SM 2 3 ] 9 ]", 2, 2),
        ("[MED [SM 2 3 ] 5 5 9 ]", 1, 2),
        ("[MED 5 5 [SM 2 3 ] 9 ]", 1, 1),
        ("[MED 5 [SM 2 3 ] 5 5 ]", 1, 2),
        ("[MED 1 [SM 2 3 ] [MAX 0 [MIN 5 6 ] ] 5 ]", 2, 3),
        ("[MED [SM 2 3 ] [MAX 0 [MIN 5 6 ] ] ]", 3, 3),
        # With unequal ones, each is kept as shallow as can be.
        ("[MED [SM 2 2 ] 4 5 [MIN 5 6 ] ]", 1, 2),
        ("[MED 4 4 [MIN 5 6 ] 5 ]", 1, 2),
        ("[MED 0 [SM 2 2 ] 5 [MIN 5 6 ] ]", 2, 2),
        # SM needs all its arguments, and its depth is the deepest one's.
        ("[SM 0 [MIN 1 [MAX 2 3 ] ] ]", 2, 2),
        ("[SM 0 [MIN 4 [MAX 2 3 ] ] [SM 0 0 ] ]", 3, 3),
    ],
)
def test_dependency_depth_is_what_is_left_when_undeciding_arguments_are_cut(text, strict, first):
    assert derived(text)["dependency_depth"] == strict
    assert derived(text, FIRST)["dependency_depth"] == first


def test_ties_nested_a_thousand_deep_are_solved_by_looking_at_every_list_once():
    """A solver that works out the depth of tied arguments anew at each level never ends here."""
    text = "[SM 3 0 ]"
    for _ in range(1_000):
        text = f"[MED {text} [SM 3 0 ] ]"  # both are kept, and the order has to be found
    assert derived(text)["dependency_depth"] == 1_001
    assert derived(text, FIRST)["dependency_depth"] == 1_001


# Rows.


@given(tasks(), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_rows_of_any_parameters_are_sound_of_their_bucket_and_within_the_limits(task, block):
    chosen = task.parameters
    for split in task.splits:
        for bucket in split.buckets:
            drawn = task.propose(Draws({"test": bucket}, block), 60, split, bucket)
            rows = assert_sound(task, drawn)
            assert {row["dependency_depth"] for row in rows} <= {bucket}
            assert all(bucket <= row["depth"] <= max(split.buckets) for row in rows)
            assert all(row["length"] <= chosen.max_length for row in rows)
            words = {word for row in rows for word in row["text"].split() if word[0] == "["}
            assert words <= {f"[{name}" for name in chosen.operators}


def test_ties_first_calls_rows_deeper_than_they_need_to_be():
    task = ListOps()
    rows = rows_of(task, propose_all(FIRST, n=1_000))
    strict = [task.recompute_columns(row)["dependency_depth"] for row in rows]
    first = [row["dependency_depth"] for row in rows]
    assert all(one <= other for one, other in zip(strict, first, strict=True))
    shallower = {
        depth: sum(one < other for one, other in zip(strict, first, strict=True) if other == depth)
        / first.count(depth)
        for depth in (1, 2, 3, 4, 5)
    }
    assert shallower[1] == 0 < 0.05 < shallower[2] < shallower[3] < shallower[4] < shallower[5]


# Rows that can be counted.


@pytest.mark.parametrize(
    ("parameters", "bucket"),
    [
        ({**ONE_LEVEL, "max_args": 3}, 1),
        ({**ONE_LEVEL, "operators": "MED,MIN", "max_args": 4, "max_length": 5, "ties": "first"}, 1),
        ({"operators": "SM", "max_args": 3, "train_depths": "1..2", "test_depths": "1",
          "validation_depths": "1", "max_length": 8}, 2),
        ({"operators": "SM", "max_args": 3}, 1),
    ],
)  # fmt: skip
def test_capacity_counts_the_listing_which_is_like_what_is_proposed(parameters, bucket):
    task = ListOps(parameters=parameters)
    split = task.split("train")
    listed = task.enumerate_rows(split, bucket)
    rows = rows_of(task, listed)
    assert task.capacity(split, bucket) == len(rows) == len({row["text"] for row in rows})
    assert all(row["dependency_depth"] == bucket for row in rows)
    assert all({"text": row["text"], **task.recompute_columns(row)} == row for row in rows[::97])
    proposed = task.propose(Draws({"test": 3}), 500, split, bucket)
    assert set(ids(task, proposed)) <= set(ids(task, listed))
    assert listed.form == proposed.form


def test_where_values_decide_nothing_is_counted():
    task = ListOps()
    assert {task.capacity(s, bucket) for s in task.splits for bucket in s.buckets} == {None}


# Labels that hardly ever come.

MIN_ALONE = {"operators": "MIN", "balance": "label"}


def test_a_label_too_rare_to_be_drawn_has_no_rows():
    """MIN is 8 at depth 8 for one in 10**13 of the operators drawn: a block would take years."""
    task = ListOps(parameters=MIN_ALONE)
    split = task.split("test")
    found = {}
    for bucket in split.buckets:
        if task.bucket_label(bucket) in ("8 MIN 1", "8 MIN 5", "8 MIN 8"):
            block = task.propose(Draws({"test": 1}), 64, split, bucket)
            found[task.bucket_label(bucket)] = len(block)
            assert len(task.rendered(block)["text"]) == len(block)
    assert found["8 MIN 1"] > 0
    assert (found["8 MIN 5"], found["8 MIN 8"]) == (0, 0)


def test_what_a_rare_label_cannot_fill_goes_to_the_others_which_is_said(tmp_path, capsys):
    """Under MED alone, 9 is the label of one in 300,000 of the lists drawn for depth 3."""
    depths = {"train_depths": "1", "validation_depths": "3", "test_depths": "1"}
    made = generate(
        synthbench.task("listops", **{"operators": "MED", "balance": "label", **depths}),
        out=tmp_path / "made",
        rows={"train": 10, "iid": 10, "validation": 20, "test": 10},
        workers=1,
        progress=False,
    )
    counts = made.variants["default"]["validation"].buckets
    assert sum(counts.values()) == 20
    assert counts.pop("3 MED 9") == 0
    assert len(counts) == 9
    assert min(counts.values()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "validation: rows of dependency_depth 3 MED 9 (0 of 2) are too rare" in said


@pytest.mark.parametrize("parameters", [{"ties": "first"}, {"p_op": 0.05}])
def test_with_all_operators_no_label_is_too_rare(parameters):
    task = ListOps(parameters={**parameters, "balance": "label"})
    for split in task.splits[1:]:
        grammar = task.grammar(split)
        distribution = ListOpsDistribution(grammar, OPERATORS, task.parameters.ties == "strict")
        for depth, operator, label in map(task.goal, split.buckets):
            root = dataclasses.replace(distribution, root=operator)
            assert not is_too_rare(root, grammar.max_depth, label << DEPTH_BITS | depth)


# What is refused.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p_op": -0.1}, r"p_op=-0.1: allowed are 0, or 0.001 to 0.999\."),
        ({"p_op": 1.0}, r"p_op=1.0: allowed are 0, or 0.001 to 0.999\."),
        ({"p_op": 1e-6}, "p_op=1e-06: allowed are 0, or"),
        ({"p_op": float("nan")}, "p_op=nan: allowed are 0, or"),
        ({"p_op": 0}, "p_op=0.0 never nests operations, but test_depths asks for 8"),
        ({"max_args": 1}, "max_args=1: allowed are 2 to 10"),
        ({"max_args": 11}, "max_args=11: allowed are 2 to 10"),
        ({"max_length": 0}, "max_length=0: allowed are 1 to 2000"),
        ({"max_length": 2001}, "max_length=2001: allowed are 1 to 2000"),
        ({"min_length": 51}, "min_length=51: allowed are 1 to max_length=50"),
        (
            {"max_length": 3, "train_depths": "1", "validation_depths": "1", "test_depths": "7"},
            "max_length=3: too short for test_depths up to 7; the shortest expression of depth 7 "
            r"has 22 tokens: \[MIN 0 \[MIN 0 .* 0 0 \] \] \] \] \] \] \]$",
        ),
        (
            {"max_length": 21, "test_depths": "7"},
            "max_length=21: too short for test_depths up to 7; "
            "the shortest expression of depth 7 has 22 tokens",
        ),
        ({"train_depths": "0,1"}, "train_depths=0,1: allowed are different depths from 1 to 40"),
        ({"test_depths": "41"}, "test_depths=41: allowed are different depths from 1 to 40"),
        ({"validation_depths": "6,6"}, "validation_depths=6,6: allowed are different depths"),
        ({"validation_depths": "deep"}, "validation_depths='deep': expected whole numbers"),
        ({"operators": "MIN,MIN"}, "operators=MIN,MIN: name each once"),
        ({"train_depths": []}, "train_depths=: allowed are different depths"),
        ({"validation_depths": []}, "validation_depths=: allowed are different depths"),
        ({"test_depths": []}, "test_depths=: allowed are different depths"),
    ],
)
def test_impossible_parameters_are_refused_with_what_is_allowed(parameters, message):
    with pytest.raises(ParameterError, match=message):
        ListOps(parameters=parameters)


def test_an_unknown_operator_is_refused_with_those_that_exist():
    with pytest.raises(UsageError, match=r"operator 'MEAN'. Allowed: MIN, MAX, MED, SM"):
        ListOps(parameters={"operators": "MIN,MEAN"})


def test_the_shortest_length_that_fits_gives_rows():
    task = ListOps(
        parameters={"max_length": 10, "train_depths": "3"}
        | {"validation_depths": "1", "test_depths": "1"}
    )
    block = task.propose(Draws({"test": 4}), 5_000, task.split("train"), 3)
    assert set(block["length"].tolist()) == {10}


def test_without_nesting_there_are_rows_of_depth_1():
    task = ListOps(parameters={**ONE_LEVEL, "p_op": 0})
    assert set(propose_all(task)["depth"].tolist()) == {1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends too early"),
        ("[MIN 1 2", "ends too early"),
        ("[MIN 1 2 ] 3", "'3' after the end"),
        ("[MIN ]", "nothing to close"),
        ("]", "nothing to close"),
        ("[MEAN 1 2 ]", r"unknown operator '\[MEAN'"),
        ("[MIN 1 12 ]", "unknown token '12'"),
    ],
)
def test_the_solver_says_what_is_wrong_with_a_question(text, message):
    with pytest.raises(ValueError, match=message):
        ListOps().solve(text)


# For people.


def test_a_row_is_drawn_as_a_tree_with_what_is_not_needed_marked():
    assert str(draw_row(ListOps(), {"text": "[MED 4 [SM 0 1 ] 5 [MAX 8 9 ] ]"})) == (
        "[MED 4 [SM 0 1 ] 5 [MAX 8 9 ] ]\n"
        "MED = 4\n"
        "├─ 4\n"
        "├─ (SM = 1) not needed\n"
        "│  ├─ (0)\n"
        "│  └─ (1)\n"
        "├─ 5\n"
        "└─ (MAX = 9) not needed\n"
        "   ├─ (8)\n"
        "   └─ (9)"
    )


def test_which_of_equal_arguments_is_drawn_as_needed_follows_ties():
    text = "[MIN [MAX 1 2 ] 2 ]"
    assert "(MAX = 2) not needed" in str(draw_row(ListOps(), {"text": text}))
    assert str(draw_row(FIRST, {"text": text})).endswith("├─ MAX = 2\n│  ├─ (1)\n│  └─ 2\n└─ (2)")
