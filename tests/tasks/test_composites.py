"""Composites: the generator against the plain solver, the images, the files, and the scores."""

import collections
import contextlib
import hashlib
import io
import itertools
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from synthbench import png
from synthbench.errors import DatasetError, ParameterError, UsageError
from synthbench.features import arrow_schema
from synthbench.planning import make_plan
from synthbench.seeding import Draws
from synthbench.tasks import images
from synthbench.tasks.base import Block
from synthbench.tasks.composites import Composites
from synthbench.tasks.composites_rules import COLORS, DESIGNS, TEN_COLORS, decide
from synthbench.tasks.quadrants import KINDS, to_arrow
from tests.tasks.blocks import ids, rows_of, table
from tests.tasks.tiny_sources import TRAINING, write_sources, write_tree

VARIANTS = list(Composites.variants)
ONE_FOLDER = [
    *[(variant, {"target_source": "folder:pictures"}) for variant in VARIANTS],
    *[(v, {"indicator_source": "folder:pictures"}) for v in VARIANTS if v != "top-if-above"],
    ("cifar", {"indicator_source": "folder:split"}),
    ("cifar", {"digit_source": "folder:pictures"}),
]
TWO_FOLDERS = [
    (variant, {"indicator_source": "folder:pictures", "target_source": "folder:split"})
    for variant in ("main", "same-color", "color-or-fashion", "digit-grouping")
]
ALL = [*[(variant, {}) for variant in VARIANTS], *ONE_FOLDER, *TWO_FOLDERS]
REAL = os.environ.get("SYNTHBENCH_DATA")
needs_real = pytest.mark.skipif(
    not REAL or not Path(REAL, "cifar10-jpeg").is_dir(),
    reason="SYNTHBENCH_DATA does not name a directory with the real MNIST, Fashion-MNIST and "
    "cifar10-jpeg",
)


@pytest.fixture(scope="module", autouse=True)
def sources(tmp_path_factory):
    """Small sources for every test of this file that does not ask for the real ones."""
    root = write_sources(tmp_path_factory.mktemp("sources"))
    with source_dir(root):
        yield root


