"""Means with their intervals, and when a shortcut comes near solving.

The one definition of *near* that all of an audit uses: of the way from chance to the reference
solution, a shortcut that comes near solving goes at least three quarters, and not by luck: the end
of its 95% interval that is nearer to chance has come so far.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from synthbench.report import wilson

#: Of the way from chance to the reference solution, what a near solution goes at least.
NEAR = 0.75
#: The standard normal deviate of a two-sided 95% interval.
_Z = 1.959963984540054


@dataclasses.dataclass(frozen=True)
class Figure:
    """A mean over rows with its 95% interval.

    Attributes:
        rows: how many rows it is a mean of.
        mean: the mean.
        low, high: the interval: Wilson's where all values are 0 or 1, else that of the normal
            approximation; for a single row as wide as can be told, which is the mean itself.
    """

    rows: int
    mean: float
    low: float
    high: float


def figure(values: NDArray[np.float64]) -> Figure:
    """The mean of values with its interval.

    Args:
        values: float64 `(rows,)`, at least one; NaN do not count, but not all are NaN.
    """
    told = values[~np.isnan(values)]
    mean = float(told.sum() / len(told))
    if np.isin(told, (0.0, 1.0)).all():
        return Figure(len(told), mean, *wilson(float(told.sum()), len(told)))
    half = _Z * float(told.std(ddof=1)) / math.sqrt(len(told)) if len(told) > 1 else 0.0
    return Figure(len(told), mean, mean - half, mean + half)


def way(found: Figure, chance: float, solution: float) -> float:
    """How much of the way from chance to the solution a figure surely goes; at most 1.

    Args:
        found: the figure; what counts is the end of its interval that is nearer to chance.
        chance: what is reached by chance.
        solution: what the reference solution reaches: more, or for an error less.
    """
    if solution == chance:
        return math.nan
    nearer = found.low if solution > chance else found.high
    return min((nearer - chance) / (solution - chance), 1.0)


def is_near(found: Figure, chance: float, solution: float) -> bool:
    """Whether a figure comes near solving; see the module."""
    return way(found, chance, solution) >= NEAR
