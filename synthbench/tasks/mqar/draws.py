"""Draws without replacement, for many rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

#: Up to so many numbers are compared with all others. More are searched.
_COMPARED = 16


def distinct(draws: Draws, n: int, count: int, high: int) -> NDArray[np.int64]:
    """Different whole numbers in `[0, high)`, uniform and in random order, `(n, count)`."""
    ranks = [draws.integers(high - taken, (n, 1)) for taken in range(count)]
    return _from_ranks(np.hstack(ranks))


def _from_ranks(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers that have these ranks among the numbers not taken before them in their row.

    The ranks of the second half lead to numbers among those that the first half leaves.
    """
    count = ranks.shape[1]
    if count == 1:
        return ranks
    first, others = _from_ranks(ranks[:, : count // 2]), _from_ranks(ranks[:, count // 2 :])
    return np.hstack([first, without(others, first)])


def without(numbers: NDArray[np.int64], taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers in a count from 0 that leaves out the numbers taken in their row.

    Args:
        numbers: at least 0 and less than 2**32, `(rows, any)`.
        taken: different numbers, `(rows, count)`.
    """
    rows, count = taken.shape
    # The free numbers below each taken number: every count up to a number raises it by 1.
    left = np.sort(taken, axis=1) - np.arange(count)
    if count <= _COMPARED:
        shifted = numbers.copy()
        for place in range(count):
            shifted += numbers >= left[:, place, None]
        return shifted
    row = np.arange(rows)[:, None]
    starts = row << 32  # keeps the rows apart in a single search
    passed = np.searchsorted((left + starts).ravel(), (numbers + starts).ravel(), side="right")
    more: NDArray[np.int64] = passed.reshape(numbers.shape) - count * row
    return numbers + more


class RemainingWeights:
    """Weighted items, of which every row removes its own.

    A binary tree for each row has at each node the weight of its left half, so that an item is
    found and removed in as many steps as the tree has levels.

    Args:
        weights: the weight of each item, int64 `(items,)`.
        rows: the number of rows.

    Attributes:
        totals: the weight that is left in each row, int64 `(rows,)`.
    """

    def __init__(self, weights: NDArray[np.int64], rows: int) -> None:
        self._levels = max(1, (len(weights) - 1).bit_length())
        size = 1 << self._levels
        sums = np.zeros(2 * size, np.int64)
        sums[size : size + len(weights)] = weights
        for node in range(size - 1, 0, -1):
            sums[node] = sums[2 * node] + sums[2 * node + 1]
        self._weights = weights
        self._left = np.repeat(sums[0 : 2 * size : 2], rows)  # the weight of node n's left half
        self._rows = np.arange(rows)
        self.totals = np.full(rows, sums[1])

    def remove(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Remove the item of each row over which a point lies when all are laid end to end.

        Args:
            points: from 0 to less than the row's total, int64 `(rows,)`.

        Returns:
            The items, int64 `(rows,)`.
        """
        rows = len(self._rows)
        node: NDArray[Any] = np.ones(rows, np.int64)
        path = []
        for _ in range(self._levels):
            at = node * rows + self._rows
            left = self._left.take(at)
            right = points >= left
            path.append((at, ~right))
            points = points - left * right
            node = 2 * node + right
        items = node - (1 << self._levels)
        removed = self._weights.take(items)
        for at, went_left in path:
            self._left[at] -= removed * went_left
        self.totals = self.totals - removed
        return items
