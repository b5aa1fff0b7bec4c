"""Whether our runs show the contrasts between models that the papers claim."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.training.fit import UNFINISHED, state_of
from synthbench.training.recipes.contrasts import CONTRASTS, Contrast, Side

#: Deviations between two means, and the chance of as large a difference between two numbers of
#: runs if there were none, from which on a contrast is shown.
_DEVIATIONS, _CHANCE = 2.0, 0.05
#: The difference that counts between two shares, and between two single runs.
_LEAST, _LEAST_SINGLE = 0.02, 0.1

SHOWN, NOT_SHOWN, NOT_RUN = "shown", "not shown", "not run"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What our runs say of a contrast.

    Attributes:
        contrast: the paper's claim.
        state: `shown`, `not shown` or `not run`.
        figures: the two figures, the better one first; empty if one was not measured.
        reason: by how much it is shown, or why it is not.
        profile: the sizes of the runs.
    """

    contrast: Contrast
    state: str
    figures: str = ""
    reason: str = ""
    profile: str = ""

    @property
    def evidence(self) -> str:
        """The two figures and what follows from them, as tables show it."""
        return f"{self.figures} ({self.reason})" if self.figures else self.reason


def judge(comparisons: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What the comparisons of `validate` say of every contrast of their tasks and studies.

    A contrast with runs of several profiles is judged by the one that shows it.
    """
    order = (SHOWN, NOT_SHOWN, NOT_RUN)
    found = []
    for contrast in CONTRASTS:
        tried = [
            judge_one(contrast, one)
            for one in comparisons
            if (one["task"], one["study"]) == (contrast.task, contrast.study)
        ]
        if tried:
            found.append(min(tried, key=lambda one: order.index(one.state)))
    return found


def judge_one(contrast: Contrast, comparison: Mapping[str, Any]) -> Finding:
    """What one comparison says of a contrast.

    Figures of runs are compared in units of their standard deviation, and single runs by their
    difference. Numbers of runs are compared by Fisher's exact test. A model that is not trained to
    the end shows nothing.
    """
    sides = [_line(side, comparison) for side in (contrast.better, contrast.worse)]
    profile = comparison["profile"]
    if None in sides:
        return Finding(contrast, NOT_RUN, profile=profile)
    lines = [side for side in sides if side is not None]
    names = [contrast.better.measure, contrast.worse.measure]
    values = [
        [value for value in line["measures"][name]["values"] if value is not None]
        for line, name in zip(lines, names, strict=True)
    ]
    if not all(values):
        return Finding(contrast, NOT_SHOWN, reason="no run has this figure", profile=profile)
    metrics = {one["name"]: one["metric"] for one in comparison["measures"]}
    if metrics[names[0]] == "eureka_ratio":
        shown, figures, reason = _compare_counts(*values)
    else:
        sign = -1 if contrast.below else 1
        better, worse = ([sign * value for value in one] for one in values)
        share = metrics[names[0]] not in ("mse", "eureka_epoch", "distance")
        shown, reason = _compare_figures(better, worse, _LEAST if share else 0.0)
        figures = " and ".join(f"{statistics.fmean(one):.3g}" for one in values)
    for line in lines:
        if state_of(line["runs"]) == UNFINISHED:
            shown, reason = False, f"{line['model']} is {UNFINISHED}"
    return Finding(contrast, SHOWN if shown else NOT_SHOWN, figures, reason, profile)


def _line(side: Side, comparison: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The line of a comparison that has a figure."""
    for line in comparison["models"]:
        if (line["variant"], line["model"]) == (side.variant, side.model):
            found: Mapping[str, Any] = line
            return found
    return None


def _compare_figures(
    better: Sequence[float], worse: Sequence[float], least: float
) -> tuple[bool, str]:
    """Whether the first figures are higher, and by how much."""
    difference = statistics.fmean(better) - statistics.fmean(worse)
    if min(len(better), len(worse)) == 1:
        return difference >= _LEAST_SINGLE, "a single run"
    spread = math.sqrt((statistics.variance(better) + statistics.variance(worse)) / 2)
    if spread == 0:
        return difference > least, "every run the same"
    deviations = difference / spread
    return (
        deviations >= _DEVIATIONS and difference > least,
        f"{deviations:,.1f} standard deviations",
    )


def _compare_counts(better: Sequence[float], worse: Sequence[float]) -> tuple[bool, str, str]:
    """Whether more of the first runs have a moment; the counts; and how likely that is by chance.

    Fisher's exact test, one-sided.
    """
    first, second, runs, others = int(sum(better)), int(sum(worse)), len(better), len(worse)
    total = first + second
    ways = math.comb(runs + others, total)
    chance = sum(
        math.comb(runs, one) * math.comb(others, total - one)
        for one in range(first, min(runs, total) + 1)
    )
    figures = f"{first} of {runs} and {second} of {others} runs"
    return chance / ways < _CHANCE, figures, f"p = {chance / ways:.2g}"
