"""What figures are made from: a finished run, one row that is shown, and passes over many."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthbench.errors import UsageError
from synthbench.training.batches import Batch, take
from synthbench.training.encoding import Rows
from synthbench.training.finished import FinishedRun
from synthbench.training.models.output import Output, Record

#: Rows that go through the model together: attention maps of images are large.
_AT_ONCE = 32


class Unavailable(Exception):  # noqa: N818  (no error: the answer to whether a figure can be made)
    """A figure that a run cannot have; the text says why."""


class Pass(NamedTuple):
    """Some rows' way through the model.

    Attributes:
        indices: which rows, int64 `(rows,)`.
        batch: the rows.
        record: what the model showed.
        output: what it answered.
    """

    indices: NDArray[np.int64]
    batch: Batch
    record: Record
    output: Output

    def mask(self, columns: int) -> Tensor | None:
        """Which of a record's columns are real, bool `(rows, columns)`; None: all of them."""
        if self.batch.lengths is None:
            return None
        added = columns - self.batch.inputs.shape[1]  # begin and end
        return torch.arange(columns) < (self.batch.lengths + added).unsqueeze(-1)


class View:
    """A run, and the split and row that its figures show.

    Args:
        run: the run.
        split: the split that rows come from; default: the last one, which is the hardest.
        row: the row whose maps are drawn, counted from 0.

    Raises:
        UsageError: there is no such split or row.
    """

    def __init__(self, run: FinishedRun, split: str | None = None, row: int = 0) -> None:
        self.run, self.row = run, row
        self.task = run.dataset.manifest.make_task(run.variant)
        self.split = split or [one.name for one in self.task.splits if one.evaluation][-1]
        self.record = run.dataset.split(run.variant, self.split)
        if not 0 <= row < self.record.rows:
            raise UsageError(
                f"Row {row}: split {self.split!r} has the rows 0 to {self.record.rows - 1}."
            )

    @functools.cached_property
    def rows(self) -> Rows:
        """The rows of the split as tensors."""
        return self.run.rows(self.split)

    @functools.cached_property
    def shown(self) -> Pass:
        """The way of the row that is shown."""
        return self._forward(np.array([self.row]))

    def passes(self, most: int) -> Iterator[Pass]:
        """The ways of the split's first rows, at most so many."""
        count = min(most, len(self.rows))
        for first in range(0, count, _AT_ONCE):
            yield self._forward(np.arange(first, min(first + _AT_ONCE, count)))

    def table(self, most: int) -> list[dict[str, Any]]:
        """The split's first rows as plain values, as `passes` gives them."""
        rows = self.run.dataset.rows(self.run.variant, self.split)
        return [row for row, _ in zip(rows, range(most), strict=False)]

    @torch.inference_mode()
    def _forward(self, indices: NDArray[np.int64]) -> Pass:
        batch, record = take(self.rows, indices), Record()
        output = self.run.model(batch.inputs, batch.lengths, record)
        return Pass(indices, batch, record, output)

    @functools.cached_property
    def columns(self) -> list[str]:
        """What stands in each column of the shown row's maps."""
        encoding, inputs = self.run.encoding, self.shown.batch.inputs[0]
        match encoding.form:
            case "tokens" if encoding.vocabulary is not None:
                tokens = encoding.vocabulary.tokens
                names = [tokens[token - 1] for token in inputs.tolist()]
                return ["B", *names, "E"] if getattr(self.run.model, "begin_end", False) else names
            case "grids":
                return [str(color) for color in inputs.tolist()]
            case "images":
                patches = self.maps("attention")[0].shape[-1] - 1
                return ["class", *(str(patch) for patch in range(patches))]
            case _:
                return [str(place) for place in range(len(inputs))]

    def maps(self, name: str) -> list[Tensor]:
        """The shown row's entries of a name in its record, without the axis of rows.

        Raises:
            Unavailable: the model records nothing of that name.
        """
        entries = self.shown.record[name]
        if not entries:
            raise Unavailable(f"model {self.run.recipe.model!r} has no {name}")
        return [entry[0].float() for entry in entries]
