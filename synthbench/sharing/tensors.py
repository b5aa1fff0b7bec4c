"""Rows as PyTorch tensors, a file for each split: `VARIANT/SPLIT.pt`.

    split = torch.load("forward/train.pt", weights_only=True, mmap=True)
    split["text"], split["text_length"], split["label"], split["vocabulary"]

A file is a dictionary with a tensor for each column, whose first axis counts the rows:

    text            ids of its tokens, padded with 0; `text_length` has the numbers of tokens
    a label         the number of its class, int64
    an image        uint8 (rows, 3, height, width)
    a list          padded to the longest: tokens with 0, whole numbers with -1, others with NaN
    `id`            int64; `f"{id % 2**64:016x}"` is the id as the dataset has it
    other numbers   in their own type

It also has `vocabulary` (the token of each id), `classes` (the name of each class), `task`,
`variant`, `split` and `digest`. Columns of other kinds are left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.checks import needs
from synthbench.errors import DatasetError
from synthbench.sharing.parts import BATCH_ROWS, ExportPart
from synthbench.tasks.base import Task
from synthbench.tasks.row_ids import read_ids

PADDING = "<pad>"


def unsupported_reason(task: Task) -> str | None:
    """The reason why rows of a task cannot be written. None if they can."""
    if "text" in task.columns and task.vocabulary is None:
        return "it does not list the tokens of its texts"
    if task.is_checked and task.answer.answers == "text" and task.answer.vocabulary is None:
        return "its labels are free text (declare sequence(tokens) for labels made of tokens)"
    return None


def write(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part to a file of its own.

    Raises:
        SynthbenchError: PyTorch is not installed.
        DatasetError: rows are not valid for the task.
    """
    with needs("Exporting tensors", "PyTorch", "train"):
        import torch
    for part in parts:
        file = directory / part.task.variant / f"{part.split}.pt"
        file.parent.mkdir(exist_ok=True)
        # The arrays are mapped from files, so that memory does not grow with the number of rows.
        with tempfile.TemporaryDirectory(dir=directory, prefix=".arrays.") as scratch:
            arrays = _read(part, Path(scratch))
            tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
            torch.save({**tensors, **_meaning(part)}, file)
            del arrays, tensors


def _meaning(part: ExportPart) -> dict[str, Any]:
    """The meaning of the numbers, and the origin of the rows."""
    task = part.task
    return {
        **({"vocabulary": [PADDING, *task.vocabulary.tokens]} if task.vocabulary else {}),
        **({"classes": list(task.labels)} if task.labels else {}),
        **{
            f"{name}_vocabulary": [PADDING, *column.vocabulary.tokens]
            for name, column in task.columns.items()
            if column.vocabulary
        },
        "task": task.name,
        "variant": task.variant,
        "split": part.split,
        "digest": part.record.digest,
    }


def _read(part: ExportPart, scratch: Path) -> dict[str, NDArray[Any]]:
    """All rows as arrays in files, each as wide as its widest row."""
    shapes = _shapes(part)
    arrays: dict[str, NDArray[Any]] = {}
    first = 0
    for batch in part.batches(_columns(part.task)):
        for name, values, fill in _encode(part, batch):
            if name not in arrays:
                shape = (part.record.rows, *shapes.get(name, values.shape[1:]))
                arrays[name] = np.memmap(scratch / name, values.dtype, "w+", shape=shape)
            rows = arrays[name][first : first + len(values)]
            rows[:] = fill
            rows[tuple(map(slice, values.shape))] = values
        first += len(batch)
    return arrays


def _shapes(part: ExportPart) -> dict[str, tuple[int, ...]]:
    """The shape of the widest row of each column of text or lists."""
    columns = part.task.columns
    ragged = [name for name in _columns(part.task) if name in columns and columns[name].is_ragged]
    shapes: dict[str, tuple[int, ...]] = {}
    if ragged:
        for batch in part.dataset.batches(part.task.variant, part.split, ragged, BATCH_ROWS):
            for name, values, _ in _encode(part, batch):
                shape = values.shape[1:]
                shapes[name] = tuple(map(max, shape, shapes.get(name, shape)))
    return shapes


def _columns(task: Task) -> list[str]:
    """The id and the columns that can be written."""
    columns = task.columns.items()
    return ["id", *(name for name, column in columns if column.encodes(task.vocabulary))]


def _encode(part: ExportPart, batch: pa.RecordBatch) -> Iterator[tuple[str, NDArray[Any], float]]:
    """The columns of a batch: their names in the file, the arrays, and their padding."""
    task = part.task
    try:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name == "id":
                yield name, read_ids(column).astype(np.int64), 0
            else:
                values, lengths, fill = task.columns[name].encode(column, name, task.vocabulary)
                yield name, values, fill
                if lengths is not None:
                    yield f"{name}_length", lengths, 0
    except ValueError as error:
        raise DatasetError(f"{part.dataset.path}, split {part.split!r}: {error}.") from error
