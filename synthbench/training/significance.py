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
#: The least p that is told apart from 0.
_LEAST = 1e-100


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
    def seed_variance(self) -> float:
        """The variance of the mean over seeds: that of the runs by their number.

        The runs vary a little because of the rows, too, so this is rather too much than too little.
        """
        return statistics.variance(self.values) / len(self.values)


class _Error(NamedTuple):
    """The error of a mean, or of the difference of two.

    Attributes:
        seeds: its variance over seeds.
        freedom: the degrees of freedom of `seeds`, by Welch.
        rows: its variance over rows.
    """

    seeds: float
    freedom: float
    rows: float

    @classmethod
    def of(cls, *figures: MeanOfRuns) -> _Error:
        """The error of one figure, or of the difference of two."""
        parts = [(one.seed_variance, len(one.values) - 1) for one in figures]
        seeds = sum(part for part, _ in parts)
        squares = sum(part**2 / freedom for part, freedom in parts)
        rows = sum(one.row_variance for one in figures)
        return cls(seeds, seeds**2 / squares if squares else math.inf, rows)

    def reaches(self, p: float) -> float:
        """What it reaches, to either side, with a probability of p.

        The variance over seeds is estimated from a few runs, so its part of the error has Student's
        t; that of the rows is known. The quantile is the mean of that of t and of the normal one,
        weighted by the variances.

        Source: Cochran and Cox, Experimental Designs (1957), for the mean of quantiles.
        """
        from scipy.special import ndtri, stdtrit

        if not self.seeds + self.rows:
            return 0.0
        quantiles = self.seeds * stdtrit(self.freedom, p / 2) + self.rows * ndtri(p / 2)
        return float(-quantiles / math.sqrt(self.seeds + self.rows))


def welch(first: MeanOfRuns, second: MeanOfRuns) -> float:
    """The two-sided p of a difference between the means of two figures, by Welch's t-test.

    Each has at least two runs. The binomial variance of the rows adds to that over seeds. 1 if
    neither varies, because then there is nothing to test by.

    Where there is no difference, it finds one about as often as the level says: with three runs of
    each model in at most 6% of tests at 5%, 1% at 0.5% and 0.3% at 0.1%, whatever the variances
    are. A t-test with the sum of both does not. With Welch's degrees of freedom for that sum it
    finds 0.5% at 5% where the rows vary most; with Satterthwaite's, which take the rows as known,
    2.7% at 0.5% where the seeds of one model agree and those of the other do not.
    `tests/training/test_significance.py` simulates it.

    Source: Welch, The generalization of "Student's" problem when several different population
    variances are involved (1947).
    """
    from scipy.optimize import brentq

    distance, error = abs(first.mean - second.mean), _Error.of(first, second)
    largest = error.reaches(_LEAST)
    if not largest:
        return 1.0
    if distance >= largest:
        return _LEAST
    log = brentq(lambda log: error.reaches(math.exp(log)) - distance, math.log(_LEAST), 0.0)
    return math.exp(log)


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


def holm(chances: Sequence[float], untested: int = 0) -> list[float]:
    """The p of several tests, corrected for their number, in the same order.

    `untested` more tests were planned and not made; they count as if they had found nothing.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    corrected = [0.0] * len(chances)
    number, largest = len(chances) + untested, 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda one: chances[one])):
        largest = max(largest, min(1.0, (number - rank) * chances[place]))
        corrected[place] = largest
    return corrected


def interval(figure: MeanOfRuns) -> tuple[float, float]:
    """The 95% interval of a mean over seeds and rows, cut at 0; a share's is cut at 1, too.

    No metric is negative: errors, distances, numbers of steps and epochs.
    """
    half = _Error.of(figure).reaches(LEVEL)
    low, high = max(0.0, figure.mean - half), figure.mean + half
    return low, high if figure.rows is None else min(1.0, high)
