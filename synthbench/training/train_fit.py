"""The fit of a model to its training rows. Without it, other figures mean nothing.

A figure on an evaluation split says something about a model only if the model has learned what it
was taught. So every run answers rows that it was trained on, in evaluation mode. A run that has not
learned them is *not fitted*, in so many steps: a plateau may end later (grokking, Eureka-moments),
so no loss curve can say that a model is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: The most training rows that a model answers to show its fit.
FIT_ROWS = 1000
#: The share of training rows, or of their variance, from which on a model has learned them.
LEARNED = 0.99

#: States of a run.
FITTED = "fitted"
NOT_FITTED = "not fitted"


def learned(score: tuple[float, float]) -> bool:
    """True if a model with this metric and share of its training rows has learned them."""
    return score[1] >= LEARNED


def fit_of(
    metric: str, rows: int, end: tuple[float, float], kept: tuple[float, float]
) -> dict[str, Any]:
    """The fit of a run, as JSON values.

    Args:
        metric: the name of the metric.
        rows: how many training rows were answered.
        end: with the last parameters, the metric and the share that is learned.
        kept: the same with the parameters that count.

    Returns:
        `rows`, `metric`, its values at the `end` and for the `chosen` parameters, the share that
        the latter have `learned`, and the `state`: `fitted` or `not fitted`.
    """
    return {
        "rows": rows,
        "metric": metric,
        "end": end[0],
        "chosen": kept[0],
        "learned": kept[1],
        "state": FITTED if learned(kept) else NOT_FITTED,
    }


def state_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """`fitted` if all of several runs are, else `not fitted`. Empty if there was nothing to learn.

    Each run has its `fit`, as `fit_of` gave it.
    """
    fits = [run["fit"] for run in runs if run["fit"]]
    if not fits:
        return ""
    return FITTED if all(fit["state"] == FITTED for fit in fits) else NOT_FITTED
