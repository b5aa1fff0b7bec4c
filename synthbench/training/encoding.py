"""From a dataset's columns to tensors; the form follows from the type of the task's column.

    text                     tokens    (rows, length)      ids from 1, padded with 0
    image                    images    (rows, 3, height, width)
    list of integer lists    grids     (rows, cells)       line by line
    list of float lists      points    (rows, points, 2)
    list of floats           vectors   (rows, dims)

Rows are kept in the smallest types that hold them; `batches` widens what a model gets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.column import Column
from synthbench.tasks.numeric import plain_values, unwrap
from synthbench.tasks.tokens import Vocabulary, pad


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows as tensors; the first axis of each counts them."""

    inputs: Tensor  # tokens or colours uint8 or int16, pixels uint8, else float32
    #: tokens or cells of each row, int64 `(rows,)`; None if all rows have one shape
    lengths: Tensor | None
    #: int64 classes `(rows,)`, int16 counts `(rows, cells)` or float32 `(rows, dims)`; None if
    #: there is nothing to learn
    targets: Tensor | None

    def __len__(self) -> int:
        return len(self.inputs)

    def select(self, indices: Tensor | slice) -> Rows:
        """The rows at `indices`, int64 `(rows,)`, in this order, or a slice of them."""
        parts = (self.inputs, self.lengths, self.targets)
        return Rows(*(None if part is None else part[indices] for part in parts))  # type: ignore[arg-type]

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        parts = (self.inputs, self.lengths, self.targets)
        return Rows(*(None if part is None else part.to(device) for part in parts))  # type: ignore[arg-type]


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How a task's rows become tensors."""

    form: str  # tokens, images, grids, points or vectors
    column: str  # the name of the column that a model reads
    reader: Column  # the column itself, which encodes its values
    target: str  # `classes`, `counts`, `vectors`, or `points` if there is nothing to learn
    vocabulary: Vocabulary | None = None  # the tokens of texts
    classes: tuple[str, ...] = ()  # names of the classes

    @classmethod
    def of(cls, task: Task) -> Encoding:
        """The encoding of a task's columns.

        Raises:
            UsageError: columns that no model here can read or answer.
        """
        column = task.image_column or task.inputs[0]
        form = _form(task.columns[column])
        if form is None or (form == "tokens" and task.vocabulary is None):
            raise UsageError(
                f"Task {task.name!r}: no model reads its column {column!r}; allowed are the text "
                "of a TextTask, an image, a list of floats, or lists of lists of numbers."
            )
        names = task.labels or ()
        target = "classes" if names else {"grids": "counts"}.get(form, form)
        if task.answer.vocabulary is not None:
            raise UsageError(
                f"Task {task.name!r}: its label is a sequence, and no model here gives an output "
                "for each position of a sequence; allowed are classes, grids and vectors."
            )
        if not names and form in ("tokens", "images"):
            raise UsageError(f"Task {task.name!r}: its label has no classes to choose from.")
        return cls(form, column, task.columns[column], target, task.vocabulary, names)

    @property
    def columns(self) -> list[str]:
        """The columns that `encode` needs."""
        return [self.column] if self.target == "points" else [self.column, LABEL]

    def sizes(self, rows: Rows) -> dict[str, int]:
        """The sizes that a model is built for: tokens, classes, numbers of a vector."""
        sizes = {}
        if self.form == "tokens" and self.vocabulary is not None:
            sizes["vocabulary"] = self.vocabulary.size
        if self.target == "classes":
            sizes["classes"] = len(self.classes)
        if self.form == "vectors":
            sizes["dims"] = rows.inputs.shape[1]
        return sizes

    def encode_table(self, table: pa.Table) -> Rows:
        """`encode` for a table."""
        (batch,) = table.select(self.columns).combine_chunks().to_batches()
        return self.encode(batch)

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Rows as tensors, from their columns by name; any other column is ignored.

        Raises:
            ValueError: a row that is not one of the task's.
        """
        column = columns[self.column]
        lengths = None
        match self.form:
            case "tokens" | "images":
                inputs, lengths, _ = self.reader.encode(column, self.column, self.vocabulary)
            case "grids":
                inputs, lengths = _cells(column)
            case _:
                inputs = _of_one_shape(column)
        targets: NDArray[Any] | None = None
        if self.target == "classes":
            targets = plain_values(columns[LABEL], LABEL).astype(np.int64)
        elif self.target == "counts":
            targets, _ = _cells(columns[LABEL])
        elif self.target == "vectors":
            targets = _of_one_shape(columns[LABEL])
        return Rows(
            torch.from_numpy(inputs),
            None if lengths is None else torch.from_numpy(lengths),
            None if targets is None else torch.from_numpy(targets),
        )


def read_split(
    dataset: DatasetDirectory,
    variant: str,
    split: str,
    encoding: Encoding,
    columns: Sequence[str] = (),
) -> tuple[Rows, pa.Table]:
    """All rows of a split as tensors, and `columns` as they are stored.

    Raises:
        DatasetError: a shard is missing or cannot be read, there are more or fewer rows than the
            manifest says, or they are not the task's.
    """
    parts, kept = [], []
    names = list(dict.fromkeys([*encoding.columns, *columns]))
    try:
        for batch in dataset.batches(variant, split, names):
            parts.append(encoding.encode(batch))
            kept.append(batch.select(list(columns)))
    except (ValueError, KeyError) as error:
        raise DatasetError(f"{dataset.path}, split {split!r}: {error}") from error
    return concatenate(parts), pa.Table.from_batches(kept)


def _form(column: Column) -> str | None:
    """The form of a column's rows, None if no model reads them."""
    if not column.plain:
        return "images"
    item, depth = column.arrow, 0
    while pa.types.is_list(item):
        item, depth = item.value_type, depth + 1
    if depth == 2 and pa.types.is_integer(item):
        return "grids"
    forms = {(0, "string"): "tokens", (1, "float"): "vectors", (2, "float"): "points"}
    return forms.get((depth, str(item)))


def _cells(column: pa.Array) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Grids line by line, padded with 0, and the number of cells of each."""
    lines, inner = unwrap(column, "grid")
    widths, values = unwrap(inner, "grid")
    ends = np.concatenate([[0], np.cumsum(widths)])[np.concatenate([[0], np.cumsum(lines)])]
    lengths = np.diff(ends)
    return pad(plain_values(values, "grid"), lengths), lengths


def _of_one_shape(column: pa.Array) -> NDArray[np.float32]:
    """Nested lists of floats, which must all have one shape, as an array."""
    shape: list[int] = []
    while pa.types.is_list(column.type):
        lengths, column = unwrap(column, "row")
        if len(set(lengths.tolist())) > 1:
            raise ValueError("rows of different lengths; all must have one length")
        shape.append(int(lengths[0]))
    return plain_values(column, "row").astype(np.float32).reshape(-1, *shape)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, in order, padded to the longest of all."""
    return Rows(
        _join([part.inputs for part in parts]),
        None if parts[0].lengths is None else torch.cat([part.lengths for part in parts]),  # type: ignore[misc]
        None if parts[0].targets is None else _join([part.targets for part in parts]),  # type: ignore[misc]
    )


def _join(parts: Sequence[Tensor]) -> Tensor:
    if parts[0].ndim == 2:
        longest = max(part.shape[1] for part in parts)
        parts = [torch.nn.functional.pad(part, (0, longest - part.shape[1])) for part in parts]
    return torch.cat(list(parts))