@contextlib.contextmanager
def source_dir(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTHBENCH_DATA", str(path))
        yield


def propose(task, split="train", n=8, bucket=None, block=0):
    split = task.split(split)
    bucket = split.buckets[0] if bucket is None else bucket
    return task.propose(Draws({"test": bucket}, block), n, split, bucket)


def mixed(task, split="train", n=4):
    """Rows of every bucket."""
    return Block.concatenate(
        [propose(task, split, n, bucket) for bucket in task.split(split).buckets]
    )


def quadrant(kind, name, color, index=0):
    """A quadrant as a row lists it, its class by name."""
    if kind == "empty":
        return dict.fromkeys(["kind", "class", "color", "rgb", "source_index"]) | {"kind": kind}
    label = images.CLASSES[kind].index(name)
    return {
        "kind": kind,
        "class": label,
        "color": color,
        "rgb": list(COLORS[color]),
        "source_index": index,
    }


def digit(name, color="red"):
    return quadrant("mnist", str(name), color)


def fashion(name, color="white"):
    return quadrant("fashion", name, color)


def cifar(name):
    return quadrant("cifar", name, "white")


NOTHING = quadrant("empty", "", "")

# The schematics of the paper's figures 1(a), 7(b) and 15: variant, quadrants, outcome, deciding
# quadrant, label.
WORKED = [
    ("main", [digit(1), fashion("Bag"), fashion("Dress"), digit(1, "blue")], True, 1, "Bag"),
    ("main", [digit(2), fashion("Bag"), fashion("Dress"), digit(1)], False, 2, "Dress"),
    ("no-position", [fashion("Coat"), digit(2), digit(2), fashion("Bag")], True, 0, "Coat"),
    ("no-position", [digit(1), fashion("Coat"), digit(2), fashion("Bag")], False, 3, "Bag"),
    (
        "cifar",
        [cifar("bird"), digit(9), cifar("bird"), fashion("Shirt", "blue")],
        True,
        3,
        "Shirt or 6",
    ),
    (
        "cifar",
        [digit(9), cifar("automobile"), fashion("Shirt", "red"), cifar("bird")],
        False,
        0,
        "Ankle boot or 9",
    ),
    ("top-if-above", [NOTHING, fashion("Bag"), NOTHING, fashion("Coat")], True, 1, "Bag"),
    ("top-if-above", [NOTHING, fashion("Bag"), fashion("Coat"), NOTHING], False, 2, "Coat"),
    ("same-color", [digit(7), digit(3, "blue"), digit(0), digit(4)], True, 1, "3"),
    ("same-color", [digit(7), digit(3), digit(0), digit(7, "blue")], False, 2, "0"),
    (
        "color-or-fashion",
        [digit(1, "pink"), fashion("Trouser", "gray"), fashion("Bag", "red"), digit(1, "blue")],
        True,
        1,
        "Trouser or blue",
    ),
    (
        "color-or-fashion",
        [digit(2, "green"), fashion("Coat", "pink"), fashion("Bag", "red"), digit(1, "gray")],
        False,
        1,
        "Bag or pink",
    ),
    ("digit-grouping", [digit(1), fashion("Bag"), fashion("Coat"), digit(2)], True, 1, "Bag"),
    ("digit-grouping", [digit(4), fashion("Bag"), fashion("Coat"), digit(3)], True, 1, "Bag"),
    ("digit-grouping", [digit(2), fashion("Bag"), fashion("Coat"), digit(3)], False, 2, "Coat"),
]


@pytest.mark.parametrize(("variant", "quadrants", "outcome", "selected", "answer"), WORKED)
def test_rows_as_the_paper_draws_them_are_solved(variant, quadrants, outcome, selected, answer):
    task = Composites(variant)
    assert task.solve(quadrants) == answer
    assert task.derive({"quadrants": quadrants}) == {
        "label": task.label_names.index(answer),
        "outcome": outcome,
        "selected": selected,
    }


@pytest.mark.parametrize(
    ("variant", "quadrants"),
    [
        ("main", [digit(1), fashion("Bag"), digit(1), digit(1)]),
        ("main", [fashion("Bag"), digit(1), digit(1), fashion("Bag")]),
        ("no-position", [digit(1), digit(1), fashion("Bag"), fashion("Bag")]),
        ("cifar", [digit(1), digit(1), cifar("bird"), cifar("bird")]),
        ("top-if-above", [NOTHING, NOTHING, fashion("Bag"), fashion("Bag")]),
        ("same-color", [digit(1), fashion("Bag"), digit(1), digit(1)]),
    ],
)
def test_rows_of_another_form_are_refused(variant, quadrants):
    task = Composites(variant)
    if variant != "same-color":
        with pytest.raises(ValueError, match="kind"):
            bad = [*quadrants[1:], quadrants[0]] if variant == "main" else quadrants
            task.derive({"quadrants": bad})
    column = pa.array([quadrants], arrow_schema(task.columns).field("quadrants").type)
    with pytest.raises(ValueError, match=f"none of variant {variant}"):
        task.parse({"quadrants": column})


# The generator against the solver.


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ALL), st.sampled_from(["train", "validation", "test"]), st.data())
def test_what_is_drawn_is_what_the_solver_derives(chosen, split, data):
    variant, parameters = chosen
    task = Composites(variant, parameters)
    bucket = data.draw(st.sampled_from(task.split(split).buckets))
    block = propose(task, split, 6, bucket, block=data.draw(st.integers(0, 50)))
    assert len(block) == 6
    columns = task.render(block)
    assert (task.buckets(columns) == bucket).all()
    for row in rows_of(task, block):
        derived = task.derive(row)
        assert {name: row[name] for name in derived} == derived
        assert task.solve(row["quadrants"]) == task.label_names[row["label"]]
        assert task.bucket_label(bucket).startswith("true " if row["outcome"] else "false ")


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_what_is_read_again_has_the_same_content(variant, parameters):
    task = Composites(variant, parameters)
    block = mixed(task)
    content = task.content(block)
    assert np.array_equal(task.content(task.parse(task.render(block))), content)
    assert len(set(ids(task, block))) == len(block)
    assert (content[:, -1] == 1).all()
    # Sliced, as a reader of row groups gets them.
    part = {name: column[3:11] for name, column in task.render(block).items()}
    assert np.array_equal(task.content(task.parse(part)), content[3:11])


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_columns_have_the_types_they_declare(variant, parameters):
    task = Composites(variant, parameters)
    rendered = table(task, mixed(task))
    rendered.validate(full=True)
    assert rendered.schema.names == ["image", "label", "outcome", "selected", "quadrants"]
    assert rendered["image"].chunk(0).field("path").null_count == len(rendered)


