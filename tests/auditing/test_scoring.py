"""Means, intervals, and the one definition of near."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.auditing.scoring import (
    NEAR,
    Estimate,
    estimate,
    is_better,
    is_near,
    next_of_level,
    progress_from_chance,
)
from synthbench.evaluation.scores import wilson


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=50))
def test_of_values_0_and_1_the_interval_is_wilsons(values):
    found = estimate(np.array(values))
    assert (found.rows, found.mean) == (len(values), pytest.approx(sum(values) / len(values)))
    assert (found.low, found.high) == wilson(sum(values), len(values))


def test_of_other_values_it_is_that_of_the_normal_approximation():
    found = estimate(np.array([0.1, 0.2, 0.4, 0.7]))
    half = 1.959963984540054 * np.std([0.1, 0.2, 0.4, 0.7], ddof=1) / 2
    assert found == Estimate(
        4, pytest.approx(0.35), *map(pytest.approx, (0.35 - half, 0.35 + half))
    )
    assert estimate(np.array([0.3])) == Estimate(1, 0.3, 0.3, 0.3)


def test_nan_does_not_count():
    assert estimate(np.array([math.nan, 0.5, 0.5])) == Estimate(2, 0.5, 0.5, 0.5)


def test_the_nearer_end_of_the_interval_decides_what_is_near():
    assert progress_from_chance(Estimate(10, 0.9, 0.8, 1.0), 0.1, 1.0) == pytest.approx(0.7 / 0.9)
    error = Estimate(10, 0.02, 0.01, 0.03)
    assert progress_from_chance(error, 0.2, 0.0) == pytest.approx(0.85)
    edge = 0.1 + NEAR * 0.9
    assert is_near(Estimate(10, 1.0, edge + 1e-9, 1.0), 0.1, 1.0)
    assert not is_near(Estimate(10, 1.0, edge - 1e-9, 1.0), 0.1, 1.0)


def test_better_than_chance_is_what_is_so_with_its_whole_interval():
    assert is_better(Estimate(10, 0.3, 0.2, 0.4), 0.1, 1.0)
    assert not is_better(Estimate(10, 0.3, 0.1, 0.4), 0.1, 1.0)
    assert is_better(Estimate(10, 0.1, 0.05, 0.15), 0.2, 0.0)  # an error
    assert not is_better(Estimate(10, 0.1, 0.05, 0.25), 0.2, 0.0)


def test_where_chance_solves_nothing_is_near_or_better():
    assert math.isnan(progress_from_chance(Estimate(1, 1.0, 1.0, 1.0), 1.0, 1.0))
    assert not is_near(Estimate(1, 1.0, 1.0, 1.0), 1.0, 1.0)
    assert not is_better(Estimate(1, 1.0, 1.0, 1.0), 1.0, 1.0)


def test_chance_never_pairs_a_row_with_itself():
    levels = [np.array(rows, bool) for rows in ([1, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 0])]
    levels.append(np.array([0, 0, 0, 1, 0, 1], bool))
    # The second row is the one of its level, so it gets the next row of the split.
    assert next_of_level(levels).tolist() == [2, 2, 4, 5, 0, 3]
    alone = np.eye(3, dtype=bool)
    assert next_of_level(list(alone)).tolist() == [1, 2, 0]
