"""A set of fingerprints that grows to millions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class FingerprintSet:
    """A growing set of 64-bit fingerprints, eight bytes each.

    Kept as sorted arrays, each at least twice as long as the next, so that adding costs a
    logarithmic number of merges and looking up as many binary searches.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def copy(self) -> FingerprintSet:
        """The same set, to grow apart from this one."""
        copied = FingerprintSet()
        copied._runs = list(self._runs)
        return copied

    def add(self, new: NDArray[np.uint64]) -> None:
        """Add fingerprints that are not in the set yet, uint64 `(rows,)`."""
        run = np.sort(new)
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            # A stable sort merges what is sorted already.
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        if len(run):
            self._runs.append(run)

    def contains(self, asked: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the fingerprints are in the set, bool `(rows,)`."""
        order = np.argsort(asked)
        ascending = asked[order]  # neighbours in the search are neighbours in memory
        found = np.zeros(len(asked), np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, ascending), len(run) - 1)
            found[order] |= run[place] == ascending
        return found
