"""Tests and intervals for figures of a few runs, each measured on the same rows.

A figure is a mean over runs with several seeds. It varies with the seed, and with the rows it was
measured on. All runs answer the same rows, so more seeds make the first part of the variance
smaller and not the second, and three runs that happen to agree are not exact.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

#: The chance of a difference as large, if there were none, below which two figures differ.
LEVEL = 0.05


class MeanOfRuns(NamedTuple):
    """A figure of several runs.

    Attributes:
        values: the figure of each run.
        rows: the number of rows that each share is taken on; None if the figure is no share.
    """

    values: Sequence[float]
    rows: int | None

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return statistics.fmean(self.values)

    @property
    def row_variance(self) -> float:
        """The binomial variance of one run's share; 0 if the figure is no share.

        One row more is taken to be right, and one wrong (Laplace), so that it is not 0 for runs
        without a mistake.
        """
        if self.rows is None:
            return 0.0
        share = (self.mean * self.rows + 1) / (self.rows + 2)
        return share * (1 - share) / self.rows

    @property
    def variance(self) -> float:
        """The variance of the mean: that over seeds by their number, and `row_variance`.

        The runs vary a little because of the rows, too, so this is rather too much than too little.
        """
        return statistics.variance(self.values) / len(self.values) + self.row_variance


def welch(first: MeanOfRuns, second: MeanOfRuns) -> float:
    """The two-sided p of a difference between the means of two figures, by Welch's t-test.

    Each has at least two runs. 1 if neither varies, because then there is nothing to test by.

    Source: Welch, The generalization of "Student's" problem when several different population
    variances are involved (1947).
    """
    from scipy.special import stdtr

    parts = [one.variance for one in (first, second)]
    if not sum(parts):
        return 1.0
    t = (first.mean - second.mean) / math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(one.values) - 1) for part, one in zip(parts, (first, second), strict=True)
    )
    return float(2 * stdtr(freedom, -abs(t)))


def fisher(first: int, runs: int, second: int, others: int) -> float:
    """The two-sided p of `first` of `runs` and `second` of `others`, by Fisher's exact test.

    All divisions of the successes that are at most as likely as this one count against chance.

    Example:
        >>> from synthbench.training.significance import fisher
        >>> round(fisher(3, 3, 0, 3), 6)  # the smallest of three and three
        0.1
    """
    total = first + second
    ways = {
        one: math.comb(runs, one) * math.comb(others, total - one)
        for one in range(max(0, total - others), min(runs, total) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[first]) / math.comb(runs + others, total)


def holm(chances: Sequence[float]) -> list[float]:
    """The p of several tests, corrected for their number, in the same order.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    corrected = [0.0] * len(chances)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda one: chances[one])):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = largest
    return corrected


def interval(figure: MeanOfRuns) -> tuple[float, float]:
    """The 95% interval of a mean over seeds and rows, cut at 0; a share's is cut at 1, too.

    No metric is negative: errors, distances, numbers of steps and epochs.
    """
    from scipy.special import stdtrit

    half = float(stdtrit(len(figure.values) - 1, 0.975)) * math.sqrt(figure.variance)
    low, high = max(0.0, figure.mean - half), figure.mean + half
    return low, high if figure.rows is None else min(1.0, high)
