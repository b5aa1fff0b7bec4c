"""Composites: the plain solver on the paper's drawings, and the generator against it."""

import hashlib
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.tasks.composites.task import Composites
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.images import png
from tests.tasks.blocks import ids, rows_of, table
from tests.tasks.composites.making import (
    ALL,
    NOTHING,
    VARIANTS,
    WORKED,
    cifar,
    digit,
    fashion,
    mixed,
    propose,
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


@settings(max_examples=30, deadline=None)
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
        derived = task.recompute_columns(row)
        assert {name: row[name] for name in derived} == derived
        assert str(task.solve(row["quadrants"])) == task.label_names[row["label"]]
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
    assert len(task.parse(columns)) == 0


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


def test_a_task_pickles_and_equals_its_copy():
    task = Composites("cifar", {"indicator_source": "folder:split", "p_first": 0.65}, seed=3)
    task.pixels(mixed(task))
    copy = pickle.loads(pickle.dumps(task))
    assert copy.parameters == task.parameters and copy.seed == 3 and copy.variant == "cifar"
    assert ids(copy, mixed(copy)) == ids(task, mixed(task))
    assert len(pickle.dumps(task)) < 1000