def test_no_rows_are_rendered_and_read_too():
    task = Composites()
    columns = task.render(propose(task).take(np.zeros(0, np.int64)))
    assert all(len(column) == 0 for column in columns.values())
    assert len(task.parse(columns)) == 0 and task.check_sources(columns) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_say_what_the_files_say(variant):
    task = Composites(variant)
    block = mixed(task)
    arrays = task.arrays(block)
    assert arrays["image"].dtype == np.uint8 and arrays["image"].shape == (len(block), 56, 56, 3)
    for number, row in enumerate(rows_of(task, block)):
        assert np.array_equal(arrays["image"][number], png.decode(row["image"]["bytes"]))
        for name in ("label", "outcome", "selected"):
            assert arrays[name][number] == row[name]
        for place, quadrant in enumerate(row["quadrants"]):
            fields = arrays["quadrants"][number, place]
            absent = {"class": -1, "color": "", "rgb": [0, 0, 0], "source_index": -1}
            expected = absent | {k: v for k, v in quadrant.items() if v is not None}
            assert {k: np.asarray(fields[k]).tolist() for k in expected} == expected


#: A change here changes every dataset: it needs an entry in the changelog.
GOLDEN = {
    "main": "2a7a81e83903dcd8",
    "no-position": "81bdb02214d9a937",
    "cifar": "269e76271ad2b41b",
    "top-if-above": "af2e136c01ea7c58",
    "same-color": "f92c1975f6b3f044",
    "color-or-fashion": "942eb12fd6206134",
    "digit-grouping": "bd900c3c65d0a7a9",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_never_change(variant):
    task = Composites(variant)
    digest = hashlib.sha256()
    for split in task.splits:
        block = mixed(task, split.name, n=1)
        digest.update(task.content(block).tobytes())
        digest.update(task.pixels(block).tobytes())
    assert digest.hexdigest()[:16] == GOLDEN[variant]


def test_the_global_random_state_neither_matters_nor_moves():
    task = Composites("no-position")
    np.random.seed(1)
    first = ids(task, mixed(task))
    before = np.random.get_state()[1].tolist()
    np.random.seed(2)
    assert ids(task, mixed(task)) == first
    np.random.seed(1)
    assert np.random.get_state()[1].tolist() == before


def test_a_task_pickles_and_equals_its_copy():
    task = Composites("cifar", {"indicator_source": "folder:split", "p_first": 0.65}, seed=3)
    task.pixels(mixed(task))
    copy = pickle.loads(pickle.dumps(task))
    assert copy.parameters == task.parameters and copy.seed == 3 and copy.variant == "cifar"
    assert ids(copy, mixed(copy)) == ids(task, mixed(task))
    assert len(pickle.dumps(task)) < 1000


# What is drawn how often.


def test_facts_name_the_parts_where_their_places_are_fixed():
    task = Composites("main")
    row = rows_of(task, mixed(task, n=1))[0]
    places = ("top-left", "top-right", "bottom-left", "bottom-right")
    parts = ("indicator", "target", "target", "indicator")
    names = [f"{part} ({place})" for part, place in zip(parts, places, strict=True)]
    facts = task.facts(row)
    assert list(facts) == ["label", "outcome", "selected", *names]
    assert (facts[names[0]] == facts[names[3]]) == row["outcome"] == facts["outcome"]
    task = Composites("cifar")
    assert set(places) < set(task.facts(rows_of(task, mixed(task, n=1))[0]))


def test_facts_hold_the_colours_where_these_are_compared():
    task = Composites("same-color")
    for row in rows_of(task, mixed(task, n=2)):
        facts = task.facts(row)
        colors = [facts[f"indicator ({place}), colour"] for place in ("top-left", "bottom-right")]
        assert (colors[0] == colors[1]) == row["outcome"]


def proportions(values):
    counts = collections.Counter(values)
    return {value: count / counts.total() for value, count in counts.items()}


def near(observed, expected, tolerance=0.03):
    assert set(observed) == set(expected)
    for value, share in expected.items():
        assert abs(observed[value] - share) < tolerance, (value, observed)


@pytest.mark.parametrize(
    ("variant", "same", "different"),
    [
        ("main", [(1, 1), (2, 2)], [(1, 2), (2, 1)]),
        ("color-or-fashion", [(1, 1), (2, 2)], [(1, 2), (2, 1)]),
        (
            "digit-grouping",
            [*itertools.product((1, 2), repeat=2), *itertools.product((3, 4), repeat=2)],
            [*itertools.product((1, 2), (3, 4)), *itertools.product((3, 4), (1, 2))],
        ),
    ],
)
def test_indicator_classes_are_uniform_given_the_outcome(variant, same, different):
    task = Composites(variant)
    for bucket, pairs in ((3, same), (13, different)):
        classes = propose(task, n=4000, bucket=bucket)["class"]
        observed = proportions(zip(classes[:, 0].tolist(), classes[:, 3].tolist(), strict=True))
        near(observed, dict.fromkeys(pairs, 1 / len(pairs)))


def test_indicators_of_same_color_have_any_class_and_the_colours_decide():
    task = Composites("same-color")
    for bucket in (3, 13):
        block = propose(task, n=4000, bucket=bucket)
        near(proportions(block["class"][:, 0].tolist()), dict.fromkeys(range(10), 0.1))
        same = block["color"][:, 0] == block["color"][:, 3]
        assert same.all() if bucket < 10 else not same.any()
        near(proportions(block["color"][:, 0].tolist()), {1: 0.5, 4: 0.5})


@pytest.mark.parametrize("variant", VARIANTS)
def test_colours_are_uniform_over_those_of_the_design(variant):
    task, design = Composites(variant), DESIGNS[variant]
    block = propose(task, n=4000, bucket=5)
    names = [*COLORS]
    indicator = block["kind"] == KINDS.index(design.indicators)
    if design.indicators != "empty" and variant != "same-color":
        observed = proportions(names[code] for code in block["color"][indicator].tolist())
        near(observed, dict.fromkeys(design.indicator_colors, 1 / len(design.indicator_colors)))
        target = (block["kind"] > 0) & ~indicator
        observed = proportions(names[code] for code in block["color"][target].tolist())
        near(observed, dict.fromkeys(design.target_colors, 1 / len(design.target_colors)))


def test_the_other_target_has_any_class():
    task = Composites()
    for bucket, other in ((3, 2), (13, 1)):
        classes = propose(task, n=4000, bucket=bucket)["class"]
        near(proportions(classes[:, other].tolist()), dict.fromkeys(range(10), 0.1))
        assert (classes[:, 3 - other] == 3).all()


def test_parts_lie_where_their_variant_puts_them_equally_often():
    block = propose(Composites("cifar"), n=6000, bucket=5)
    near(
        proportions(map(tuple, block["kind"].tolist())),
        dict.fromkeys(set(itertools.permutations([3, 3, 2, 1])), 1 / 12),
    )
    for bucket in (5, 15):
        kinds = propose(Composites("no-position"), n=4000, bucket=bucket)["kind"]
        rows = list(itertools.product([(1, 2), (2, 1)], repeat=2))
        near(
            proportions(map(tuple, kinds.tolist())),
            dict.fromkeys([above + below for above, below in rows], 1 / 4),
        )
    kinds = propose(Composites("top-if-above"), n=4000, bucket=5)["kind"]
    near(proportions(map(tuple, kinds.tolist())), {(2, 0, 2, 0): 0.5, (0, 2, 0, 2): 0.5})
    kinds = propose(Composites("top-if-above"), n=4000, bucket=15)["kind"]
    near(proportions(map(tuple, kinds.tolist())), {(2, 0, 0, 2): 0.5, (0, 2, 2, 0): 0.5})


def test_every_image_of_a_split_is_used_alike():
    task = Composites()
    block = propose(task, "train", n=8000, bucket=5)
    counts = np.bincount(block["source_index"][:, 1], minlength=10 * TRAINING)
    pool = images.load("fashion").pool("train", range(10))
    own = pool.numbers[pool.start[5] :][: pool.size[5]]
    assert set(np.flatnonzero(counts)) == set(own)
    assert np.abs(counts[own] / 8000 - 1 / len(own)).max() < 0.02


def test_noise_is_normal_in_each_channel_on_its_own():
    task = Composites("color-or-fashion")
    blocks = [propose(task, n=4000, bucket=bucket) for bucket in (1, 4, 7)]
    block = Block.concatenate(blocks)
    gray = block["rgb"][block["color"] == TEN_COLORS.index("gray")].astype(float)
    assert len(gray) > 3000
    assert np.abs(gray.mean(axis=0) - 128).max() < 0.8
    assert np.abs(gray.std(axis=0) - 12.75).max() < 0.6
    assert np.abs(np.corrcoef(gray.T) - np.eye(3)).max() < 0.06
    # The quadrants of a row have noise of their own.
    deviation = block["rgb"].astype(float) - np.array(list(COLORS.values()))[block["color"]]
    assert np.abs(np.corrcoef(deviation[:, :, 1].T) - np.eye(4)).max() < 0.06


def test_colours_are_clipped_and_without_noise_exact():
    task = Composites("main", {"noise": 0.0})
    block = mixed(task)
    assert np.array_equal(block["rgb"], np.array(list(COLORS.values()))[block["color"]])
    noisy = mixed(Composites())
    assert set(noisy["rgb"][noisy["color"] == 10].ravel() > 200) == {True}
    assert (noisy["rgb"][noisy["color"] == 10] == 255).mean() > 0.4


def test_buckets_are_equally_filled_and_p_first_shifts_the_outcomes():
    for variant in VARIANTS:
        plan = make_plan(Composites(variant), {"train": 6000, "validation": 500, "test": 1000})
        assert set(plan.quotas["train"].values()) == {300}
        plan = make_plan(
            Composites(variant, {"p_first": 0.65}), {"train": 6000, "validation": 100, "test": 1000}
        )
        assert [plan.quotas["train"][bucket] for bucket in (0, 9, 10, 19)] == [390, 390, 210, 210]
        assert sum(plan.quotas["validation"][bucket] for bucket in range(10)) == 65


def test_p_first_changes_nothing_else():
    plain, shifted = Composites(seed=5), Composites(parameters={"p_first": 0.65}, seed=5)
    assert plain.stream == shifted.stream != Composites(seed=6).stream
    assert ids(plain, mixed(plain)) == ids(shifted, mixed(shifted))


def test_where_a_tree_lies_changes_nothing(sources, tmp_path):
    shutil.copytree(sources / "split", tmp_path / "elsewhere")
    here = Composites("cifar", {"indicator_source": "folder:split"})
    there = Composites("cifar", {"indicator_source": f"folder:{tmp_path / 'elsewhere'}"})
    assert here.stream == there.stream
    assert np.array_equal(here.pixels(mixed(here)), there.pixels(mixed(there)))
    described = [list(task.tables["sources"].values()) for task in (here, there)]
    assert described[0] == described[1]


# Pixels.


def pixels_by_hand(task, row):
    """The image of one row, pixel by pixel."""
    image = np.zeros((56, 56, 3), int)
    for place, part in enumerate(row["quadrants"]):
        if part["kind"] == "empty":
            continue
        spec = part["kind"]
        if spec == "folder":
            spec = task.parts.specs[0 if place in (0, 3) else 2]
            if task.design.layout != "fixed":
                spec = next(spec for spec in task.parts.specs if spec.startswith("folder"))
        source = images.load(spec).pixels[part["source_index"]]
        for line, column, channel in itertools.product(range(28), range(28), range(3)):
            grey = source[line, column] if source.ndim == 2 else source[line, column, channel]
            # Rounded to the nearest; 255 is odd, so that there are no ties.
            value = (int(grey) * part["rgb"][channel] + 127) // 255
            image[28 * (place // 2) + line, 28 * (place % 2) + column, channel] = value
    return image


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_every_pixel_is_the_source_s_times_the_colour(variant, parameters):
    task = Composites(variant, parameters)
    rows = rows_of(task, mixed(task, "test", 1))
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


# What `verify` asks.


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_no_source_image_is_in_two_splits(variant, parameters):
    task = Composites(variant, parameters)
    used = [
        set(task.source_images(task.render(mixed(task, split.name, 40))).tolist())
        for split in task.splits
    ]
    for one, other in itertools.combinations(used, 2):
        assert one and not one & other


def test_source_images_count_every_quadrant_but_empty_ones():
    for variant, shown in (("main", 4), ("top-if-above", 2)):
        task = Composites(variant)
        block = mixed(task)
        assert len(task.source_images(task.render(block))) == shown * len(block)
    task = Composites(
        "main", {"indicator_source": "folder:pictures", "target_source": "folder:pictures"}
    )
    assert set((task.source_images(task.render(mixed(task))) >> np.uint64(32)).tolist()) == {0}


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_untouched_rows_have_the_pixels_of_their_sources(variant, parameters):
    task = Composites(variant, parameters)
    assert task.has_sources()
    assert task.check_sources(task.render(mixed(task))) == []


def changed(task, row, **values):
    """The columns of a few rows, with one quadrant of row 3 changed."""
    rows = rows_of(task, mixed(task))[:8]
    rows[3]["quadrants"][row].update(values)
    columns = pa.Table.from_pylist(rows, arrow_schema(task.columns)).to_batches()[0]
    return {name: columns[name] for name in columns.schema.names}


def test_a_row_that_is_not_what_its_sources_give_is_found():
    task = Composites()
    rows = rows_of(task, mixed(task))
    part = rows[3]["quadrants"][0]
    for values in (
        {"class": 3 - part["class"]},
        {"source_index": (part["source_index"] + 1) % 100},
        {"source_index": 10**6},
        {"rgb": [part["rgb"][0] ^ 64, *part["rgb"][1:]]},
    ):
        assert task.check_sources(changed(task, 0, **values)) == [3], values


def with_files(task, change):
    """Columns of a few rows, with the image file of row 2 changed."""
    block = mixed(task).take(slice(0, 5))
    files = task.render(block)["image"].field("bytes").to_pylist()
    files[2] = change(files[2])
    encoded = pa.StructArray.from_arrays(
        [pa.array(files, pa.binary()), pa.nulls(5, pa.string())], names=["bytes", "path"]
    )
    return {**task.render(block), "image": encoded}


def test_another_encoder_changes_nothing_but_another_pixel_does():
    task = Composites()

    def again(file):
        packed = io.BytesIO()
        Image.fromarray(png.decode(file)).save(packed, "PNG")
        return packed.getvalue()

    def repainted(file):
        pixels = png.decode(file).copy()
        pixels[55, 55, 2] ^= 1
        return png.encode(pixels[None])[0].as_py()

    assert task.check_sources(with_files(task, again)) == []
    for change in (repainted, lambda file: file[:-20], lambda file: b"", lambda file: None):
        assert task.check_sources(with_files(task, change)) == [2]


def test_a_missing_source_is_an_error_and_known_beforehand(tmp_path):
    task = Composites()
    columns = task.render(mixed(task))
    with source_dir(tmp_path):
        assert not task.has_sources()
        for ask in (lambda: task.check_sources(columns), lambda: task.tables, lambda: mixed(task)):
            with pytest.raises(UsageError, match="MNIST is missing"):
                ask()
        # What needs no image goes on.
        assert len(task.source_images(columns)) and len(task.parse(columns)) and task.columns


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kind": "ring"}, "'ring' is no kind of quadrant"),
        ({"kind": None}, "is no kind of quadrant"),
        ({"color": "mauve"}, "'mauve' is no colour"),
        ({"color": None}, "color is missing from a quadrant"),
        ({"class": None}, "class is missing"),
        ({"source_index": None}, "source_index is missing"),
        ({"rgb": [1, 2]}, "rgb has not three channels"),
        ({"rgb": None}, "rgb is missing"),
        ({"class": -2}, "below 0"),
        ({"source_index": -1}, "below 0"),
        ({"kind": "cifar"}, "cifar, fashion, fashion, mnist are none of variant main"),
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
    rows = rows_of(task, mixed(task))[:2]
    rows[1]["quadrants"] = (rows[1]["quadrants"] * 2)[:count]
    column = pa.Table.from_pylist(rows, arrow_schema(task.columns))["quadrants"].chunk(0)
    with pytest.raises(ValueError, match="four quadrants"):
        task.parse({"quadrants": column})


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"p_first": 0.0}, r"p_first=0\.0: allowed are numbers between 0 and 1"),
        ({"p_first": 1}, r"p_first=1\.0"),
        ({"p_first": "nan"}, "p_first=nan"),
        ({"p_first": "half"}, "p_first='half': expected a number"),
        ({"noise": -0.1}, r"noise=-0\.1: allowed are 0 to 1"),
        ({"noise": "inf"}, "noise=inf"),
        ({"target_source": "mnist"}, "target_source='mnist': allowed are torchvision and folder"),
        ({"indicator_source": "folder:"}, "indicator_source='folder:': allowed"),
        ({"digit_source": "folder:x"}, "digit_source='folder:x': variant main has no such images"),
        ({"colour": "red"}, "Unknown parameter 'colour'"),
    ],
)
def test_impossible_parameters_are_refused(parameters, said):
    with pytest.raises((ParameterError, UsageError), match=said):
        Composites(parameters=parameters)


