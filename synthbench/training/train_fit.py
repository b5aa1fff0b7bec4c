"""How well a model has learned its training rows: without it, no other figure means anything.

A figure on an evaluation split says something about a model only if the model has learned what it
was taught. So every run answers rows that it was trained on, in evaluation mode. A run that has not
learned them is *not fitted*, in so many steps: a plateau may end later (grokking, Eureka-moments),
so no loss curve can say that a model is done. Only a longer run can show that one was not: if twice
the steps raise the share of training rows that is learned by more than `RISE`, the shorter run was
*not trained to the end*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: The most training rows that a model answers to show its fit.
FIT_ROWS = 1000
#: The share of training rows, or of their variance, from which on a model has learned them.
LEARNED = 0.99
#: A run of twice the steps that learns more than this of the rows shows that the shorter one was
#: not trained to the end.
RISE = 0.01

#: What a fit says of a run. Files of older versions have other words for `not fitted`.
FITTED = "fitted"
NOT_FITTED = "not fitted"
#: What a run of twice the steps may say of a run that is not fitted.
UNFINISHED = "not trained to the end"


def learned(score: tuple[float, float]) -> bool:
    """Whether a model with this metric and share of its training rows has learned them."""
    return score[1] >= LEARNED


def fit_of(
    metric: str, rows: int, end: tuple[float, float], chosen: tuple[float, float]
) -> dict[str, Any]:
    """The fit of a run, as JSON values.

    Args:
        metric: the name of the metric.
        rows: how many training rows were answered.
        end: with the last parameters, the metric and the share that is learned.
        chosen: the same with the parameters that count.

    Returns:
        `rows`, `metric`, its values at the `end` and for the `chosen` parameters, the share that
        the latter have `learned`, and the `state`: `fitted` or `not fitted`.
    """
    return {
        "rows": rows,
        "metric": metric,
        "end": end[0],
        "chosen": chosen[0],
        "learned": chosen[1],
        "state": FITTED if learned(chosen) else NOT_FITTED,
    }


def state_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """`fitted` if all of several runs are, else `not fitted`; empty if there was nothing to learn.

    Each run has its `fit`, as `fit_of` gave it in this version or an older one.
    """
    fits = [run["fit"] for run in runs if run["fit"]]
    if not fits:
        return ""
    return FITTED if all(fit["state"] == FITTED for fit in fits) else NOT_FITTED


def learned_share(fit: Mapping[str, Any] | None) -> float | None:
    """The share of its training rows that a run has learned, None if the run does not say it.

    Files of older versions have the metric alone, which is the share unless it is an error.
    """
    if fit is None:
        return None
    share: float | None = fit.get("learned", None if fit["metric"] == "mse" else fit["chosen"])
    return share


def rises(longer: Mapping[str, Any]) -> bool:
    """Whether a run of twice the steps shows that the shorter one was not trained to the end.

    It has the shares of training rows that both have learned (`single` and `doubled`), and whether
    it had `other_rows`: then these may make the difference, and nothing is shown.
    """
    rise = round(longer["doubled"] - longer["single"], 12)  # of rounded shares, so free of dust
    return rise > RISE and not longer["other_rows"]
