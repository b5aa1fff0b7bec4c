"""Repeats at a distance: rows that come again in the same order, in a split or under a next seed.

Rows that are drawn again by chance do so at every distance alike. If a generator cycles, or if two
seeds share a part of their rows, most repeats have the same distance.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

#: The probability of so many repeats at a distance, below which they are not a coincidence.
LEVEL = 1e-6
#: The share of all repeats that must have the same distance.
_SHARE = 0.5
#: Distances that are always looked at, others only if most repeats have them.
_NEAR = 64


@dataclasses.dataclass(frozen=True)
class Lag:
    """The distance at which most rows come again.

    Attributes:
        distance: the number of rows from a row to the equal row.
        rows: how many rows come again at this distance.
        compared: how many rows have a row at this distance.
        repeated: how many rows come again at any distance.
        chance: how many would come again at this distance if the order were drawn.
        pairs: the numbers of two such rows and of the rows that equal them.
    """

    distance: int
    rows: int
    compared: int
    repeated: int
    chance: float
    pairs: list[tuple[int, int]]

    @property
    def is_surprising(self) -> bool:
        """True if so many repeats at one distance are not a coincidence."""
        return self.rows >= _SHARE * self.repeated and self.probability < LEVEL

    @property
    def probability(self) -> float:
        """An upper bound for the probability of as many repeats (Chernoff's, of a Poisson law)."""
        if self.rows <= self.chance:
            return 1.0
        surprise = self.rows * math.log(self.rows / self.chance) - self.rows + self.chance
        return math.exp(-surprise)


def within(hashes: NDArray[np.uint64]) -> Lag:
    """The distance at which most rows of a split come again later in it."""
    order = np.lexsort((np.arange(len(hashes)), hashes))
    same = hashes[order][1:] == hashes[order][:-1]
    distances = (order[1:] - order[:-1])[same]
    near = range(1, min(_NEAR, len(hashes)))
    _, counts = np.unique(hashes, return_counts=True)
    pairs = float((counts.astype(float) * (counts - 1)).sum()) / max(1, len(hashes) - 1)
    return _best(hashes, hashes, [*near, *_most_frequent(distances)], len(distances), pairs)


def between(hashes: NDArray[np.uint64], other: NDArray[np.uint64]) -> Lag:
    """The distance at which most rows of `hashes` come again in `other`."""
    known, first, counts = np.unique(other, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    there = known[place] == hashes
    distances = first[place[there]] - np.flatnonzero(there)
    near = min(_NEAR, len(other), len(hashes))
    pairs = float(counts[place[there]].sum()) / max(1, len(other))
    candidates = [*range(-near + 1, near), *_most_frequent(distances)]
    return _best(hashes, other, candidates, int(there.sum()), pairs)


def _most_frequent(distances: NDArray[np.int64]) -> list[int]:
    if not len(distances):
        return []
    values, counts = np.unique(distances, return_counts=True)
    return [int(values[counts.argmax()])]


def _best(
    hashes: NDArray[np.uint64],
    other: NDArray[np.uint64],
    distances: list[int],
    repeated: int,
    pairs: float,
) -> Lag:
    """The distance with the most equal rows, the smallest of several."""
    best = Lag(0, 0, 0, repeated, 0.0, [])
    for distance in sorted(distances, key=lambda value: (abs(value), value)):
        here = hashes[max(0, -distance) : len(other) - distance]
        there = other[max(0, distance) :][: len(here)]
        here = here[: len(there)]
        equal = np.flatnonzero(here == there)
        if len(equal) > best.rows:
            start = max(0, -distance)
            examples = [(int(row) + start, int(row) + start + distance) for row in equal[:2]]
            chance = max(pairs * len(here) / max(1, len(hashes)), 1e-3)
            best = Lag(distance, len(equal), len(here), repeated, chance, examples)
    return best