def test_sources_that_a_variant_does_not_use_or_could_not_tell_apart_are_refused():
    with pytest.raises(ParameterError, match="variant top-if-above has no such images"):
        Composites("top-if-above", {"indicator_source": "folder:pictures"})
    both = {"indicator_source": "folder:pictures", "target_source": "folder:split"}
    with pytest.raises(ParameterError, match="indicator_source and target_source: allowed is one"):
        Composites("no-position", both)
    with pytest.raises(ParameterError, match="target_source and digit_source: allowed is one"):
        Composites("cifar", {"target_source": "folder:a", "digit_source": "folder:b"})


def test_a_tree_with_too_few_classes_is_refused():
    task = Composites("digit-grouping", {"indicator_source": "folder:split"})
    with pytest.raises(DatasetError, match="class number 2 is needed, counted from 0"):
        mixed(task)


# Answers.


def test_labels_have_the_names_of_the_targets():
    assert Composites().label_names == images.CLASSES["fashion"]
    assert Composites("same-color").label_names == images.CLASSES["mnist"]
    assert Composites("cifar").label_names[9] == "Ankle boot or 9"
    assert Composites("color-or-fashion").label_names[:2] == (
        "T-shirt/top or brown",
        "Trouser or blue",
    )
    names = ("car", "dove", "train", "wren")
    assert Composites("main", {"target_source": "folder:pictures"}).label_names == names
    uneven = Composites("cifar", {"target_source": "folder:pictures"})
    assert uneven.label_names[3:5] == ("wren or 3", "4")
    buckets = uneven.splits[0].buckets
    assert buckets == (0, 10, 1, 11, 2, 12, 3, 13, *range(14, 20))
    weights = dict(zip(buckets, uneven.bucket_weights(uneven.splits[0]), strict=True))
    assert weights == dict.fromkeys(range(4), 0.125) | dict.fromkeys(range(10, 20), 0.05)
    assert uneven.bucket_label(3) == "true wren" and uneven.bucket_label(14) == "false 4"


