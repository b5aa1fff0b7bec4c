"""Dependence of outputs on later positions, for layers of states and for models of tokens."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import torch
from torch import Tensor

from synthbench.training.layer_checks.rounding import Yardstick, rounded

#: The standard deviations of the later inputs that are drawn anew.
SIZES = (1, 3, 10)
#: The share of an output that counts as rounding in any case.
SHARE = 1e-5


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of early outputs by later inputs.

    Attributes:
        share: the largest, as a share of the output at its position.
        position: where that is.
        cut: the first position whose input was drawn anew.
        size: the standard deviation of the new inputs.
    """

    share: float
    position: int
    cut: int
    size: float

    def __str__(self) -> str:
        return f"position {self.position}, inputs anew from {self.cut} on"


@dataclasses.dataclass(frozen=True)
class Unchanged:
    """The largest change that counts as rounding, and whether equal calls differ by more."""

    largest: float
    is_noisy: bool


def cuts(length: int) -> list[int]:
    """Positions before which outputs are compared.

    They include 1 and the last position, odd and even numbers, and no multiples of 4 or of 3
    above 2, so that a layer that looks ahead within blocks of positions is found.
    """
    inner = [_coprime(round(share * length)) for share in (0.3, 0.6)]
    wanted = {1, 2, *inner, inner[-1] + 1, length - 1}
    return sorted(cut for cut in wanted if 0 < cut < length)


def _coprime(number: int) -> int:
    """The nearest number from `number` on that neither 2 nor 3 divides."""
    return next(candidate for candidate in range(number, number + 6) if candidate % 6 in (1, 5))


def change_by_later_inputs(
    run: Callable[[Tensor], Tensor],
    inputs: Tensor,
    later: Callable[[int, int], Tensor],
    sizes: tuple[int, ...] = SIZES,
    share: float = SHARE,
    run_rounded: Callable[[Tensor], Tensor] | None = None,
) -> Change | Unchanged:
    """Compare early outputs before and after later inputs are drawn anew.

    Args:
        run: outputs `(rows, length, features)` of inputs.
        inputs: `(rows, length, ...)`.
        later: other inputs of this shape, of a size and for a cut.
        sizes: the sizes to try.
        share: the share of an output that counts as rounding in any case.
        run_rounded: the same as `run`, after a change of inputs or parameters by rounding alone.
            By default inputs are changed.

    Returns:
        The largest change beyond rounding and noise, or else the largest of all.
    """
    places = torch.arange(inputs.shape[1], device=inputs.device)
    places = places.view(1, -1, *[1] * (inputs.dim() - 2))
    run_rounded = run_rounded or (lambda tensor: run(rounded(tensor)))
    whole = run(inputs)

    def again(_: int) -> Tensor:
        return run(inputs)

    changes: list[Change] = []
    largest, is_noisy = 0.0, False
    for cut in cuts(inputs.shape[1]):
        changed = [torch.where(places < cut, inputs, later(size, cut)) for size in sizes]
        outputs = [run(tensor) for tensor in changed]
        rounding = functools.partial(_and_rounded, run_rounded, changed[-1], outputs[-1])
        yardstick = Yardstick(whole[:, :cut], share, rounding, again)
        for size, output in zip(sizes, outputs, strict=True):
            largest = max(largest, yardstick.largest(output[:, :cut]))
            if (worst := yardstick.worst(output[:, :cut])) is not None:
                changes.append(Change(*worst, cut, size))
        is_noisy |= yardstick.is_noisy
    if changes:
        return max(changes, key=lambda change: change.share)
    return Unchanged(largest, is_noisy)


def _and_rounded(
    run_rounded: Callable[[Tensor], Tensor], inputs: Tensor, output: Tensor
) -> list[tuple[Tensor, Tensor]]:
    return [(run_rounded(inputs), output)]
