"""Dropout with cheap masks on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.options import check_chances

#: How many values the 16 random bits of a unit have.
_VALUES = 1 << 16


class Dropout(nn.Module):
    """As `nn.Dropout`, but on a CPU a unit takes 16 random bits instead of a random float.

    With the masks of `nn.Dropout`, small encoders would spend a quarter of a training step on them.

    Args:
        p: chance that a unit is dropped, from 0 to below 1. On a CPU a multiple of 2^-16.

    Raises:
        ParameterError: `p` is not allowed.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        check_chances(dropout=p)
        self.p = p

    def forward(self, states: Tensor) -> Tensor:
        """`states`. In training each unit is set to 0 or multiplied by 1 / (1 - p)."""
        if not self.training or self.p == 0:
            return states
        if states.device.type != "cpu":
            return functional.dropout(states, self.p)
        units = states.numel()
        words = torch.empty(-(-units // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[:units].view(states.shape)
        kept = bits >= round(self.p * _VALUES) - _VALUES // 2
        return states * (kept * (1 / (1 - self.p)))