@pytest.mark.parametrize(
    ("prediction", "accuracy"),
    [
        (8, 1.0),
        ("8", 1.0),
        ("Bag", 1.0),
        (" Bag\n", 1.0),
        (8.0, 1.0),
        (np.int64(8), 1.0),
        (7, 0.0),
        ("Coat", 0.0),
        ("bag", 0.0),
        (8.5, 0.0),
        (10, 0.0),
        (-1, 0.0),
        (None, 0.0),
        (True, 0.0),
        ([8], 0.0),
    ],
)
def test_answers_are_names_or_numbers_of_classes(prediction, accuracy):
    assert Composites().score({"label": 8}, prediction) == accuracy


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_s_own_answer_scores_one(variant):
    task = Composites(variant)
    for row in rows_of(task, mixed(task, n=1)):
        assert task.score(row, row["label"]) == task.score(row, task.solve(row["quadrants"])) == 1.0


@pytest.mark.parametrize(("variant", "p_first"), [*((v, 0.65) for v in VARIANTS), ("main", 0.2)])
def test_the_baseline_is_what_always_taking_the_likelier_target_gets(variant, p_first):
    task = Composites(variant, {"p_first": p_first})
    split = task.splits[0]
    reached = 0.0
    for bucket, weight in zip(split.buckets, task.bucket_weights(split), strict=True):
        block = propose(task, n=100, bucket=bucket)
        answers = [likelier_answer(task, row, p_first > 0.5) for row in to_arrow(block).to_pylist()]
        reached += weight * np.mean(np.array(answers) == block["label"])
    (baseline,) = task.baseline().values()
    assert abs(reached - baseline) < 0.02


