"""Rows and rounds, cut into pieces of another size."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthbench.sampling.blocks import Rows, rechunk
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block
from tests.sampling.making import HERE, small, toy


def numbered(first, last):
    numbers = np.arange(first, last)
    return Rows(Block({"number": numbers}), numbers.astype(np.uint64), numbers % 3)


@given(st.integers(1, 60), st.integers(1, 25), st.lists(st.integers(0, 60), max_size=8))
def test_rows_keep_their_order_however_they_are_cut(count, size, places):
    edges = [0, *sorted(min(place, count) for place in places), count]
    several = [numbered(first, last) for first, last in itertools.pairwise(edges)]
    cut = [Rows.concatenate(some) for some in rechunk(several, size)]
    assert [len(rows) for rows in cut] == [
        min(size, count - first) for first in range(0, count, size)
    ]
    whole = Rows.concatenate(cut)
    assert whole.block["number"].tolist() == list(range(count))
    assert whole.fingerprints.tolist() == list(range(count))
    assert whole.buckets.tolist() == [number % 3 for number in range(count)]


@given(st.integers(1, 300))
def test_a_round_is_cut_into_the_rows_that_it_gives_whole(size):
    task = toy(1000, 1000, 500)
    plan = make_plan(task, small(train=250, iid=2, test=1))
    rounds = list(SplitSampler(task, task.split("train"), plan, HERE).rounds())
    cut = [one.rows() for some in rechunk(rounds, size) for one in some]
    expected = Rows.concatenate([one.rows() for one in rounds])
    found = Rows.concatenate(cut)
    assert found.fingerprints.tolist() == expected.fingerprints.tolist()
    assert found.buckets.tolist() == expected.buckets.tolist()
    assert found.block["number"].tolist() == expected.block["number"].tolist()
