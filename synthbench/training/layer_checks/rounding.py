"""Rounding and noise: how far two outputs of the same layer may differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

#: The relative change of inputs by which rounding is measured: about float32's last place.
_LAST_PLACE = 1e-7
#: Differences up to so many times the effect of rounding the inputs count as rounding.
ROUNDINGS = 30
#: Differences up to so many times the difference of two equal calls count as noise.
NOISES = 4
#: The share of the median output that makes up for outputs that are exactly 0.
_NEARLY_ZERO = 1e-9
#: The number of equal calls that measure noise.
_CALLS = 3
#: Noise above this share of an output hides small leaks.
NOISY = 1e-3


def rounded(inputs: Tensor) -> Tensor:
    """Inputs of which each number is changed in about its last place."""
    draws = torch.Generator().manual_seed(2)
    signs = torch.randint(0, 2, inputs.shape, generator=draws).to(inputs) * 2 - 1
    return inputs * (1 + _LAST_PLACE * signs)


def by_position(difference: Tensor) -> Tensor:
    """The largest difference at each position, `(length,)`, of `(rows, length, width)`."""
    return torch.nan_to_num(difference.abs(), nan=torch.inf).amax(dim=(0, 2))


class Yardstick:
    """The largest difference that is still rounding or noise, position by position.

    Args:
        output: the output to compare with, `(rows, length, width)`.
        share: the share of the output at a position that is allowed in any case.
        rounding: pairs of outputs of inputs that differ by rounding alone.
        again: the output of an equal call, numbered from 0.

    Rounding and noise are measured only where a difference exceeds the share.
    """

    def __init__(
        self,
        output: Tensor,
        share: float,
        rounding: Callable[[], Sequence[tuple[Tensor, Tensor]]] | None = None,
        again: Callable[[int], Tensor] | None = None,
    ) -> None:
        self.output = output
        self.scale = by_position(output)
        self.limit = share * self.scale + _NEARLY_ZERO * self.scale.median()
        self.is_noisy = False
        self._rounding, self._again = rounding, again

    def _extend(self) -> None:
        """Allow for rounding and noise, once."""
        kept = len(self.scale)
        if self._rounding is not None:
            pairs = self._rounding()
            changes = [by_position((output - other)[:, :kept]) for output, other in pairs]
            change = torch.stack(changes).amax(0)
            # A parameter at the edge of a function's domain allows no measure of rounding.
            self.limit = self.limit + ROUNDINGS * torch.nan_to_num(change, posinf=0.0)
        if self._again is not None:
            calls = [self._again(number)[:, :kept] for number in range(_CALLS)]
            noise = max(float(by_position(call - self.output).max()) for call in calls)
            self.limit = self.limit + NOISES * noise
            self.is_noisy = noise > NOISY * float(self.scale.median())
        self._rounding = self._again = None

    def worst(self, other: Tensor) -> tuple[float, int] | None:
        """The largest difference beyond the limit, as a share of the output, and its position."""
        difference = by_position(other - self.output)
        if (difference > self.limit).any():
            self._extend()
        beyond = difference > self.limit
        if not beyond.any():
            return None
        scale = self.scale.clamp(min=1e-3 * float(self.scale.median()) + 1e-30)
        shares = torch.where(beyond, difference / scale, torch.zeros_like(difference))
        return float(shares.max()), int(shares.argmax())

    def largest(self, other: Tensor) -> float:
        """The largest difference at all, as a share of the largest output."""
        return float(by_position(other - self.output).max() / self.scale.max().clamp(min=1e-30))


def percent(share: float) -> str:
    """A share for people."""
    if not math.isfinite(share):
        return "numbers that are not finite"
    if share >= 10:
        return f"{share:.0f} times" if share < 1e4 else f"{share:.0e} times"
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"
