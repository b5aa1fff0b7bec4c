"""A set of fingerprints is a set, however it grows, and first occurrences are found."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthbench.sampling.seen import FingerprintSet, first_occurrences
from synthbench.seeding import Draws

#: Few different numbers, at both ends: all of them want the first or the last slots.
numbers_64 = st.integers(0, 40) | st.integers(2**64 - 5, 2**64 - 1)


@given(st.lists(st.lists(numbers_64, unique=True, max_size=12)))
def test_a_fingerprint_set_is_a_set(batches):
    ours, plain = FingerprintSet(), set[int]()
    for batch in batches:
        new = [index for index, one in enumerate(batch) if one not in plain]
        assert ours.add_new(np.array(batch, np.uint64)).tolist() == new
        plain.update(batch)
        assert len(ours) == len(plain)


@given(st.lists(numbers_64, unique=True), st.lists(numbers_64, unique=True))
def test_room_that_is_made_changes_nothing(first, second):
    ours = FingerprintSet()
    ours.add_new(np.array(first, np.uint64))
    ours.make_room(1000)
    roomy = len(ours._table)
    assert not len(ours.add_new(np.array(first, np.uint64)))
    ours.add_new(np.array(second, np.uint64))
    assert len(ours) == len({*first, *second})
    assert len(ours._table) == roomy


def test_a_set_of_many_fingerprints_takes_few_bytes_for_each():
    prints = Draws({"test": "fingerprints"}).words(200_000)
    grown = FingerprintSet()
    for part in np.array_split(prints, 77):
        assert len(grown.add_new(part)) == len(part)
        assert grown._table.nbytes <= 27 * max(3000, len(grown))
    assert len(grown) == len(prints)
    exact = FingerprintSet()
    exact.make_room(len(prints))
    exact.add_new(prints)
    assert exact._table.nbytes < 18 * len(prints)
    assert not len(grown.add_new(prints[::-1]))
    assert len(grown.add_new(prints + np.uint64(1))) == len(prints)


def test_held_out_fingerprints_find_their_slots_as_fast_as_others(monkeypatch):
    steps: list[int] = []
    following = FingerprintSet._next
    monkeypatch.setattr(
        FingerprintSet, "_next", lambda self, slots: steps.append(1) or following(self, slots)
    )
    prints = np.unique(Draws({"test": "held out"}).words(10_000)) >> np.uint64(3)
    FingerprintSet().add_new(prints)
    assert len(steps) < 100


@given(st.lists(numbers_64))
def test_of_equal_fingerprints_the_first_is_found(numbers):
    prints = np.array(numbers, np.uint64)
    assert first_occurrences(prints).tolist() == [
        numbers.index(number) for number in dict.fromkeys(numbers)
    ]
