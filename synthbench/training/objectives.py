"""What a model is trained for: loss, metric and answers, by the kind of target."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from synthbench.errors import ParameterError
from synthbench.training.batches import Batch

#: Colours of a grid's cell, the background included.
COLORS = 10


class Objective(abc.ABC):
    """One kind of target.

    Attributes:
        metric: the task's metric that the best checkpoint is chosen by.
        larger_is_better: whether more of it is better.
    """

    metric: ClassVar[str]
    larger_is_better: ClassVar[bool] = True

    @abc.abstractmethod
    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """The mean loss of a batch, a scalar."""

    def smoothed_loss(self, scores: Tensor, batch: Batch, smoothing: float) -> Tensor:
        """The loss in training, with a share of each target spread evenly over all classes.

        Raises:
            ParameterError: there are no classes to smooth.
        """
        if smoothing:
            raise ParameterError(
                f"Recipe label_smoothing={smoothing}: rows without classes allow 0 only."
            )
        return self.loss(scores, batch)

    @abc.abstractmethod
    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The metric of each row, float `(rows,)`, as the task's `measure` would give it."""

    @abc.abstractmethod
    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """What the model answers, row by row, as `evaluate` reads it."""


class Classes(Objective):
    """One of several classes: scores `(rows, classes)`, cross-entropy."""

    metric = "accuracy"

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy."""
        return self.smoothed_loss(scores, batch, 0.0)

    def smoothed_loss(self, scores: Tensor, batch: Batch, smoothing: float) -> Tensor:
        """Cross-entropy with smoothed labels (Szegedy et al., 2016)."""
        return functional.cross_entropy(scores.float(), batch.targets, label_smoothing=smoothing)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """1 where the highest score is that of the right class."""
        return (scores.argmax(dim=-1) == batch.targets).float()

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The class with the highest score."""
        answers: list[Any] = scores.argmax(dim=-1).tolist()
        return answers


class Counts(Objective):
    """A count for each cell: scores `(rows, cells, 10)`, mean squared error.

    The count stands in the dimension of the cell's own colour; all others are to be 0 (Counting,
    section III-A).
    """

    metric = "cell_accuracy"

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Mean squared error over all cells and dimensions."""
        colors = functional.one_hot(batch.inputs, COLORS).to(torch.float32)
        error = (scores.float() - colors * batch.targets.unsqueeze(-1)).square().mean(dim=-1)
        cells = _cells(batch)
        return (error * cells).sum() / cells.sum()

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The share of cells with the right count."""
        cells = _cells(batch)
        right = self._counts(scores, batch) == batch.targets
        return (right & cells).sum(dim=-1) / cells.sum(dim=-1)

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The counts of a row's cells, line by line."""
        counts = self._counts(scores, batch).tolist()
        return [row[:length] for row, length in zip(counts, _lengths(batch).tolist(), strict=True)]

    def _counts(self, scores: Tensor, batch: Batch) -> Tensor:
        """The counts as whole numbers, float `(rows, cells)`."""
        own = scores.float().gather(-1, batch.inputs.unsqueeze(-1)).squeeze(-1)
        return own.round()


class Vectors(Objective):
    """A vector for each row: scores `(rows, dims)`, mean squared error."""

    metric = "mse"
    larger_is_better = False

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Mean squared error."""
        return functional.mse_loss(scores.float(), batch.targets)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The mean squared error of each row."""
        return (scores.float() - batch.targets).square().mean(dim=-1)

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The vector."""
        return list(scores.float().cpu().numpy())


class Points(Objective):
    """Where points are moved to, `(rows, points, 2)`; there is nothing to learn."""

    metric = "distance"

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """There is none."""
        raise TypeError("points have no target")  # pragma: no cover

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """There is nothing to compare with."""
        raise TypeError("points have no target")  # pragma: no cover

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The points."""
        return list(scores.float().cpu().numpy())


OBJECTIVES: dict[str, type[Objective]] = {
    "classes": Classes,
    "counts": Counts,
    "vectors": Vectors,
    "points": Points,
}


def _lengths(batch: Batch) -> Tensor:
    if batch.lengths is None:
        return batch.inputs.new_full((len(batch.inputs),), batch.inputs.shape[1])
    return batch.lengths


def _cells(batch: Batch) -> Tensor:
    """Which cells belong to their grid, bool `(rows, cells)`."""
    places = torch.arange(batch.inputs.shape[1], device=batch.inputs.device)
    return places < _lengths(batch).unsqueeze(-1)
