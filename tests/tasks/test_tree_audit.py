"""What cut trees come to, which leaves decide, and when trees are the same but for order."""

import pyarrow as pa
import pytest

from synthbench.auditing.variant import audit_spec_of
from synthbench.tasks.listops.solver import read_tree
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.trees.audit import NOTHING, cut_value, deciding_leaves, look
from tests.support import draw_splits, plain_rows

LISTOPS, ARITHMETIC = make_task("listops"), make_task("arithmetic")


def cuts(task, text, deepest):
    return [cut_value(task, task.read(text), levels) for levels in range(deepest + 1)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[MED 4 8 5 [MAX 8 4 9 ] ]", [NOTHING, 5, 6]),
        ("[SM 3 [MIN 0 [MAX 1 2 ] ] ]", [NOTHING, 3, 3, 3]),
        ("[MAX [MIN 7 9 ] [SM 1 1 ] ]", [NOTHING, NOTHING, 7]),
        ("[SM [MED [MAX 9 8 ] ] 4 ]", [NOTHING, 4, 4, 3]),
        ("[MED 1 4 [MIN 9 9 ] ]", [NOTHING, 2, 4]),
    ],
)
def test_a_cut_list_is_its_operators_over_what_is_left(text, values):
    assert cuts(LISTOPS, text, len(values) - 1) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("((4*7)+2)", [NOTHING, 2, 0]),
        ("((0*((1+2)*3))+4)", [NOTHING, 4, 4, 4, 4]),
        ("((5*5)*(2*4))", [NOTHING, NOTHING, 0]),
        ("(7*((1+2)*3))", [NOTHING, 7, 1, 3]),
    ],
)
def test_a_cut_expression_is_its_operations_over_what_is_left(text, values):
    assert cuts(ARITHMETIC, text, len(values) - 1) == values


def rows_of(task):
    drawn = draw_splits(task, 60)
    return [row for split in drawn.values() for row in plain_rows(task.rendered(split.block))]


@pytest.mark.parametrize("task", [LISTOPS, ARITHMETIC], ids=lambda task: task.name)
def test_a_tree_that_is_cut_below_its_depth_is_whole_and_its_needed_depth_is_the_solvers(task):
    for row in rows_of(task):
        seen = look(task, 12, task.read(row["text"]))
        assert set(seen.cuts[row["depth"] - 1 :]) == {row["label"]}
        assert seen.needed == row["dependency_depth"]
        leaves = list(deciding_leaves(task.deciding, task.read(row["text"])))
        assert max(depth for depth, _ in leaves) == row["dependency_depth"]
        assert all(0 <= place <= 9 for _, place in leaves)


def test_the_longest_argument_is_the_one_with_the_most_tokens():
    assert look(LISTOPS, 1, LISTOPS.read("[MIN 9 [MAX 1 4 ] [SM 7 7 7 ] 2 ]")).longest == 1
    assert look(LISTOPS, 1, LISTOPS.read("[MIN 9 3 ]")).longest == 9
    assert look(ARITHMETIC, 1, ARITHMETIC.read("((4*7)+2)")).longest == 8


def test_the_needed_depth_does_not_depend_on_how_ties_are_broken_in_the_dataset():
    text = "[MIN [MAX 1 2 ] 2 ]"
    first = make_task("listops", ties="first")
    assert read_tree(text, strict=False).dependency_depth == 2
    (claim,) = audit_spec_of(first).claims
    assert claim.column == "dependency_depth"
    assert claim.needed({"text": pa.array([text])}).tolist() == [1]
