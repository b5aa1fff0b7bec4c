"""Tests for differences between figures of a few runs, each measured on the same rows.

A figure is a mean over runs with several seeds. It varies with the seed, and with the rows it was
measured on. All runs answer the same rows, so more seeds make the first part of the variance
smaller and not the second, and three runs that happen to agree are not exact.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

#: Significance level.
LEVEL = 0.05
#: The least p-value that is distinguished from 0.
_LEAST = 1e-100


class MeanOfRuns(NamedTuple):
    """A figure of several runs.

    Attributes:
        values: the figure of each run.
        rows: the number of rows that each share is taken on; None if the figure is not a share.
    """

    values: Sequence[float]
    rows: int | None

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return statistics.fmean(self.values)

    @property
    def row_variance(self) -> float:
        """The binomial variance of one run's share. 0 if the figure is not a share.

        One row more is taken to be right, and one wrong (Laplace), so that it is not 0 for runs
        without a mistake.
        """
        if self.rows is None:
            return 0.0
        share = (self.mean * self.rows + 1) / (self.rows + 2)
        return share * (1 - share) / self.rows

    @property
    def seed_variance(self) -> float:
        """The variance of the mean over seeds: that of the runs by their number."""
        return statistics.variance(self.values) / len(self.values)


def welch(first: MeanOfRuns, second: MeanOfRuns) -> float:
    """The two-sided p-value of a difference between two means, by Welch's t-test.

    Each has at least two runs. The variance over seeds is estimated from a few runs, so its part
    of the error has Student's t with Welch's degrees of freedom. The binomial variance of the rows
    adds to it and is known. The quantile is the mean of that of t and of the normal distribution,
    weighted by the variances. The p-value is 1 if neither figure varies.
    `tests/training/test_significance.py` simulates its rate of false positives.

    Sources: Welch, The generalization of "Student's" problem when several different population
    variances are involved (1947); Cochran and Cox, Experimental Designs (1957), for the mean of
    quantiles.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri, stdtrit

    parts = [(group.seed_variance, len(group.values) - 1) for group in (first, second)]
    seeds, rows = sum(part for part, _ in parts), first.row_variance + second.row_variance
    squares = sum(part**2 / freedom for part, freedom in parts)
    freedom, distance = seeds**2 / squares if squares else math.inf, abs(first.mean - second.mean)
    if not seeds + rows:
        return 1.0

    def reach(log: float) -> float:
        """The difference that has this p-value."""
        half = math.exp(log) / 2
        quantiles = seeds * stdtrit(freedom, half) + rows * ndtri(half)
        return float(-quantiles / math.sqrt(seeds + rows))

    if distance >= reach(math.log(_LEAST)):
        return _LEAST
    return math.exp(brentq(lambda log: reach(log) - distance, math.log(_LEAST), 0.0))


def fisher(first: int, runs: int, second: int, others: int) -> float:
    """The two-sided p-value of `first` of `runs` and `second` of `others`, by Fisher's exact test.

    All divisions of the successes that are at most as likely as this one count against chance.

    Example:
        >>> from synthbench.training.significance import fisher
        >>> round(fisher(3, 3, 0, 3), 6)  # the smallest of three and three
        0.1
    """
    total = first + second
    ways = {
        count: math.comb(runs, count) * math.comb(others, total - count)
        for count in range(max(0, total - others), min(runs, total) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[first]) / math.comb(runs + others, total)


def holm(chances: Sequence[float], untested: int = 0) -> list[float]:
    """The p-values of several tests, corrected for their number, in the same order.

    `untested` more tests were planned and not made. They count as if they had found nothing.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    corrected = [0.0] * len(chances)
    number, largest = len(chances) + untested, 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        largest = max(largest, min(1.0, (number - rank) * chances[place]))
        corrected[place] = largest
    return corrected
