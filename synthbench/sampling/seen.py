"""Fingerprints: a set that stays fast with many millions, and first occurrences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Slots per entry after resizing, and the fewest that an entry may have before that.
_ROOMY, _TIGHT = 2.2, 2.0
_FREE = np.uint64(0)
#: So many fingerprints or fewer are looked for one by one, which beats NumPy's cost per call.
_FEW = 48


class FingerprintSet:
    """A growing set of 64-bit fingerprints, 16 to 18 bytes for each.

    A hash table with linear probing (Knuth, volume 3, section 6.4). The lower half of a fingerprint
    gives its first slot, because it is uniform: the upper bits say whether a row is held out, so
    all rows of an evaluation split share them.
    """

    def __init__(self) -> None:
        self._table = np.zeros(64, np.uint64)
        self._count = 0
        self._has_zero = False  # the one fingerprint that looks like a free slot

    @staticmethod
    def bytes_for(count: int) -> int:
        """The memory that a set made for this many fingerprints takes, in bytes."""
        return int(count * _ROOMY) * 8

    def __len__(self) -> int:
        return self._count

    def make_room(self, more: int) -> None:
        """Make the table large enough for `more` fingerprints, so that it grows only once."""
        if (self._count + more) * _TIGHT > len(self._table):
            old = self._table[self._table != _FREE]
            self._table = np.zeros(int((self._count + more) * _ROOMY), np.uint64)
            if len(old):
                self._insert(old)

    def add_new(self, prints: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Add fingerprints, uint64 `(rows,)`, all different.

        Returns:
            The indices of those that were not in the set, int64, ascending.
        """
        if (self._count + len(prints)) * _TIGHT > len(self._table):
            self.make_room(len(prints) + self._count // 2)
        (new,) = self._insert(prints).nonzero()
        self._count += len(new)
        return new

    def _insert(self, prints: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Put fingerprints, all different, into the table; True for those that are new."""
        new = np.zeros(len(prints), np.bool_)
        (left,) = prints.nonzero()
        if len(left) < len(prints):
            new[prints == _FREE] = not self._has_zero
            self._has_zero = True
            prints = prints.take(left)
        slots = self._first_slots(prints)
        while len(left) > _FEW:
            there = self._table.take(slots)
            (free,) = (there == _FREE).nonzero()
            free_slots, comers = slots.take(free), prints.take(free)
            self._table[free_slots] = comers
            # If several want one free slot, the last gets it and the others probe on.
            there[free] = self._table.take(free_slots)
            new[left.take(free)] = there.take(free) == comers
            (go_on,) = (there != prints).nonzero()
            left, prints = left.take(go_on), prints.take(go_on)
            slots = self._next(slots.take(go_on))
        for place, sought, slot in zip(left.tolist(), prints.tolist(), slots.tolist(), strict=True):
            slot = self._slot_of(sought, slot)
            new[place] = self._table[slot] == _FREE
            self._table[slot] = sought
        return new

    def _slot_of(self, sought: int, slot: int) -> int:
        """The slot of a fingerprint, or the free slot for it, from a slot on."""
        read, slots = self._table.item, len(self._table)
        while read(slot) not in (sought, 0):
            slot = slot + 1 if slot + 1 < slots else 0
        return slot

    def _first_slots(self, prints: NDArray[np.uint64]) -> NDArray[np.int64]:
        lower_half = prints & np.uint64(0xFFFFFFFF)
        return (lower_half * np.uint64(len(self._table)) >> np.uint64(32)).view(np.int64)

    def _next(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        following = slots + 1
        following[following == len(self._table)] = 0
        return following


def first_occurrences(prints: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The index at which each fingerprint comes first, int64, ascending."""
    ascending = np.sort(prints)
    if (ascending[1:] != ascending[:-1]).all():
        return np.arange(len(prints))
    # With indices in place of their lowest bits they are sorted in a third of `argsort`'s time.
    last = np.uint64((1 << len(prints).bit_length()) - 1)
    numbered = prints & ~last | np.arange(len(prints), dtype=np.uint64)
    numbered.sort()
    order = (numbered & last).view(np.int64)
    ordered = prints.take(order)
    differs = ordered[1:] != ordered[:-1]
    if (differs != (numbered[1:] ^ numbered[:-1] > last)).any():  # some differ in those bits alone
        return np.sort(np.unique(prints, return_index=True)[1])
    return np.sort(np.concatenate([order[:1], order[1:].compress(differs)]))
