"""Composites: the plain solver on the paper's drawings, and the generator against it."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from synthbench.tasks.base import Block
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.describe import draw_row
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.images import png
from synthbench.verification.conformance.rows import check_buckets
from tests.tasks.blocks import assert_sound, ids, propose, propose_all, rows_of
from tests.tasks.composites.making import (
    ALL,
    NOTHING,
    VARIANTS,
    WORKED,
    cifar,
    digit,
    fashion,
)


@pytest.mark.parametrize(("variant", "quadrants", "outcome", "selected", "answer"), WORKED)
def test_rows_as_the_paper_draws_them_are_solved(variant, quadrants, outcome, selected, answer):
    task = Composites(variant)
    assert task.solve(quadrants) == answer
    assert task.recompute_columns({"quadrants": quadrants}) == {
        "label": task.label_names.index(str(answer)),
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
            task.recompute_columns({"quadrants": bad})
    column = pa.array([quadrants], arrow_schema(task.columns).field("quadrants").type)
    with pytest.raises(ValueError, match=f"variant {variant} has no quadrants"):
        task.parse({"quadrants": column})


# The generator against the solver.


@pytest.mark.parametrize(("variant", "parameters"), ALL)
def test_rows_of_any_sources_are_sound_score_their_own_answer_and_can_be_drawn(variant, parameters):
    task = Composites(variant, parameters)
    for split in task.splits:
        blocks = {bucket: propose(task, split.name, 3, bucket) for bucket in split.buckets}
        assert all(check_buckets(task, block, bucket) == [] for bucket, block in blocks.items())
        block = Block.concatenate([*blocks.values()])
        for row in assert_sound(task, block):
            assert str(draw_row(task, row)).count("[") == 1
            for answer in (row["label"], task.solve(row["quadrants"])):
                assert task.score(row, answer) == 1
        # Slices, as a reader of row groups gets them, and no rows at all.
        for part in (slice(3, 11), slice(0)):
            columns = {name: column[part] for name, column in task.render(block).items()}
            assert ids(task, task.parse(columns)) == ids(task, block)[part]


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_say_what_the_files_say(variant):
    task = Composites(variant)
    block = propose_all(task)
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
        block = propose_all(task, split.name, n=1)
        digest.update(task.content(block).tobytes())
        digest.update(task.pixels(block).tobytes())
    assert digest.hexdigest()[:16] == GOLDEN[variant]