def test_the_baseline_is_the_prior_and_chance_for_the_rest():
    for p_first, expected in ((0.5, 0.55), (0.65, 0.685), (0.2, 0.82)):
        baseline = Composites(parameters={"p_first": p_first}).baseline()
        assert baseline == {"solving only task 2": pytest.approx(expected)}


def likelier_answer(task, quadrants, first):
    """The answer of one who classifies well but never compares."""
    outcome, _, answer = decide(task.variant, task.parts.kinds[1:], quadrants)
    if outcome == first:
        return answer
    if task.variant == "color-or-fashion":
        shown = quadrants[1]
        return shown["class"] if first else TEN_COLORS.index(shown["color"])
    kinds = task.parts.kinds
    if task.variant == "cifar":
        wanted = kinds[2] if first else kinds[3]
        return next(part["class"] for part in quadrants if part["kind"] == wanted)
    if task.design.layout == "rows":
        rows = quadrants[:2] if first else quadrants[2:]
        return next(part["class"] for part in rows if part["kind"] == "fashion")
    return quadrants[1 if first else 2]["class"]


# What people see.


def test_a_row_is_drawn_in_words():
    task = Composites("color-or-fashion")
    quadrants = WORKED[11][1]
    row = {"quadrants": quadrants, **task.derive({"quadrants": quadrants})}
    assert task.draw(row).splitlines() == [
        "Same digit: what is at top-right? Else: in which colour?",
        "green 2     | [pink Coat]",
        "red Bag     | gray 1",
        "different digits -> top-right -> pink",
    ]
    above = [NOTHING, fashion("Bag"), NOTHING, fashion("Coat")]
    task = Composites("top-if-above")
    drawn = task.draw({"quadrants": above, **task.derive({"quadrants": above})})
    assert drawn.splitlines()[1:] == [
        "-     | [Bag]",
        "-     | Coat",
        "same column -> top-right -> Bag",
    ]


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_every_row_can_be_drawn(variant, parameters):
    task = Composites(variant, parameters)
    for row in rows_of(task, mixed(task, n=1)):
        assert task.draw(row).count("[") == 1


