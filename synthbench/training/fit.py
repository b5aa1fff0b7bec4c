"""How well a model has learned its training rows: without it, no other figure means anything.

A figure on an evaluation split says something about a model only if the model has learned what it
was taught. So every run answers rows that it was trained on, in evaluation mode, and notes whether
its training loss still fell when it stopped.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

#: The most training rows that a model answers to show its fit.
FIT_ROWS = 1000
#: The share of training rows, or of their variance, from which on a model has learned them.
LEARNED = 0.99
#: The training loss still falls if its mean over the last eighth of the run is lower than over the
#: eighth before by more than this share, and by more than twice the standard error.
_FALL = 0.02

#: What a fit says of a run.
FITTED = "fitted"
UNFINISHED = "not trained to the end"
PLATEAU = "stopped improving"


def learned(score: tuple[float, float]) -> bool:
    """Whether a model with this metric and share of its training rows has learned them."""
    return score[1] >= LEARNED


def fit_of(
    metric: str,
    rows: int,
    end: tuple[float, float],
    chosen: tuple[float, float],
    losses: Sequence[float],
) -> dict[str, Any]:
    """The fit of a run, as JSON values.

    Args:
        metric: the name of the metric.
        rows: how many training rows were answered.
        end: with the last parameters, the metric and the share that is learned.
        chosen: the same with the parameters that count.
        losses: the training loss of equal parts of the run, in order.

    Returns:
        `rows`, `metric`, its values at the `end` and for the `chosen` parameters, whether the loss
        `still_fell`, and the `state`: `fitted`, `not trained to the end`, or `stopped improving`.
    """
    falls = still_falls(losses)
    state = FITTED if learned(chosen) else UNFINISHED if falls else PLATEAU
    return {
        "rows": rows,
        "metric": metric,
        "end": end[0],
        "chosen": chosen[0],
        "still_fell": falls,
        "state": state,
    }


def still_falls(losses: Sequence[float]) -> bool:
    """Whether the training loss fell in the last quarter of a run.

    `losses` are means over equal parts of the run, in order; fewer than sixteen cannot show that
    the loss has stopped falling.
    """
    part = len(losses) // 8
    if part < 2:
        return True
    before, last = losses[-2 * part : -part], losses[-part:]
    fall = statistics.fmean(before) - statistics.fmean(last)
    error = ((statistics.variance(before) + statistics.variance(last)) / part) ** 0.5
    return bool(fall > max(_FALL * statistics.fmean(before), 2 * error))


def state_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the fits of several runs say of them together; empty if there was nothing to learn.

    All of them are fitted, or have stopped improving, or one is not trained to the end.
    """
    states = {run["fit"]["state"] for run in runs if run["fit"]}
    return next((one for one in (UNFINISHED, PLATEAU, FITTED) if one in states), "")
