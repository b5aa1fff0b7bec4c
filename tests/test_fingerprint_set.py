"""A set of fingerprints: that it is one, however it grows and whatever is in it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthbench.fingerprint_set import FingerprintSet
from synthbench.seeding import Draws

#: Few different numbers, at both ends: all of them want the first or the last slots.
numbers_64 = st.integers(0, 40) | st.integers(2**64 - 5, 2**64 - 1)


@given(st.lists(st.lists(numbers_64, unique=True, max_size=12), max_size=12), st.lists(numbers_64))
def test_a_fingerprint_set_is_a_set(batches: list[list[int]], asked: list[int]) -> None:
    ours, plain = FingerprintSet(), set[int]()
    for batch in batches:
        new = [one for one in batch if one not in plain]
        ours.add(np.array(new, np.uint64))
        plain.update(new)
        assert len(ours) == len(plain)
        found = ours.contains(np.array(asked, np.uint64))
        assert found.tolist() == [one in plain for one in asked]


def test_a_copy_of_a_fingerprint_set_grows_apart_from_it() -> None:
    first = FingerprintSet()
    first.add(np.arange(10, dtype=np.uint64))
    copy = first.copy()
    copy.add(np.arange(10, 13, dtype=np.uint64))
    first.add(np.array([99], np.uint64))
    asked = np.array([0, 5, 11, 99], np.uint64)
    assert copy.contains(asked).tolist() == [True, True, True, False]
    assert first.contains(asked).tolist() == [True, True, False, True]
    assert (len(first), len(copy)) == (11, 13)


def test_a_set_of_many_fingerprints_takes_few_bytes_for_each() -> None:
    prints = Draws({"test": "fingerprints"}).words(200_000)
    grown = FingerprintSet()
    for part in np.array_split(prints, 77):
        assert not grown.contains(part).any()
        grown.add(part)
        assert grown._table.nbytes <= 26 * max(100, len(grown))
    assert len(grown) == len(prints)
    assert grown.contains(prints[::-1]).all()
    assert not grown.contains(prints + np.uint64(1)).any()
