"""Tests of figures, beside those of SciPy and of the literature."""

import itertools
import math
import random
import statistics

import pytest

from synthbench.training.significance import MeanOfRuns, fisher, holm, welch

stats = pytest.importorskip("scipy.stats")


def test_welch_is_that_of_scipy_where_seeds_vary_more_than_rows():
    first, second = [0.1, 0.4, 0.3, 0.35], [0.6, 0.5, 0.9]
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert welch(MeanOfRuns(first, None), MeanOfRuns(second, None)) == pytest.approx(expected)
    many = MeanOfRuns(first, 10**6), MeanOfRuns(second, 10**6)
    assert welch(*many) == pytest.approx(expected, rel=1e-3)


def test_p_values_of_no_shares_are_those_of_scipy():
    draws = random.Random(0)
    for _ in range(300):
        values = [
            [draws.gauss(mean, 0.03) for _ in range(draws.randint(2, 8))]
            for mean in (draws.uniform(1, 1.1), draws.uniform(1, 1.1))
        ]
        figures = [MeanOfRuns(one, None) for one in values]
        expected = stats.ttest_ind(*values, equal_var=False).pvalue
        assert welch(*figures) == pytest.approx(expected)


def test_runs_that_agree_are_tested_over_their_rows():
    """Three runs that agree are not exact: shares of rows differ by chance."""
    first, second = MeanOfRuns([0.5] * 3, 100), MeanOfRuns([0.6] * 3, 100)
    assert welch(first, second) == pytest.approx(binomial_p(0.5, 0.6, 100), rel=0.02)
    assert welch(first, second) > 0.1
    assert welch(MeanOfRuns([0.5] * 3, 10_000), MeanOfRuns([0.6] * 3, 10_000)) < 0.001
    assert MeanOfRuns([1.0] * 3, 100).row_variance == pytest.approx(101 / 102 * 1 / 102 / 100)


def binomial_p(first, second, rows):
    """The two-sided p of a difference between two shares of rows by the normal distribution."""
    deviation = math.sqrt((first * (1 - first) + second * (1 - second)) / rows)
    return 2 * statistics.NormalDist().cdf(-abs(first - second) / deviation)


@pytest.mark.parametrize(
    ("runs", "seeds"),
    [((3, 3), (0, 0)), ((3, 3), (10, 10)), ((3, 3), (100, 100)), ((3, 3), (0, 100)),
     ((5, 5), (0, 0)), ((5, 5), (10, 10)), ((5, 5), (0, 100)), ((3, 5), (3, 100))],
)  # fmt: skip
def test_differences_are_found_as_often_as_the_level_says_where_there_are_none(runs, seeds):
    found = [welch(*figures) for figures in alike(runs, seeds)]
    assert 0.025 < sum(p < 0.05 for p in found) / len(found) < 0.065
    assert sum(p < 0.005 for p in found) / len(found) < 0.0125


def alike(runs, seeds, rows=1000, tests=2000):
    """Figures of two models with the same share of right rows, all of whose runs answer the same.

    A run varies with its seed so many times as much as with its rows.
    """
    draws, deviation = random.Random(0), math.sqrt(0.25 / rows)
    for _ in range(tests):
        figures = []
        for count, more in zip(runs, seeds, strict=True):
            of_rows = draws.gauss(0.5, deviation)
            values = [of_rows + draws.gauss(0, deviation * math.sqrt(more)) for _ in range(count)]
            figures.append(MeanOfRuns(values, rows))
        yield figures


def test_one_t_distribution_for_the_sum_of_the_variances_errs():
    def found(seeds, level, rows_are_known):
        share = 0
        for figures in alike((3, 3), seeds):
            known = sum(one.row_variance for one in figures)
            parts = [one.seed_variance for one in figures]
            variance = sum(parts) + known
            if not rows_are_known:
                parts = [one.seed_variance + one.row_variance for one in figures]
            squares = sum(part**2 / 2 for part in parts)
            freedom = variance**2 / squares if squares else math.inf
            t = abs(figures[0].mean - figures[1].mean) / math.sqrt(variance)
            share += 2 * stats.t.sf(t, min(freedom, 1e9)) < level
        return share / 2000

    assert found((0, 0), 0.05, rows_are_known=False) < 0.01, "Welch's degrees of freedom"
    assert found((0, 100), 0.005, rows_are_known=True) > 0.02, "Satterthwaite's"


@pytest.mark.parametrize(("runs", "at_5", "at_half"), [(3, 0.031, 0.031), (5, 0.022, 0.002)])
def test_runs_that_succeed_or_fail_differ_by_chance_more_often_than_a_strict_level_says(
    runs, at_5, at_half
):
    """Half of the runs of two equal models succeed: three may agree, and so may three others."""
    ways = [math.comb(runs, right) / 2**runs for right in range(runs + 1)]
    figures = [MeanOfRuns([1.0] * k + [0.5] * (runs - k), 1000) for k in range(runs + 1)]
    both = list(itertools.product(range(runs + 1), repeat=2))
    p = {(one, other): welch(figures[one], figures[other]) for one, other in both}
    for level, expected in ((0.05, at_5), (0.005, at_half)):
        found = sum(ways[one] * ways[other] for one, other in both if p[one, other] < level)
        assert found == pytest.approx(expected, abs=0.001)


def test_where_all_models_answer_the_same_rows_the_test_is_too_cautious():
    draws, deviation = random.Random(0), math.sqrt(0.25 / 1000)
    found = 0
    for _ in range(1000):
        shared = draws.gauss(0, math.sqrt(0.6))
        shares = [0.5 + deviation * (shared + draws.gauss(0, math.sqrt(0.4))) for _ in range(2)]
        found += welch(*(MeanOfRuns([share] * 3, 1000) for share in shares)) < 0.05
    assert found < 10


def test_more_seeds_on_the_same_rows_do_not_make_the_rows_more():
    """A test that divided the variance of the rows by the seeds would end below any level."""
    figures = [(MeanOfRuns([0.5] * runs, 100), MeanOfRuns([0.6] * runs, 100)) for runs in (5, 500)]
    few, many = (welch(*both) for both in figures)
    assert few == pytest.approx(many) == pytest.approx(binomial_p(0.5, 0.6, 100), rel=0.02)


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
