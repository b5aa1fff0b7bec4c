"""Composites: the images and their sources."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from synthbench.errors import UsageError
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.images import png
from tests.tasks.blocks import propose, propose_all, rows_of
from tests.tasks.composites.making import (
    ALL,
    pixels_by_hand,
    source_dir,
)
from tests.tasks.tiny_sources import write_tree

# Pixels.


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_every_pixel_is_the_source_s_times_the_colour(variant, parameters):
    task = Composites(variant, parameters)
    rows = rows_of(task, propose_all(task, "test", 1))
    for row in (rows[0], rows[-1]):
        assert np.array_equal(png.decode(row["image"]["bytes"]), pixels_by_hand(task, row))


def test_the_product_is_rounded_right_for_every_grey_and_colour(tmp_path):
    everything = np.arange(256, dtype=np.uint8)
    write_tree(tmp_path / "tree", ["a", "b"], seed=1)
    picture = np.zeros((28, 28, 3), np.uint8)
    picture[:16, :16] = everything.reshape(16, 16, 1)
    for label in "ab":
        for file in (tmp_path / "tree" / label).iterdir():
            Image.fromarray(picture).save(file)
    task = Composites("main", {"target_source": f"folder:{tmp_path / 'tree'}"})
    block = propose(task, n=256)
    block["rgb"][:, 1] = everything[:, None]
    shown = task.pixels(block)[:, :16, 28:44, 0].reshape(256, 256)
    assert np.array_equal(shown, np.rint(np.outer(everything, everything / 255)))


def test_rows_put_together_in_many_chunks_are_those_of_one():
    task = Composites("cifar")
    block = propose(task, n=300)
    whole = task.pixels(block)
    for first in (0, 127, 128, 299):
        assert np.array_equal(task.pixels(block.take(slice(first, first + 1)))[0], whole[first])


# Source images.


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_no_source_image_is_in_two_splits(variant, parameters):
    task = Composites(variant, parameters)
    used = [
        set(task.source_images(task.render(propose_all(task, split.name, 40))).tolist())
        for split in task.splits
    ]
    for one, other in itertools.combinations(used, 2):
        assert one and not one & other


def test_source_images_count_every_quadrant_but_empty_ones():
    for variant, shown in (("main", 4), ("top-if-above", 2)):
        task = Composites(variant)
        block = propose_all(task)
        assert len(task.source_images(task.render(block))) == shown * len(block)
    task = Composites(
        "main", {"indicator_source": "folder:pictures", "target_source": "folder:pictures"}
    )
    codes = task.source_images(task.render(propose_all(task)))
    assert set((codes >> np.uint64(32)).tolist()) == {0}


def test_a_missing_source_is_an_error_and_known_beforehand(tmp_path):
    task = Composites()
    columns = task.render(propose_all(task))
    assert task.has_sources()
    with source_dir(tmp_path):
        assert not task.has_sources()
        for ask in (lambda: task.tables, lambda: propose_all(task)):
            with pytest.raises(UsageError, match="MNIST is missing"):
                ask()
        # What needs no image goes on.
        assert len(task.source_images(columns)) and len(task.parse(columns)) and task.columns


def changed(task, row, **values):
    """The columns of a few rows, with one quadrant of row 3 changed."""
    rows = rows_of(task, propose_all(task))[:8]
    rows[3]["quadrants"][row].update(values)
    columns = pa.Table.from_pylist(rows, arrow_schema(task.columns)).to_batches()[0]
    return {name: columns[name] for name in columns.schema.names}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kind": "ring"}, "unknown kind of quadrant 'ring'"),
        ({"kind": None}, "unknown kind of quadrant"),
        ({"color": "mauve"}, "unknown colour 'mauve'"),
        ({"color": None}, "color is missing from a quadrant"),
        ({"class": None}, "class is missing"),
        ({"source_index": None}, "source_index is missing"),
        ({"rgb": [1, 2]}, "rgb does not have three channels"),
        ({"rgb": None}, "rgb is missing"),
        ({"class": -2}, "below 0"),
        ({"source_index": -1}, "below 0"),
        ({"kind": "cifar"}, "variant main has no quadrants cifar, fashion, fashion, mnist"),
        ({"kind": "empty"}, "given for an empty one"),
    ],
)
def test_a_quadrant_that_cannot_be_is_refused(values, said):
    task = Composites()
    with pytest.raises(ValueError, match=said):
        task.parse(changed(task, 0, **values))


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_row_without_four_quadrants_is_refused(count):
    task = Composites()
    rows = rows_of(task, propose_all(task))[:2]
    rows[1]["quadrants"] = (rows[1]["quadrants"] * 2)[:count]
    column = pa.Table.from_pylist(rows, arrow_schema(task.columns))["quadrants"].chunk(0)
    with pytest.raises(ValueError, match="four quadrants"):
        task.parse({"quadrants": column})
