"""Attention among points, without parameters: do two clusters stay two?

Source: DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020), appendix E, figures 6, 8 and 9.
"""

from __future__ import annotations

from torch import Tensor, nn

from synthbench.errors import ParameterError, unknown_name
from synthbench.training.layers import normalisation as weigh
from synthbench.training.models.output import Output, Record
from synthbench.training.options import check_sizes

NORMALISATIONS = ("softmax", "doubly-normalised", "hybrid")


class AttentionSteps(nn.Module):
    """Steps of attention with queries, keys and values equal to the points.

    Each point moves to the weighted mean of all points. Softmax is the fixed-point step of
    equation 3, doubly-normalised attention that of equations 7 and 8, with priors as there.

    Args:
        normalisation: `softmax`, `doubly-normalised` or `hybrid`.
        steps: number of steps.
        sinkhorn: iterations of doubly-normalised attention (equation 10).
        weight: the weight of doubly-normalised attention in hybrid attention (equation 12).

    Raises:
        UsageError: an unknown normalisation, or a number that is not allowed.
        ParameterError: a weight that is not from 0 to 1.

    Example:
        >>> import torch
        >>> from synthbench.training.models.clusters import AttentionSteps
        >>> AttentionSteps(steps=0)(torch.tensor([[[1.8, 0.7], [-1.0, -1.0]]])).scores.shape
        torch.Size([1, 2, 2])
    """

    def __init__(
        self,
        *,
        normalisation: str = "softmax",
        steps: int = 4,
        sinkhorn: int = 1,
        weight: float = 0.5,
    ) -> None:
        super().__init__()
        if normalisation not in NORMALISATIONS:
            raise unknown_name("attention among points", normalisation, NORMALISATIONS)
        check_sizes(least=0, steps=steps)
        check_sizes(sinkhorn=sinkhorn)
        if not 0 <= weight <= 1:
            raise ParameterError(f"weight {weight}: allowed are numbers from 0 to 1.")
        self.steps, self.sinkhorn = steps, sinkhorn
        # Softmax and doubly-normalised attention are the ends of hybrid attention.
        self.weight = {"softmax": 0.0, "doubly-normalised": 1.0}.get(normalisation, weight)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Move points, floats `(rows, points, axes)`. The scores are the points at the end.

        Records `attention` `(rows, 1, points, points)` and `hidden`, the points, after each step.
        """
        points = inputs
        for _ in range(self.steps):
            scores = points @ points.transpose(-2, -1)
            weights = self._weights(scores.unsqueeze(1)).squeeze(1)
            points = weights @ points
            if record is not None:
                record.add("attention", weights.unsqueeze(1))
                record.add("hidden", points)
        return Output(points)

    def _weights(self, scores: Tensor) -> Tensor:
        if self.weight == 0:
            return weigh.softmax(scores, None, 1.0)
        doubly = weigh.doubly_normalised(scores, None, 1.0, self.sinkhorn)
        if self.weight == 1:
            return doubly
        return self.weight * doubly + (1 - self.weight) * weigh.softmax(scores, None, 1.0)
