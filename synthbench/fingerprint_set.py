"""A set of fingerprints that grows to many millions and stays as fast as it was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: At most half of the slots are taken; what is too full is laid out anew with 3.2 slots each.
_MOST_FULL, _ROOMY = 2.0, 3.2
_FREE = np.uint64(0)


class FingerprintSet:
    """A growing set of 64-bit fingerprints, 16 to 26 bytes each.

    A table with open addressing and linear probing (Knuth, volume 3, section 6.4). Fingerprints
    are uniform, so their upper half says where to look first.
    """

    def __init__(self) -> None:
        self._table = np.zeros(64, np.uint64)
        self._count = 0
        self._has_zero = False  # the one fingerprint that looks like a free slot

    def __len__(self) -> int:
        return self._count

    def copy(self) -> FingerprintSet:
        """The same set, to grow apart from this one."""
        copied = FingerprintSet()
        copied._table, copied._count = self._table.copy(), self._count
        copied._has_zero = self._has_zero
        return copied

    def add(self, new: NDArray[np.uint64]) -> None:
        """Add different fingerprints that are not in the set yet, uint64 `(rows,)`."""
        self._count += len(new)
        if self._count * _MOST_FULL > len(self._table):
            old = self._table[self._table != _FREE]
            self._table = np.zeros(int(self._count * _ROOMY), np.uint64)
            self._put(old)
        zero = np.flatnonzero(new == _FREE)
        self._has_zero |= len(zero) > 0
        self._put(np.delete(new, zero) if len(zero) else new)

    def contains(self, asked: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the fingerprints are in the set, bool `(rows,)`."""
        slots = self._first_slots(asked)
        there = self._table.take(slots)
        found: NDArray[np.bool_] = there == asked
        left = np.flatnonzero(~found & (there != _FREE))
        wanted, slots = asked.take(left), slots.take(left)
        while len(left):
            slots = self._next(slots)
            there = self._table.take(slots)
            found[left] = there == wanted
            go_on = np.flatnonzero((there != wanted) & (there != _FREE))
            left, wanted, slots = left.take(go_on), wanted.take(go_on), slots.take(go_on)
        found[asked == _FREE] = self._has_zero
        return found

    def _put(self, new: NDArray[np.uint64]) -> None:
        slots = self._first_slots(new)
        while len(new):
            free = np.flatnonzero(self._table.take(slots) == _FREE)
            # Of several that come to one free slot the last stays; the others look on.
            self._table[slots.take(free)] = new.take(free)
            left = np.flatnonzero(self._table.take(slots) != new)
            new, slots = new.take(left), self._next(slots.take(left))

    def _first_slots(self, prints: NDArray[np.uint64]) -> NDArray[np.int64]:
        upper_half = prints >> np.uint64(32)
        return (upper_half * np.uint64(len(self._table)) >> np.uint64(32)).view(np.int64)

    def _next(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        following = slots + 1
        following[following == len(self._table)] = 0
        return following