@pytest.mark.parametrize("count", [1, 5, 7])
def test_a_sheet_shows_every_image_with_its_deciding_quadrant_framed(tmp_path, count):
    task = Composites("no-position")
    rows = rows_of(task, mixed(task))[::11][:count]
    task.draw_sheet(rows, tmp_path / "sheet.png")
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
    import synthbench

    arguments = {"rows": {"train": 60, "validation": 20, "test": 40}, "workers": 1} | arguments
    return synthbench.generate(
        "composites", out=out, variant=variant, overwrite=False, progress=False, **arguments
    )


def digests(manifest):
    return {
        (variant, name): split.digest
        for variant, splits in manifest.variants.items()
        for name, split in splits.items()
    }


def test_workers_and_processes_change_no_row(tmp_path, sources):
    parameters = {"indicator_source": "folder:split"}
    alone = make(tmp_path / "one", "cifar", parameters=parameters)
    shared = make(tmp_path / "two", "cifar", parameters=parameters, workers=2, shard_rows=17)
    assert digests(alone) == digests(shared)
    command = [sys.executable, "-m", "synthbench.cli", "generate", "composites", "--quiet"]
    command += ["--variant", "cifar", "--set", "indicator_source=folder:split"]
    command += ["--rows", "train=60", "--rows", "validation=20", "--rows", "test=40"]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "SYNTHBENCH_DATA": "/nowhere"}
    command += ["--source-dir", str(sources), "--out", str(tmp_path / "three")]
    root = Path(__file__).parents[2]
    subprocess.run(command, check=True, env=environment, cwd=root, capture_output=True)
    there = json.loads((tmp_path / "three/manifest.json").read_text())
    splits = there["variants"]["cifar"]["splits"]
    assert {("cifar", name): split["digest"] for name, split in splits.items()} == digests(alone)


