"""Means with their intervals; when a mean is *better than chance* and when it is *near solving*.

A shortcut is better than chance if its whole 95% interval is. It comes near solving if its whole
interval lies at least three quarters of the way from the score of chance to the score of the
reference solver. So the end nearer to chance decides.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from synthbench.evaluation.scores import Z, wilson

#: The smallest fraction of the way from chance to the reference solver that is near solving.
NEAR = 0.75


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over rows with its 95% interval.

    The interval is Wilson's if all values are 0 or 1, otherwise the normal approximation. For a
    single value that is neither 0 nor 1, both ends are the mean.
    """

    rows: int
    mean: float
    low: float
    high: float


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of values, float64 `(rows,)`, ignoring NaN, with its interval; not all are NaN."""
    known = values[~np.isnan(values)]
    mean = float(known.sum() / len(known))
    if np.isin(known, (0.0, 1.0)).all():
        return Estimate(len(known), mean, *wilson(float(known.sum()), len(known)))
    half = Z * float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    return Estimate(len(known), mean, mean - half, mean + half)


def progress_from_chance(found: Estimate, chance: float, solution: float) -> float:
    """The fraction of the way from chance to the solver that is surely covered, at most 1.

    The end of the interval nearer to chance counts. The fraction is negative if the estimate is
    not surely better than chance, and NaN if chance scores as well as the solver. If the metric is
    an error, `solution` is below `chance`.
    """
    if solution == chance:
        return math.nan
    nearer = found.low if solution > chance else found.high
    return min((nearer - chance) / (solution - chance), 1.0)


def is_better(found: Estimate, chance: float, solution: float) -> bool:
    """Whether an estimate is surely better than chance, as the module defines it."""
    return progress_from_chance(found, chance, solution) > 0


def is_near(found: Estimate, chance: float, solution: float) -> bool:
    """Whether an estimate comes near solving, as the module defines it."""
    return progress_from_chance(found, chance, solution) >= NEAR


#: The text of a cell without a value.
NOTHING = "-"


def decimals(value: float | None, places: int = 3) -> str:
    """A number as text with `places` decimal places or digits; None is an empty cell."""
    if value is None:
        return NOTHING
    fits = value == 0 or 10**-places <= abs(value) < 1e3
    return f"{value:.{places}f}" if fits else f"{value:.{places}g}"


def percent(share: Estimate | None) -> str:
    """A share as text; None is an empty cell."""
    return NOTHING if share is None else f"{share.mean:.1%}"


def interval(found: Estimate) -> str:
    """The ends of an interval as text."""
    return f"{decimals(found.low)} to {decimals(found.high)}"
