"""Grids of colours: the generator against a plain count, the files, and the scores."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.generation.generate import generate
from synthbench.seeding import Draws
from synthbench.tasks.describe import draw_row
from synthbench.tasks.grid_count.task import GridCount
from synthbench.text.tables import render
from tests.tasks.blocks import assert_sound, ids, rows_of

TABLE_III = [[6, 6, 0], [3, 7, 0], [4, 3, 6]]

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True)
fills = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0])


def propose(task, split="train", n=20, size=None, block=0):
    split = task.split(split)
    size = split.buckets[0] if size is None else size
    return task.propose(Draws({"test": 1}, block), n, split, size)


def mixed(task, split="train", n=7):
    """Rows of every size of a split, sizes taking turns."""
    blocks = [propose(task, split, n, size) for size in task.split(split).buckets]
    block = blocks[0].concatenate(blocks)
    return block.take(np.argsort(np.arange(len(block)) % n, kind="stable"))


def as_row(task, grid):
    return {"grid": grid, **task.recompute_columns({"grid": grid})}


def count_by_hand(grid):
    cells = list(itertools.chain(*grid))
    return [
        [sum(other == cell for other in cells) if cell else 0 for cell in line] for line in grid
    ]


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


# The generator.


@given(train=sizes, test=sizes, fill=fills)
@settings(max_examples=20, deadline=None)
def test_the_generator_and_the_solver_agree_on_every_column(train, test, fill):
    task = GridCount(
        parameters={"train_sizes": train, "iid_sizes": train[:1], "test_sizes": test, "fill": fill}
    )
    for split in task.splits:
        rows = assert_sound(task, mixed(task, split.name))
        assert {row["size"] for row in rows} == set(split.buckets)
        for row in rows:
            assert row["label"] == count_by_hand(row["grid"])
            assert sum(row["color_counts"]) == row["size"] ** 2


def test_grids_of_100x100_cells_are_made_and_counted():
    task = GridCount(parameters={"test_sizes": "100", "fill": 1.0})
    (row,) = rows_of(task, propose(task, "test", n=1))
    assert row["size"] == 100
    assert task.recompute_columns(row) == {
        name: row[name] for name in ("label", "color_counts", "size")
    }
    background = GridCount(parameters={"test_sizes": "100", "fill": 0.0})
    (row,) = rows_of(background, propose(background, "test", n=1))
    assert row["color_counts"] == [10_000] + [0] * 9


def test_cells_are_coloured_with_the_given_chance_and_colours_are_uniform():
    for fill in (0.8, 0.35):
        task = GridCount(parameters={"fill": fill})
        counts = propose(task, "test", n=2_000, size=20)["color_counts"].sum(axis=0)
        expected = np.array([1 - fill] + [fill / 9] * 9) * counts.sum()
        chi_square = float(((counts - expected) ** 2 / expected).sum())
        assert chi_square < 27.9  # 9 degrees of freedom, one chance in a thousand


def test_every_cell_of_a_grid_is_drawn_on_its_own():
    cells = propose(GridCount(), "iid", n=20_000)["cells"].astype(float)
    correlation = np.corrcoef(cells, rowvar=False)
    assert np.abs(correlation - np.eye(36)).max() < 5 / math.sqrt(20_000)


def test_no_cell_is_coloured_with_fill_0_and_every_one_with_fill_1():
    for fill, colors in ((0.0, {0}), (1.0, set(range(1, 10)))):
        task = GridCount(parameters={"fill": fill})
        assert set((propose(task, n=500, size=6)["cells"] - 1)[:, :36].ravel().tolist()) == colors


# The limit of coloured cells, `colored_limit`.


def colored_cells(task, **options):
    block = propose(task, **options)
    return (block["cells"] > 1).sum(axis=1), block


def test_a_limit_is_drawn_uniformly_and_caps_the_coloured_cells():
    task = GridCount(parameters={"colored_limit": 30, "fill": 1.0})
    colored, _ = colored_cells(task, n=20_000, size=5)
    # min(25, M) with M uniform over 1..30.
    expected = np.array([1 / 30] * 24 + [6 / 30]) * len(colored)
    observed = np.bincount(colored, minlength=26)
    assert observed[0] == 0
    chi_square = float(((observed[1:] - expected) ** 2 / expected).sum())
    assert chi_square < 51.2  # 24 degrees of freedom, one chance in a thousand


def test_a_limit_keeps_every_cell_and_every_colour_with_the_same_chance():
    task = GridCount(parameters={"colored_limit": 12, "fill": 0.9})
    colored, block = colored_cells(task, split="iid", n=30_000, size=6)
    by_cell = (block["cells"] > 1).sum(axis=0)
    spread = colored.mean() / 36
    assert np.abs(by_cell / 30_000 - spread).max() < 5 * math.sqrt(spread / 30_000)
    by_color = block["color_counts"][:, 1:].sum(axis=0)
    assert np.abs(by_color / by_color.sum() - 1 / 9).max() < 0.005
    # Given their number, the coloured cells of a grid do not care where the others are.
    pairs = np.corrcoef(block["cells"][colored == 6] > 1, rowvar=False)[~np.eye(36, dtype=bool)]
    assert np.abs(pairs + 1 / 35).max() < 5 / math.sqrt((colored == 6).sum())


@pytest.mark.parametrize(("size", "background"), [(6, 0.21), (10, 0.23), (15, 0.27), (20, 0.33)])
def test_with_the_limit_of_the_papers_program_large_grids_have_more_background(size, background):
    """The shares of background that were seen in the published program's grids."""
    task = GridCount(parameters={"colored_limit": 999, "train_sizes": size, "iid_sizes": size})
    colored, _ = colored_cells(task, n=8_000, size=size)
    assert 1 - colored.mean() / size**2 == pytest.approx(background, abs=0.012)


