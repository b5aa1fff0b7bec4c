"""Grids of colours: what is asked, the files, the parameters, and the scores."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.tasks.describe import draw_row
from synthbench.tasks.grid_count.task import GridCount
from synthbench.text.tables import render
from tests.tasks.blocks import ids, propose, propose_all, rows_of

TABLE_III = [[6, 6, 0], [3, 7, 0], [4, 3, 6]]


def as_row(task, grid):
    return {"grid": grid, **task.recompute_columns({"grid": grid})}


# The question.


@pytest.mark.parametrize(
    ("grid", "label"),
    [
        (TABLE_III, [[3, 3, 0], [2, 1, 0], [1, 2, 3]]),
        ([[0, 5], [0, 0]], [[0, 1], [0, 0]]),
        ([[0]], [[0]]),
        ([[9]], [[1]]),
    ],
)
def test_the_answer_is_how_often_each_colour_occurs_and_0_for_background(grid, label):
    assert GridCount().solve(grid) == label


def test_all_other_columns_follow_from_the_grid():
    assert GridCount().recompute_columns({"grid": TABLE_III}) == {
        "label": [[3, 3, 0], [2, 1, 0], [1, 2, 3]],
        "color_counts": [2, 0, 0, 2, 1, 0, 3, 1, 0, 0],
        "size": 3,
    }


def test_the_commonest_colour_fills_a_grid_of_the_same_shape():
    task = GridCount("commonest")
    assert task.solve(TABLE_III) == [[6] * 3] * 3
    # The demonstration and the test of ARC, task 5582e5ca.
    for grid, color in (
        ([[4, 4, 8], [6, 4, 3], [6, 3, 0]], 4),
        ([[6, 8, 9], [1, 8, 1], [9, 4, 9]], 9),
        ([[4, 6, 9], [6, 4, 1], [8, 8, 6]], 6),
        ([[8, 8, 6], [4, 6, 9], [8, 3, 0]], 8),
    ):
        assert task.solve(grid) == [[color] * 3] * 3
    for grid in ([[0]], [[1, 2], [0, 0]], [[0, 0], [0, 0]]):
        with pytest.raises(ValueError, match="commonest"):
            task.solve(grid)


def test_every_grid_with_a_commonest_colour_is_counted_and_listed_once():
    for chosen in ({}, {"colored_limit": 3}, {"fill": 1.0}):
        task = GridCount("commonest", chosen)
        split = task.split("train")
        for bucket in (1, 2):
            block = task.enumerate_rows(split, bucket)
            assert len(set(ids(task, block))) == len(block) == task.capacity(split, bucket)
    everything = itertools.product(range(10), repeat=4)
    possible = sum(len(set(top)) == 1 for top in map(_modes, everything))
    assert GridCount("commonest").capacity(split, 2) == possible


def _modes(cells):
    """The colours of the grid that occur most often, none for background alone."""
    counts = {color: cells.count(color) for color in set(cells) - {0}}
    return [color for color, count in counts.items() if count == max(counts.values())]


def test_rows_without_a_commonest_colour_are_refused():
    task = GridCount("commonest")
    row = as_row(task, TABLE_III)
    column = pa.array([[[1, 2], [0, 0]]], pa.list_(pa.list_(pa.int8())))
    with pytest.raises(ValueError, match="two commonest"):
        task.parse({"grid": column})
    assert task.score(row, row["label"]) == 1.0
    assert "commonest" in str(draw_row(task, row))


# Files.


def test_an_id_depends_on_the_grid_and_not_on_the_other_sizes_of_its_split():
    narrow = GridCount(parameters={"train_sizes": "2", "iid_sizes": "2"})
    wide = GridCount(parameters={"train_sizes": "2,9", "iid_sizes": "2"})
    assert ids(narrow, propose(narrow, bucket=2)) == ids(wide, propose(wide, bucket=2))


def test_different_grids_have_different_ids():
    task = GridCount()
    grids = [[[0]], [[1]], [[0, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 0]], [[0] * 3] * 3]
    column = pa.array(grids, pa.list_(pa.list_(pa.int8())))
    assert len(set(ids(task, task.parse({"grid": column})))) == len(grids)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([[1, 2], [3]], "not a square grid"), ([[1, 2]], "not a square grid"),
        ([], "not a square grid"), ([[]], "not a square grid"), ([[10]], "not 0 to 9"),
        ([[-1]], "not 0 to 9"), ([[None]], "null where a number"), ([None], "null where a list"),
        (None, "null where a list"),
    ],
)  # fmt: skip
def test_a_row_that_is_no_grid_is_refused(grid, message):
    column = pa.array([[[1]], grid], pa.list_(pa.list_(pa.int8())))
    with pytest.raises(ValueError, match=message):
        GridCount().parse({"grid": column})


def test_arrays_have_the_grids_in_the_upper_left_corner_and_minus_1_beyond():
    task = GridCount()
    block = propose_all(task, n=7)
    block = block.take(np.arange(len(block)).reshape(-1, 7).T.ravel())  # sizes take turns
    arrays = task.arrays(block)
    assert {name: (a.dtype.name, a.shape[1:]) for name, a in arrays.items()} == {
        "grid": ("int8", (6, 6)),
        "label": ("int16", (6, 6)),
        "color_counts": ("int16", (10,)),
        "size": ("int16", ()),
    }
    for number, row in enumerate(rows_of(task, block)):
        size = row["size"]
        assert arrays["size"][number] == size
        assert arrays["color_counts"][number].tolist() == row["color_counts"]
        for name in ("grid", "label"):
            assert arrays[name][number, :size, :size].tolist() == row[name]
            assert (arrays[name][number] == -1).sum() == 36 - size * size


# Sizes and parameters.


def test_blocks_rounds_and_groups_of_large_grids_have_fewer_rows():
    small, large = GridCount(), GridCount(parameters={"test_sizes": "100"})
    for name in ("block_rows", "round_rows", "group_rows", "shard_rows"):
        assert 100 < getattr(large, name) < getattr(small, name)
    assert large.block_rows * 100**2 <= 20e6
    assert large.group_rows * 100**2 * 3 <= 300e6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fill": 1.5}, "Parameter fill=1.5: allowed are 0 to 1."),
        ({"fill": math.nan}, "Parameter fill=nan: allowed are 0 to 1."),
        (
            {"colored_limit": -1},
            "Parameter colored_limit=-1: allowed are 0 (no limit) to 1,000,000.",
        ),
        (
            {"train_sizes": "0..3"},
            "Parameter train_sizes=0,1,2,3: allowed are different sizes from 1 to 100.",
        ),
        (
            {"test_sizes": "101"},
            "Parameter test_sizes=101: allowed are different sizes from 1 to 100.",
        ),
        (
            {"test_sizes": "7,7"},
            "Parameter test_sizes=7,7: allowed are different sizes from 1 to 100.",
        ),
        ({"test_sizes": ()}, "Parameter test_sizes=: allowed are different sizes from 1 to 100."),
        (
            {"train_sizes": "1..4"},
            "Parameter iid_sizes=6: allowed are sizes of train_sizes=1,2,3,4.",
        ),
    ],
)
def test_an_impossible_parameter_is_refused_by_name(parameters, message):
    with pytest.raises(ParameterError) as refused:
        GridCount(parameters=parameters)
    assert str(refused.value) == message


# Answers.


def test_the_right_answer_scores_1_in_every_form():
    task = GridCount()
    row = as_row(task, TABLE_III)
    flat = list(itertools.chain(*row["label"]))
    object_array = np.array([np.array(line) for line in row["label"]] + [None], dtype=object)[:3]
    for prediction in (
        row["label"],
        tuple(map(tuple, row["label"])),
        flat,
        np.array(row["label"], np.int16),
        np.array(flat, np.float32),
        [[count + 0.4 for count in line] for line in row["label"]],
        [[count - 0.4 for count in line] for line in row["label"]],
        object_array,
    ):
        assert task.measure(row, task.read_answer(row, prediction)) == {
            "cell_accuracy": 1.0,
            "foreground_accuracy": 1.0,
            "grid_accuracy": 1.0,
        }


def test_halves_are_rounded_to_the_even_neighbour():
    task = GridCount()
    row = as_row(task, [[1, 1], [2, 0]])
    read = task.read_answer(row, [[1.5, 2.5], [0.5, -0.5]])
    assert read.tolist() == [[2, 2], [0, 0]]


@pytest.mark.parametrize(
    "prediction",
    [
        None,
        "3 3 0",
        3,
        [],
        {},
        [[3, 3, 0], [2, 1, 0]],
        [[3, 3, 0], [2, 1, 0], [1, 2]],
        [[3, 3, 0], [2, 1, 0], [1, 2, None]],
        [[3, 3, 0], [2, 1, 0], [1, 2, "3"]],
        [["3", "3", "0"], ["2", "1", "0"], ["1", "2", "3"]],
        [[True] * 3] * 3,
        [[3, 3, 0], [2, 1, 0], [1, 2, math.nan]],
        [[3, 3, 0], [2, 1, 0], [1, 2, math.inf]],
        [[3, 3, 0], [2, 1, 0], [1, 2, 10**400]],
        np.zeros((3, 3, 10)),
        np.zeros((4, 4)),
        np.zeros(9, complex),
    ],
)
def test_an_answer_that_is_no_grid_of_numbers_cannot_be_read(prediction):
    task = GridCount()
    row = as_row(task, TABLE_III)
    assert task.read_answer(row, prediction) is None
    assert task.score(row, prediction) == 0.0


def test_zeros_everywhere_are_right_on_the_background_and_worth_nothing_elsewhere():
    task = GridCount()
    row = as_row(task, TABLE_III)
    assert task.measure(row, task.read_answer(row, [0] * 9)) == {
        "cell_accuracy": 2 / 9,
        "foreground_accuracy": 0.0,
        "grid_accuracy": 0.0,
    }


def test_the_baseline_is_what_zeros_everywhere_reach_on_average():
    task = GridCount(parameters={"fill": 0.7})
    rows = rows_of(task, propose(task, "test", n=300, bucket=15))
    reached = [task.score(row, [[0] * 15] * 15) for row in rows]
    assert task.baseline()["zeros everywhere"] == pytest.approx(np.mean(reached), abs=0.01)


def test_with_a_limit_there_is_no_single_figure_for_zeros_everywhere():
    assert GridCount(parameters={"colored_limit": 999}).baseline() == {}


def test_a_grid_of_background_says_nothing_about_coloured_cells():
    task = GridCount()
    row = as_row(task, [[0, 0], [0, 0]])
    measured = task.measure(row, task.read_answer(row, row["label"]))
    assert measured["cell_accuracy"] == measured["grid_accuracy"] == 1.0
    assert math.isnan(measured["foreground_accuracy"])


@given(wrong=st.sets(st.integers(0, 24), max_size=25))
def test_every_wrong_cell_costs_its_share(wrong):
    task = GridCount()
    row = rows_of(task, propose(task, n=1, bucket=5))[0]
    answer = np.array(row["label"]).ravel()
    answer[list(wrong)] += 1
    colored = np.flatnonzero(np.array(row["grid"]).ravel()).tolist()
    measured = task.measure(row, task.read_answer(row, answer))
    assert measured["cell_accuracy"] == pytest.approx(1 - len(wrong) / 25)
    assert measured["foreground_accuracy"] == pytest.approx(
        1 - len(wrong & set(colored)) / len(colored)
    )
    assert measured["grid_accuracy"] == float(not wrong)
    assert set(measured) == set(task.metrics)


# Pictures.


def test_a_drawn_row_shows_colours_beside_counts_and_reads_as_plain_text():
    task = GridCount()
    drawn = draw_row(task, as_row(task, TABLE_III))
    assert str(drawn).splitlines() == [
        "3x3 grid, and how often each cell's colour occurs:",
        " 6 6 .     3 3 0",
        " 3 7 .     2 1 0",
        " 4 3 6     1 2 3",
    ]
    assert render(drawn, colors=True).count("\x1b[0m") >= 12
