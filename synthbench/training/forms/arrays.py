"""Forms of images, grids, vectors and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.form import NOT_ASKED
from synthbench.training.forms.form import Classes, Form
from synthbench.training.forms.rows import Batch, Rows


class ColumnForm(Form):
    """A form of one column of a task."""

    def __init__(self, task: Task, column: str) -> None:
        self.task, self.column = task, column

    @property
    def columns(self) -> list[str]:
        """The column and the label."""
        return [self.column, LABEL]

    def _encoded(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> list[NDArray[Any]]:
        """The values of `columns`, padded with -1 where a row has fewer than another."""
        return [self.task.columns[name].encode(columns[name], name).values for name in self.columns]


class ImageClass(Classes, ColumnForm):
    """Images `(rows, 3, height, width)`, each of one of several classes."""

    reads = "images"

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Pixels uint8, classes int64. Raises as `Form.encode`."""
        pixels, classes = self._encoded(columns)
        return Rows(torch.from_numpy(pixels), None, torch.from_numpy(classes.astype(np.int64)))

    def sizes(self, rows: Rows) -> dict[str, int]:
        """The number of classes."""
        return {"classes": len(self.task.labels or ())}


class GridCounts(ColumnForm):
    """Grids of colours, line by line, and a count for each cell: scores `(rows, cells, 10)`.

    The target is the count in the dimension of the cell's own colour and 0 in all others (Counting,
    section III-A). The loss is the mean squared error.
    """

    reads = "grids"
    metric = "cell_accuracy"

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Colours, padded with 0, and counts, padded with -100. Raises as `Form.encode`."""
        grids, labels = self._encoded(columns)
        colors, lengths = _cells(grids, 0)
        counts, _ = _cells(labels, NOT_ASKED)
        return Rows(*map(torch.from_numpy, (colors, lengths, counts)))

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean over all dimensions of real cells."""
        colors = functional.one_hot(batch.inputs, scores.shape[-1]).to(torch.float32)
        error = (scores.float() - colors * batch.targets.unsqueeze(-1)).square().mean(dim=-1)
        cells = batch.targets != NOT_ASKED
        return (error * cells).sum() / cells.sum()

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The share of cells with the right count."""
        cells = batch.targets != NOT_ASKED
        right = self._counts(scores, batch) == batch.targets
        return (right & cells).sum(dim=-1) / cells.sum(dim=-1)

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The counts of a row's cells, line by line."""
        counts = self._counts(scores, batch).tolist()
        lengths = (batch.targets != NOT_ASKED).sum(dim=-1).tolist()
        return [row[:length] for row, length in zip(counts, lengths, strict=True)]

    def _counts(self, scores: Tensor, batch: Batch) -> Tensor:
        """The counts as whole numbers, float `(rows, cells)`."""
        own = scores.float().gather(-1, batch.inputs.unsqueeze(-1)).squeeze(-1)
        return own.round()


class Vector(ColumnForm):
    """Vectors and a vector for each: scores `(rows, dims)`, mean squared error."""

    reads = "vectors"
    metric = "mse"
    larger_is_better = False

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Vectors float32 `(rows, dims)`. Raises as `Form.encode`."""
        inputs, targets = (_of_one_shape(columns[name], name) for name in self.columns)
        return Rows(torch.from_numpy(inputs), None, torch.from_numpy(targets))

    def sizes(self, rows: Rows) -> dict[str, int]:
        """The numbers of a vector."""
        return {"dims": rows.inputs.shape[1]}

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean over all rows and dimensions."""
        return functional.mse_loss(scores.float(), batch.targets)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The mean squared error of each row."""
        return (scores.float() - batch.targets).square().mean(dim=-1)

    def learned(self, metric: float, targets: Tensor | None) -> float:
        """The share of the targets' variance that is explained."""
        assert targets is not None
        return 1 - metric / targets.var(correction=0).item()

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The vectors."""
        return list(scores.float().cpu().numpy())


class Points(ColumnForm):
    """Points `(rows, points, 2)`, which a model moves. There is nothing to learn."""

    reads = "points"
    metric = "distance"

    @property
    def columns(self) -> list[str]:
        """The points alone."""
        return [self.column]

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Points float32 `(rows, points, 2)`. Raises as `Form.encode`."""
        return Rows(torch.from_numpy(_of_one_shape(columns[self.column], self.column)), None, None)

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """Not used, as points lack a target."""
        raise TypeError("points have no target")  # pragma: no cover

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """There is nothing to measure."""
        raise TypeError("points have no target")  # pragma: no cover

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The places of the points after the last step."""
        return list(scores.float().cpu().numpy())


def _cells(grids: NDArray[Any], fill: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Padded grids `(rows, lines, cells)` line by line, and the number of cells of each."""
    there = grids >= 0
    lengths = there.sum(axis=(1, 2))
    cells = np.full((len(grids), int(lengths.max(initial=0))), fill, grids.dtype)
    cells[np.arange(cells.shape[1]) < lengths[:, None]] = grids[there]
    return cells, lengths


def _of_one_shape(column: pa.Array, name: str) -> NDArray[np.float32]:
    """Nested lists of floats, which must all have one shape, as an array."""
    shape: list[int] = []
    while not column.null_count:
        if not pa.types.is_list(column.type):
            return np.array(column, np.float32).reshape(-1, *shape)
        lengths = column.value_lengths().unique().to_pylist()
        if len(lengths) > 1:
            raise ValueError(f"{name} has lists of different lengths. All must have one length")
        shape += lengths
        column = column.flatten()
    raise ValueError(f"{name} has a null where numbers are expected")
