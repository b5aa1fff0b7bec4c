"""Composites: what people see, and whole datasets from generation to loading."""

import re
import shutil

import numpy as np
import pytest
from PIL import Image

import synthbench
from synthbench.errors import UsageError
from synthbench.tasks.composites.drawing import draw_sheet
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.describe import draw_row
from synthbench.tasks.images import png
from synthbench.tasks.images.source_dirs import use_source_dir
from tests import making
from tests.tasks.blocks import assert_rows_and_levels, propose_all, rows_of
from tests.tasks.composites.making import (
    NOTHING,
    REAL,
    VARIANTS,
    WORKED,
    fashion,
    needs_real,
    pixels_by_hand,
    source_dir,
)

pytestmark = pytest.mark.slow

# What people see.


def test_a_row_is_drawn_in_words():
    task = Composites("color-or-fashion")
    quadrants = WORKED[11][1]
    row = {"quadrants": quadrants, **task.recompute_columns({"quadrants": quadrants})}
    assert str(draw_row(task, row)).splitlines() == [
        "Same digit: what is at top-right? Else: in which colour?",
        "green 2     | [pink Coat]",
        "red Bag     | gray 1",
        "different digits -> top-right -> pink",
    ]
    above = [NOTHING, fashion("Bag"), NOTHING, fashion("Coat")]
    task = Composites("top-if-above")
    drawn = draw_row(task, {"quadrants": above, **task.recompute_columns({"quadrants": above})})
    assert str(drawn).splitlines()[1:] == [
        "-     | [Bag]",
        "-     | Coat",
        "same column -> top-right -> Bag",
    ]


@pytest.mark.parametrize("count", [1, 5, 7])
def test_a_sheet_shows_every_image_with_its_deciding_quadrant_framed(tmp_path, count):
    task = Composites("no-position")
    rows = rows_of(task, propose_all(task))[::11][:count]
    draw_sheet(task, rows, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as opened:
        sheet = np.asarray(opened.convert("RGB")).astype(int)
    framed = (sheet == (0, 170, 60)).all(axis=2)
    # A frame of 112 pixels, three pixels wide, around each deciding quadrant.
    assert framed.sum() == count * (112**2 - 106**2)
    lines = -(-count // 5)
    for number, row in enumerate(rows):
        upper, left = len(sheet) - (lines - number // 5) * 294, 16 + number % 5 * 240
        shown = png.decode(row["image"]["bytes"]).repeat(4, axis=0).repeat(4, axis=1)
        panel, frame = (part[upper : upper + 224, left : left + 224] for part in (sheet, framed))
        assert np.array_equal(panel[~frame], shown[~frame])
        line, column = 112 * (row["selected"] // 2), 112 * (row["selected"] % 2)
        assert frame[line, column : column + 112].all() and not frame[line + 50, column + 50]


# Whole journeys.


def make(out, variant=None, **arguments):
    rows = {"train": 60, "validation": 20, "test": 40}
    return making.make(out, "composites", variant=variant, rows=rows, **arguments)


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_keeps_the_promises_of_rows_and_levels(variant, tmp_path):
    """Those of the first one's datasets are checked in `test_check`."""
    assert_rows_and_levels(synthbench.task("composites", variant), tmp_path)


def test_a_dataset_of_all_variants_loads_with_images_and_names(tmp_path):
    import datasets

    manifest = make(tmp_path / "all", "all")
    assert sorted(manifest.tables["sources"]) == ["cifar", "fashion", "mnist"]
    assert synthbench.verify(tmp_path / "all", progress=False).ok
    for variant in VARIANTS:
        splits = manifest.variants[variant]
        assert set(splits["train"].buckets.values()) == {3}
        loaded = datasets.load_dataset(
            str(tmp_path / "all"), variant, cache_dir=str(tmp_path / "cache")
        )
        task = Composites(variant)
        row = loaded["train"][0]
        assert isinstance(row["image"], Image.Image) and row["image"].size == (56, 56)
        assert loaded["train"].features["label"].names == list(task.label_names)
        derived = task.recompute_columns(row)
        assert {name: row[name] for name in derived} == derived
        assert np.array_equal(np.asarray(row["image"]), pixels_by_hand(task, row))


def test_other_source_images_are_noticed(tmp_path, sources):
    make(tmp_path / "made")
    shutil.copytree(sources, tmp_path / "other")
    file = tmp_path / "other/FashionMNIST/raw/train-images-idx3-ubyte"
    data = bytearray(file.read_bytes())
    data[16:] = bytes(255 - byte for byte in data[16:])
    file.write_bytes(bytes(data))
    with use_source_dir(tmp_path / "other"):
        verdict = synthbench.verify(tmp_path / "made", progress=False)
    assert not verdict.ok
    text = str(verdict)
    assert re.search(r"fashion.*sha256", text) and "train-00000" in text
    with source_dir(tmp_path / "other"), pytest.raises(UsageError, match="another dataset"):
        make(tmp_path / "made")


def test_the_card_shows_a_contact_sheet_of_each_variant(tmp_path):
    from PIL import Image

    make(tmp_path / "made", ["main", "top-if-above"])
    card = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    for variant in ("main", "top-if-above"):
        assert f"(sheets/{variant}.png)" in card
        with Image.open(tmp_path / "made" / "sheets" / f"{variant}.png") as sheet:
            assert sheet.width > 5 * 56 and sheet.height > 2 * 56


@needs_real
@pytest.mark.parametrize(
    ("variant", "parameters"),
    [("main", {}), ("cifar", {"indicator_source": "folder:cifar10-jpeg"}), ("same-color", {})],
)
def test_rows_of_real_images_verify(tmp_path, variant, parameters):
    with source_dir(REAL):
        make(tmp_path / "real", variant, parameters=parameters)
        verdict = synthbench.verify(tmp_path / "real", workers=1, progress=False)
        assert verdict.ok, str(verdict)
        sheet = tmp_path / "sheet.png"
        task = Composites(variant, parameters)
        draw_sheet(task, rows_of(task, propose_all(task, n=1))[:10], sheet)
        assert sheet.stat().st_size > 10_000
