"""What a model is trained for: loss, metric and answers, by the kind of target."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from synthbench.training.batches import Batch


class Objective:
    """One kind of target; this one, for points, has nothing to learn."""

    metric: ClassVar[str] = "distance"  # the task's metric that the best checkpoint is chosen by
    larger_is_better: ClassVar[bool] = True  # whether a larger metric is better

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean loss of a batch, a scalar; `smoothing` is the share spread over all classes."""
        raise TypeError("points have no target")  # pragma: no cover

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The metric of each row, float `(rows,)`, as the task's `measure` would give it."""
        raise TypeError("points have no target")  # pragma: no cover

    def learned(self, metric: float, targets: Tensor | None) -> float:
        """The share of `targets` that a mean `metric` says is learned; 1 is all."""
        return metric

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The model's answer to each row, as `evaluate` reads it."""
        return list(scores.float().cpu().numpy())


class Classes(Objective):
    """One of several classes: scores `(rows, classes)`, cross-entropy.

    Labels are smoothed as by Szegedy et al. (2016).
    """

    metric = "accuracy"

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """Cross-entropy."""
        return functional.cross_entropy(scores.float(), batch.targets, label_smoothing=smoothing)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """1 if the right class has the highest score."""
        return (scores.argmax(dim=-1) == batch.targets).float()

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The class with the highest score."""
        answers: list[Any] = scores.argmax(dim=-1).tolist()
        return answers


class Counts(Objective):
    """A count for each cell: scores `(rows, cells, 10)`, mean squared error.

    The target is the count in the dimension of the cell's own colour and 0 in all others (Counting,
    section III-A).
    """

    metric = "cell_accuracy"

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean over all dimensions of real cells."""
        colors = functional.one_hot(batch.inputs, scores.shape[-1]).to(torch.float32)
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
        lengths = _cells(batch).sum(dim=-1).tolist()
        return [row[:length] for row, length in zip(counts, lengths, strict=True)]

    def _counts(self, scores: Tensor, batch: Batch) -> Tensor:
        """The counts as whole numbers, float `(rows, cells)`."""
        own = scores.float().gather(-1, batch.inputs.unsqueeze(-1)).squeeze(-1)
        return own.round()


class Vectors(Objective):
    """A vector for each row: scores `(rows, dims)`, mean squared error."""

    metric = "mse"
    larger_is_better = False

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


OBJECTIVES: dict[str, type[Objective]] = {
    "classes": Classes,
    "counts": Counts,
    "vectors": Vectors,
    "points": Objective,
}


def _cells(batch: Batch) -> Tensor:
    """Which cells belong to their grid, bool `(rows, cells)`."""
    assert batch.lengths is not None
    places = torch.arange(batch.inputs.shape[1], device=batch.inputs.device)
    return places < batch.lengths.unsqueeze(-1)