def test_a_dataset_of_all_variants_loads_with_images_and_names(tmp_path):
    import datasets

    import synthbench

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
        derived = task.derive(row)
        assert {name: row[name] for name in derived} == derived
        assert np.array_equal(np.asarray(row["image"]), pixels_by_hand(task, row))


def test_other_source_images_are_noticed(tmp_path, sources):
    import synthbench

    make(tmp_path / "made")
    shutil.copytree(sources, tmp_path / "other")
    file = tmp_path / "other/FashionMNIST/raw/train-images-idx3-ubyte"
    data = bytearray(file.read_bytes())
    data[16:] = bytes(255 - byte for byte in data[16:])
    file.write_bytes(bytes(data))
    verdict = synthbench.verify(tmp_path / "made", source_dir=tmp_path / "other", progress=False)
    assert not verdict.ok
    text = str(verdict)
    assert re.search(r"fashion.*sha256", text) and "train-00000" in text
    with source_dir(tmp_path / "other"), pytest.raises(UsageError, match="another dataset"):
        make(tmp_path / "made")


def test_a_dataset_is_verified_without_its_sources(tmp_path):
    import synthbench

    make(tmp_path / "made")
    with source_dir(tmp_path / "nothing"):
        verdict = synthbench.verify(tmp_path / "made", progress=False)
    assert verdict.ok, str(verdict)


def test_fresh_rows_stream_in_the_split_s_balance():
    import synthbench

    (batch, other) = itertools.islice(
        synthbench.stream("composites", split="train", seed=1, batch_size=200), 2
    )
    assert batch["image"].shape == (200, 56, 56, 3) and batch["image"].dtype == np.uint8
    assert not set(batch["id"]) & set(other["id"])


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
    import synthbench

    with source_dir(REAL):
        make(tmp_path / "real", variant, parameters=parameters)
        verdict = synthbench.verify(tmp_path / "real", workers=1, progress=False)
        assert verdict.ok, str(verdict)
        sheet = tmp_path / "sheet.png"
        task = Composites(variant, parameters)
        task.draw_sheet(rows_of(task, mixed(task, n=1))[:10], sheet)
        assert sheet.stat().st_size > 10_000
