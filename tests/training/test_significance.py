"""Tests and intervals of figures, beside those of SciPy and of the literature."""

import itertools
import math
import random
import statistics

import pytest

from synthbench.training.significance import MeanOfRuns, fisher, holm, interval, welch

stats = pytest.importorskip("scipy.stats")


def test_welch_is_that_of_scipy_where_seeds_vary_more_than_rows():
    first, second = [0.1, 0.4, 0.3, 0.35], [0.6, 0.5, 0.9]
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert welch(MeanOfRuns(first, None), MeanOfRuns(second, None)) == pytest.approx(expected)
    many = MeanOfRuns(first, 10**6), MeanOfRuns(second, 10**6)
    assert welch(*many) == pytest.approx(expected, rel=1e-3)


def test_p_and_intervals_are_those_of_scipy_for_the_same_variance():
    draws = random.Random(0)
    for _ in range(300):
        figures = [
            MeanOfRuns(
                [min(1.0, max(0.0, draws.gauss(mean, 0.03))) for _ in range(draws.randint(2, 8))],
                draws.choice([None, 30, 1000]),
            )
            for mean in (draws.random(), draws.random())
        ]
        summary = [
            (one.mean, math.sqrt(one.variance * len(one.values)), len(one.values))
            for one in figures
        ]
        expected = stats.ttest_ind_from_stats(*summary[0], *summary[1], equal_var=False).pvalue
        assert welch(*figures) == pytest.approx(expected)
        mean, deviation, count = summary[0]
        if figures[0].rows is None and deviation:
            ends = stats.t.interval(0.95, count - 1, mean, deviation / math.sqrt(count))
            assert interval(figures[0]) == pytest.approx((max(0.0, ends[0]), ends[1]))


def test_equal_runs_do_not_count_as_exact():
    """Three runs that agree differ by chance as shares of their rows do."""
    figures = MeanOfRuns([0.5] * 3, 100), MeanOfRuns([0.6] * 3, 100)
    assert 0.05 < welch(*figures) < 0.3
    assert welch(MeanOfRuns([0.5] * 3, 10_000), MeanOfRuns([0.6] * 3, 10_000)) < 0.001
    assert MeanOfRuns([1.0] * 3, 100).variance == pytest.approx(101 / 102 * 1 / 102 / 100)


def test_more_seeds_on_the_same_rows_do_not_make_the_rows_more():
    """A test that divided the variance of the rows by the seeds would end below any level."""
    figures = [(MeanOfRuns([0.5] * runs, 100), MeanOfRuns([0.6] * runs, 100)) for runs in (5, 500)]
    few, many = (welch(*both) for both in figures)
    normal = 2 * (1 - statistics.NormalDist().cdf(0.1 / math.sqrt(2 * 0.245 / 100)))
    assert few > many > 0.1
    assert many == pytest.approx(normal, rel=0.02)


def test_without_any_spread_there_is_nothing_to_test_by():
    assert welch(MeanOfRuns([3.0, 3.0, 3.0], None), MeanOfRuns([4.0, 4.0, 4.0], None)) == 1.0


def test_fisher_is_that_of_scipy():
    for first, second in itertools.product(range(6), range(5)):
        table = [[first, 5 - first], [second, 4 - second]]
        expected = stats.fisher_exact(table).pvalue
        assert fisher(first, 5, second, 4) == pytest.approx(expected), table


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_keeps_the_order():
    # Holm's step-down procedure on the p of Wright, Adjusted p-values (1992).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_more_seeds_on_the_same_rows_leave_the_part_of_the_rows():
    few, many = MeanOfRuns([0.4, 0.6] * 2, 100), MeanOfRuns([0.4, 0.6] * 200, 100)
    (low, high), (least, most) = interval(few), interval(many)
    assert low < least < 0.5 < most < high
    assert most - least == pytest.approx(2 * 1.96 * 0.05, rel=0.1)  # of 100 rows, whatever the runs
    assert interval(MeanOfRuns([0.99, 1.0], 50))[1] == 1.0
    assert interval(MeanOfRuns([2.0, 4.0], None)) == (0.0, pytest.approx(3 + 12.706, abs=0.01))
