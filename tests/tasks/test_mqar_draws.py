"""Draws without replacement agree with plain loops, for small and for large numbers."""

import numpy as np
import pytest

from synthbench.seeding import Draws
from synthbench.tasks.mqar.draws import RemainingWeights, distinct, without


@pytest.mark.parametrize("count, high", [(1, 1), (2, 2), (5, 9), (40, 64), (100, 100)])
def test_numbers_are_those_left_in_order(count, high):
    draws = Draws({"test": "ranks"})
    ranks = np.hstack([draws.integers(high - taken, (7, 1)) for taken in range(count)])
    found = distinct(Draws({"test": "ranks"}), 7, count, high)
    for row, numbers in zip(ranks.tolist(), found.tolist(), strict=True):
        left = list(range(high))
        assert [left.pop(rank) for rank in row] == numbers


@pytest.mark.parametrize("count", [1, 16, 17, 60])
def test_a_count_leaves_out_what_is_taken(count):
    taken = Draws({"test": count}).permutations(5, 100)[:, :count]
    numbers = np.tile(np.arange(100 - count), (5, 1))
    for row, left in zip(taken.tolist(), without(numbers, taken).tolist(), strict=True):
        assert left == [number for number in range(100) if number not in row]


@pytest.mark.parametrize("items", [1, 2, 3, 28, 64])
def test_weights_that_are_left_are_those_of_a_cumulative_sum(items):
    weights = (1 << 24) // np.arange(1, items + 1)
    draws, left = Draws({"test": "weights"}), RemainingWeights(weights, 9)
    plain, rows = np.tile(weights, (9, 1)), np.arange(9)
    for _ in range(items):
        assert left.totals.tolist() == plain.sum(axis=1).tolist()
        points = draws.below(left.totals)
        expected = (plain.cumsum(axis=1) <= points[:, None]).sum(axis=1)
        assert left.remove(points).tolist() == expected.tolist()
        plain[rows, expected] = 0
    assert not left.totals.any()
