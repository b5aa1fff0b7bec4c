"""The generator of grids: which are drawn, how often each, and how many there are."""

import collections
import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.generation.generate import generate
from synthbench.tasks.grid_count.task import GridCount
from tests.tasks.agreement import assert_drawn_from
from tests.tasks.blocks import assert_sound, ids, propose, propose_all, rows_of

# The generator.

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True)
fills = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0])


@given(train=sizes, test=sizes, fill=fills)
@settings(max_examples=20, deadline=None)
def test_the_generator_and_the_solver_agree_on_every_column(train, test, fill):
    task = GridCount(
        parameters={"train_sizes": train, "iid_sizes": train[:1], "test_sizes": test, "fill": fill}
    )
    for split in task.splits:
        rows = assert_sound(task, propose_all(task, split.name, n=7))
        assert {row["size"] for row in rows} == set(split.buckets)


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
        counts = propose(task, "test", n=2_000, bucket=20)["color_counts"].sum(axis=0)
        chances = {0: 1 - fill} | dict.fromkeys(range(1, 10), fill / 9)
        assert_drawn_from(dict(enumerate(counts.tolist())), chances)


def test_every_cell_of_a_grid_is_drawn_on_its_own():
    cells = propose(GridCount(), "iid", n=20_000)["cells"].astype(float)
    correlation = np.corrcoef(cells, rowvar=False)
    assert np.abs(correlation - np.eye(36)).max() < 5 / math.sqrt(20_000)


# The limit of coloured cells, `colored_limit`.


def colored_cells(task, **options):
    block = propose(task, **options)
    return (block["cells"] > 1).sum(axis=1), block


def test_a_limit_is_drawn_uniformly_and_caps_the_coloured_cells():
    task = GridCount(parameters={"colored_limit": 30, "fill": 1.0})
    colored, _ = colored_cells(task, n=20_000, bucket=5)
    # min(25, M) with M uniform over 1..30.
    chances = dict.fromkeys(range(1, 25), 1 / 30) | {25: 6 / 30}
    assert_drawn_from(collections.Counter(colored.tolist()), chances)


def test_a_limit_keeps_every_cell_and_every_colour_with_the_same_chance():
    task = GridCount(parameters={"colored_limit": 12, "fill": 0.9})
    colored, block = colored_cells(task, split="iid", n=30_000, bucket=6)
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
    colored, _ = colored_cells(task, n=8_000, bucket=size)
    assert 1 - colored.mean() / size**2 == pytest.approx(background, abs=0.012)


def test_a_limit_leaves_the_colours_of_the_cells_that_are_kept():
    plain = propose(GridCount(), n=500, bucket=6)["cells"]
    limited = propose(GridCount(parameters={"colored_limit": 30}), n=500, bucket=6)["cells"]
    kept = limited > 1
    assert (limited[kept] == plain[kept]).all()
    assert kept.sum() < (plain > 1).sum()


def test_a_grid_with_more_coloured_cells_than_the_limit_is_no_row_of_the_task():
    task = GridCount(parameters={"colored_limit": 3})
    column = pa.array([[[1, 0], [2, 3]], [[1, 1], [2, 3]]], pa.list_(pa.list_(pa.int8())))
    task.parse({"grid": column[:1]})
    with pytest.raises(ValueError, match="4 coloured cells where colored_limit=3"):
        task.parse({"grid": column})


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
    assert set(ids(task, propose(task, n=300, bucket=size))) <= set(ids(task, listed))


def test_a_listing_is_made_of_the_grids_within_the_limit_alone():
    """There are 10 ** 400 grids of this size, 3,601 of them with at most one coloured cell."""
    task = GridCount(parameters={"colored_limit": 1, "test_sizes": (20,)})
    cells = task.enumerate_rows(task.split("test"), 20)["cells"]
    assert cells.shape == (3_601, 400) and len(np.unique(cells, axis=0)) == 3_601
    assert (cells > 1).sum() == 3_600
    as_numbers = [bytes(row) for row in cells]
    assert as_numbers == sorted(as_numbers)


def test_with_a_low_limit_every_small_grid_is_made(tmp_path):
    task = synthbench.task("grid-count", colored_limit=1, train_sizes="2", iid_sizes="2")
    made = generate(task, out=tmp_path / "made", preset="small", workers=1, progress=False)
    splits = made.variants["default"]
    assert splits["train"].rows + splits["iid"].rows == 1 + 4 * 9


def test_large_grids_are_counted_exactly():
    task = GridCount()
    assert task.capacity(task.split("train"), 6) == 10**36
    assert task.capacity(task.split("test"), 20) == 10**400
    limited = GridCount(parameters={"colored_limit": 999})
    assert limited.capacity(limited.split("test"), 20) == 10**400
    limited = GridCount(parameters={"colored_limit": 2})
    assert limited.capacity(limited.split("test"), 20) == 1 + 400 * 9 + 400 * 399 // 2 * 81


def test_a_small_bucket_whose_rows_are_hardly_ever_drawn_is_listed_soon(tmp_path):
    """Grids of four coloured cells are two thirds of all, each drawn once in 40 billion times."""
    made = generate(
        synthbench.task("grid-count", fill=0.02, train_sizes="2", iid_sizes="2", test_sizes="2"),
        out=tmp_path / "made",
        rows={"train": 8_700, "iid": 20, "test": 20},
        workers=1,
        progress=False,
    )
    splits = made.variants["default"]
    assert splits["train"].rows == 8_700
    # Fifty candidates for each of the 10,000 rows, then the list.
    assert all(split.candidates < 600_000 for split in splits.values())