def test_a_limit_leaves_the_colours_of_the_cells_that_are_kept():
    plain = propose(GridCount(), n=500, size=6)["cells"]
    limited = propose(GridCount(parameters={"colored_limit": 30}), n=500, size=6)["cells"]
    kept = limited > 1
    assert (limited[kept] == plain[kept]).all()
    assert kept.sum() < (plain > 1).sum()


def test_a_grid_with_more_coloured_cells_than_the_limit_is_no_row_of_the_task():
    task = GridCount(parameters={"colored_limit": 3})
    column = pa.array([[[1, 0], [2, 3]], [[1, 1], [2, 3]]], pa.list_(pa.list_(pa.int8())))
    task.parse({"grid": column[:1]})
    with pytest.raises(ValueError, match="4 coloured cells where colored_limit=3"):
        task.parse({"grid": column})


def test_with_a_limit_there_is_no_single_figure_for_zeros_everywhere():
    assert GridCount(parameters={"colored_limit": 999}).baseline() == {}


def test_the_first_cells_of_a_stream_never_change():
    task = GridCount()
    assert rows_of(task, propose(task, n=1, size=4))[0]["grid"] == [
        [5, 7, 4, 5],
        [7, 8, 6, 7],
        [0, 4, 6, 0],
        [9, 8, 2, 1],
    ]


# Counting rows.


@pytest.mark.parametrize("fill", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("limit", [0, 1, 3, 999])
@pytest.mark.parametrize("size", [1, 2])
def test_the_listing_has_every_grid_once_and_the_capacity_is_their_number(fill, limit, size):
    task = GridCount(parameters={"fill": fill, "colored_limit": limit})
    split, cells = task.split("train"), size * size
    listed = task.enumerate_rows(split, size)
    fewest = 0 if fill < 1 else min(cells, 1 if limit else cells)
    most = 0 if fill == 0 else min(cells, limit or cells)
    expected = {
        grid
        for grid in itertools.product(range(10), repeat=cells)
        if fewest <= sum(map(bool, grid)) <= most
    }
    found = [tuple(itertools.chain(*row["grid"])) for row in rows_of(task, listed)]
    assert len(found) == task.capacity(split, size) == len(expected)
    assert set(found) == expected
    assert set(ids(task, propose(task, n=300, size=size))) <= set(ids(task, listed))


def test_large_grids_are_counted_exactly():
    task = GridCount()
    assert task.capacity(task.split("train"), 6) == 10**36
    assert task.capacity(task.split("test"), 20) == 10**400
    limited = GridCount(parameters={"colored_limit": 999})
    assert limited.capacity(limited.split("test"), 20) == 10**400
    limited = GridCount(parameters={"colored_limit": 2})
    assert limited.capacity(limited.split("test"), 20) == 1 + 400 * 9 + 400 * 399 // 2 * 81


# Files.


def test_an_id_depends_on_the_grid_and_not_on_the_other_sizes_of_its_split():
    narrow = GridCount(parameters={"train_sizes": "2", "iid_sizes": "2"})
    wide = GridCount(parameters={"train_sizes": "2,9", "iid_sizes": "2"})
    assert ids(narrow, propose(narrow, size=2)) == ids(wide, propose(wide, size=2))


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
    block = mixed(task)
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


def test_a_small_bucket_whose_rows_are_hardly_ever_drawn_is_listed_soon(tmp_path):
    """Grids of four coloured cells are two thirds of all, each drawn once in 40 billion times."""
    made = generate(
        "grid-count",
        out=tmp_path / "made",
        parameters={"fill": 0.02, "train_sizes": "2", "iid_sizes": "2", "test_sizes": "2"},
        rows={"train": 8_700, "iid": 20, "test": 20},
        workers=1,
        progress=False,
    )
    splits = made.variants["default"]
    assert splits["train"].rows == 8_700
    # Fifty candidates for each of the 10,000 rows, then the list.
    assert all(split.candidates < 600_000 for split in splits.values())


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
        ({"fill": "much"}, "Parameter fill='much': expected a number."),
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
    rows = rows_of(task, propose(task, "test", n=300, size=15))
    reached = [task.score(row, [[0] * 15] * 15) for row in rows]
    assert task.baseline()["zeros everywhere"] == pytest.approx(np.mean(reached), abs=0.01)


def test_a_grid_of_background_says_nothing_about_coloured_cells():
    task = GridCount()
    row = as_row(task, [[0, 0], [0, 0]])
    measured = task.measure(row, task.read_answer(row, row["label"]))
    assert measured["cell_accuracy"] == measured["grid_accuracy"] == 1.0
    assert math.isnan(measured["foreground_accuracy"])


@given(wrong=st.sets(st.integers(0, 24), max_size=25))
@settings(deadline=None)
def test_every_wrong_cell_costs_its_share(wrong):
    task = GridCount()
    row = rows_of(task, propose(task, n=1, size=5))[0]
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
