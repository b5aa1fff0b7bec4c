"""From columns to tensors."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch.nn import functional

from synthbench.errors import UsageError
from synthbench.evaluation.single_rows import score
from synthbench.tasks.form import NOT_ASKED
from synthbench.tasks.images import png
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import take
from synthbench.training.forms import form_of
from synthbench.training.forms.arrays import ImageClass
from synthbench.training.forms.rows import concatenate
from tests.support import CLASSES, draw_splits
from tests.toy_task import Numbers


def rendered(name, variant=None, rows=30, **parameters):
    """A task's form, and the columns of some rows of its last split."""
    task = make_task(name, variant, **parameters)
    drawn = list(draw_splits(task, rows).values())[-1]
    return task, form_of(task), task.rendered(drawn.block)


@pytest.mark.parametrize("name", CLASSES)
def test_texts_become_ids_of_the_tasks_tokens_and_can_be_read_again(name):
    task, form, columns = rendered(name)
    rows = form.encode(columns)
    assert form.reads == "tokens"
    assert rows.inputs.dtype == torch.uint8
    for row, length, text in zip(
        rows.inputs.tolist(), rows.lengths.tolist(), columns["text"].to_pylist(), strict=True
    ):
        words = [task.tokens[number - 1] for number in row[:length]]
        assert task.separator.join(words) == text
        assert set(row[length:]) <= {0}
    assert rows.targets.tolist() == columns["label"].to_pylist()
    assert form.sizes(rows) == {
        "vocabulary": len(task.tokens) + 1,
        "outputs": len(form.output_tokens),
    }


@pytest.mark.parametrize("name", ["ctl", "state-tracking", "copying", "chomsky", "listops"])
def test_rows_with_a_start_symbol_have_the_same_answers(name):
    task, _, columns = rendered(name)
    for form in task.forms:
        plain, started = (form_of(task, form, start) for start in (False, True))
        rows, symbol = plain.encode(columns), len(plain.input_tokens)
        begun = started.encode(columns)
        assert started.input_tokens == (*plain.input_tokens, "<start>")
        assert set(begun.inputs[:, 0].tolist()) == {symbol}
        assert torch.equal(begun.inputs[:, 1:], rows.inputs)
        assert torch.equal(begun.lengths, rows.lengths + 1)
        if rows.targets.ndim == 1:
            assert torch.equal(begun.targets, rows.targets)
            continue
        assert set(begun.targets[:, 0].tolist()) == {NOT_ASKED}
        assert torch.equal(begun.targets[:, 1:], rows.targets)
        for places, made in ((rows, plain), (begun, started)):
            batch = take(places, np.arange(len(places)))
            scores = functional.one_hot(batch.targets.clamp_min(0), len(made.output_tokens))
            if form == "causal-lm":
                scores = scores.roll(-1, dims=1)  # each position scores the next token
            answers = made.answers(scores.float(), batch)
            right = columns["label"].to_pylist()
            for label, answer in zip(right, answers, strict=True):
                assert score(task, {"label": label}, answer) == 1.0


def test_rows_that_are_not_texts_have_no_start_symbol():
    with pytest.raises(UsageError, match="start=true: the rows of grid-count are not texts"):
        form_of(make_task("grid-count"), start=True)


def test_more_tokens_than_a_byte_can_number_are_kept_apart():
    task, form, columns = rendered("ctl", symbols=256, functions=200)
    rows = form.encode(columns)
    assert len(task.tokens) == 456
    assert rows.inputs.dtype == torch.int16
    assert rows.inputs.max() > 255


def test_grids_lie_line_by_line_and_their_counts_beside_them():
    _, form, columns = rendered("grid-count", rows=70)
    rows = form.encode(columns)
    assert form.reads == "grids"
    grids, labels = columns["grid"].to_pylist(), columns["label"].to_pylist()
    for index, (grid, label) in enumerate(zip(grids, labels, strict=True)):
        cells = len(grid) ** 2
        assert rows.lengths[index] == cells
        assert rows.inputs[index, :cells].tolist() == [color for line in grid for color in line]
        assert rows.targets[index, :cells].tolist() == [count for line in label for count in line]


@pytest.mark.parametrize(
    ("name", "form", "shape"), [("identity", "vectors", (5,)), ("clusters", "points", (450, 2))]
)
def test_lists_of_floats_become_one_array(name, form, shape):
    _, made, columns = rendered(name, rows=7)
    rows = made.encode(columns)
    assert made.reads == form
    assert rows.inputs.shape == (7, *shape)
    assert rows.lengths is None
    column = columns[made.column].to_pylist()
    assert rows.inputs.tolist() == np.array(column, np.float32).tolist()
    assert (rows.targets is None) == (name == "clusters")


def test_images_become_channels_of_bytes():
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 6, 3), np.uint8)
    images = pa.StructArray.from_arrays([png.encode(pixels)], ["bytes"])
    form = ImageClass(make_task("composites"), "image")
    rows = form.encode({"image": images, "label": pa.array([0, 1, 0])})
    assert rows.inputs.dtype == torch.uint8
    assert (rows.inputs.numpy() == pixels.transpose(0, 3, 1, 2)).all()


def test_every_task_whose_labels_can_be_learned_has_a_form():
    others = {"composites": "images", "grid-count": "grids", "identity": "vectors"}
    others["clusters"] = "points"
    for name in list_tasks():
        task = make_task(name)
        if name in others or task.forms:
            assert form_of(task).reads == others.get(name, "tokens")
        else:  # labels that are free text, which the task checks
            assert task.is_checked
            with pytest.raises(UsageError, match=f"{name}"):
                form_of(task)


def test_a_task_that_does_not_name_its_tokens_is_refused():
    with pytest.raises(UsageError, match=r"Task 'numbers'.*a TextTask"):
        form_of(Numbers())


def test_parts_of_different_widths_are_joined_and_padded():
    form = form_of(make_task("ctl"))
    parts = [
        form.encode({"text": pa.array([text]), "label": pa.array([1])})
        for text in ("101 a", "101 a b c")
    ]
    rows = concatenate(parts)
    assert rows.inputs.tolist()[0][2:] == [0, 0]
    assert rows.lengths.tolist() == [2, 4]
