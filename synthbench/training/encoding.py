"""From a dataset's columns to tensors: the form follows from what the task says of its columns.

    text              tokens    (rows, length)      ids from 1, padded with 0
    an image          images    (rows, 3, height, width)
    lists of lists    grids     (rows, cells)       of integers, line by line
                      points    (rows, points, 2)   of floats
    a list of floats  vectors   (rows, dims)

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

from synthbench.errors import UsageError
from synthbench.tasks.base import Task
from synthbench.tasks.features import Feature, is_image, label_names
from synthbench.tasks.images import png
from synthbench.tasks.numeric import plain_values, unwrap
from synthbench.tasks.tokens import Vocabulary, pad

LABEL = "label"


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows as tensors; the first axis of each counts them.

    Attributes:
        inputs: tokens or colours uint8 or int16, pixels uint8, else float32.
        lengths: tokens or cells of each row, int64 `(rows,)`; None where all rows are equal.
        targets: int64 classes `(rows,)`, int16 counts `(rows, cells)` or float32 `(rows, dims)`;
            None where there is nothing to learn.
    """

    inputs: Tensor
    lengths: Tensor | None
    targets: Tensor | None

    def __len__(self) -> int:
        return len(self.inputs)

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        return Rows(
            self.inputs.to(device),
            None if self.lengths is None else self.lengths.to(device),
            None if self.targets is None else self.targets.to(device),
        )


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How a task's rows become tensors.

    Attributes:
        form: tokens, images, grids, points or vectors.
        column: the column that a model reads.
        target: `classes`, `counts`, `vectors`, or `points` where there is nothing to learn.
        vocabulary: the tokens of texts.
        classes: names of the classes.
    """

    form: str
    column: str
    target: str
    vocabulary: Vocabulary | None = None
    classes: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: Task) -> Encoding:
        """The encoding that a task's columns ask for.

        Raises:
            UsageError: columns that no model here can read or answer.
        """
        images = [name for name, feature in task.columns.items() if is_image(feature)]
        column = images[0] if images else task.inputs[0]
        form = _form(task.columns[column])
        if form is None or (form == "tokens" and task.vocabulary is None):
            raise UsageError(
                f"Task {task.name!r}: no model reads its column {column!r}; allowed are the text "
                "of a TextTask, an image, a list of floats, or lists of lists of numbers."
            )
        names = tuple(label_names(task.columns.get(LABEL, {})) or ())
        target = "classes" if names else {"grids": "counts"}.get(form, form)
        if not names and form in ("tokens", "images"):
            raise UsageError(f"Task {task.name!r}: its label has no classes to choose from.")
        return cls(form, column, target, task.vocabulary, names)

    @property
    def columns(self) -> list[str]:
        """The columns that `encode` needs."""
        return [self.column] if self.target == "points" else [self.column, LABEL]

    def sizes(self, rows: Rows) -> dict[str, int]:
        """What a model must know of the rows to be built."""
        sizes = {}
        if self.form == "tokens" and self.vocabulary is not None:
            sizes["vocabulary"] = self.vocabulary.size
        if self.target == "classes":
            sizes["classes"] = len(self.classes)
        if self.form == "vectors":
            sizes["dims"] = rows.inputs.shape[1]
        return sizes

    def encode(self, columns: Mapping[str, pa.Array]) -> Rows:
        """Rows as tensors.

        Args:
            columns: the columns named by `columns`.

        Raises:
            ValueError: a row that is none of the task's.
        """
        column = columns[self.column]
        lengths = None
        match self.form:
            case "tokens" if self.vocabulary is not None:
                ids, lengths = self.vocabulary.read(column)
                inputs = pad(ids, lengths)
            case "grids":
                inputs, lengths = _cells(column)
            case "images":
                pixels = np.stack([png.decode(one) for one in column.field("bytes").to_pylist()])
                inputs = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))
            case _:
                inputs = _equal(column)
        return Rows(
            torch.from_numpy(inputs),
            None if lengths is None else torch.from_numpy(lengths),
            None if self.target == "points" else torch.from_numpy(self._targets(columns[LABEL])),
        )

    def _targets(self, label: pa.Array) -> NDArray[Any]:
        if self.target == "classes":
            return plain_values(label, LABEL).astype(np.int64)
        if self.target == "counts":
            return _cells(label)[0]
        return _equal(label)


def _form(feature: Feature) -> str | None:
    """The form of a column, None for columns that no model reads."""
    if is_image(feature):
        return "images"
    depth = 0
    while isinstance(feature, list):
        feature, depth = feature[0], depth + 1
    dtype = str(feature.get("dtype"))
    forms = {(0, "string"): "tokens", (1, "float32"): "vectors", (2, "float32"): "points"}
    if depth == 2 and "int" in dtype:
        return "grids"
    return forms.get((depth, dtype))


def _cells(column: pa.Array) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Grids line by line, padded with 0, and the number of cells of each."""
    lines, inner = unwrap(column, "grid")
    widths, values = unwrap(inner, "grid")
    ends = np.concatenate([[0], np.cumsum(widths)])[np.concatenate([[0], np.cumsum(lines)])]
    lengths = np.diff(ends)
    cells = plain_values(values, "grid")
    return pad(cells, lengths), lengths


def _equal(column: pa.Array) -> NDArray[np.float32]:
    """Nested lists of floats, all of one shape."""
    shape: list[int] = []
    while pa.types.is_list(column.type):
        lengths, column = unwrap(column, "row")
        if len(set(lengths.tolist())) > 1:
            raise ValueError("rows of different lengths where all must be equal")
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
