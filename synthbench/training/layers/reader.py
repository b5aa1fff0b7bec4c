"""Cross-attention that reads a row: a learned query attends to all of its columns."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from synthbench.training.layers.normalisation import softmax
from synthbench.training.options import check_heads


class Reader(nn.Module):
    """Reads the states of a row's columns by one attention with a learned query.

    Args:
        d_model: size of a state.
        num_heads: number of heads, a divisor of `d_model`.

    Raises:
        ParameterError: heads that do not divide a state.

    Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), appendix A, which gives no details.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        self.num_heads, self.scale = num_heads, math.sqrt(d_model // num_heads)
        self.query = nn.Parameter(torch.randn(num_heads, 1, d_model // num_heads))
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        """A summary of each row, `(rows, d_model)`.

        Args:
            states: `(rows, length, d_model)`.
            mask: which columns are real, bool `(rows, length)`; None means all.
        """
        keys, values = (
            projection(states).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for projection in (self.key, self.value)
        )
        scores = self.query @ keys.transpose(-2, -1)
        weights = softmax(scores.float(), mask, self.scale).to(values.dtype)
        summary: Tensor = self.output((weights @ values).transpose(1, 2).flatten(1))
        return summary
