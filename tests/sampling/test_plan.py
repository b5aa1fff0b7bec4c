"""How many rows of each bucket a split is to have, and what is refused before any is drawn."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.sampling.plan import expected_rows, make_plan, rows_there, share_out
from synthbench.tasks.base import Split
from tests.sampling.making import numbers_of, small, toy
from tests.toy_task import Numbers

# Sharing out.

limits = st.lists(st.none() | st.integers(0, 60), min_size=1, max_size=8)


@given(st.integers(0, 300), limits)
def test_rows_are_shared_out_evenly_as_far_as_the_limits_allow(rows, limits):
    shares = share_out(rows, limits, (1.0,) * len(limits))
    exist = sum(limit or 0 for limit in limits)
    assert sum(shares) == (rows if None in limits else min(rows, exist))
    assert all(limit is None or share <= limit for share, limit in zip(shares, limits, strict=True))
    free = [
        share for share, limit in zip(shares, limits, strict=True) if limit is None or share < limit
    ]
    if free:
        # Nobody below its limit has more than one row less than anybody else.
        assert max(shares) - min(free) <= 1
        assert free == sorted(free, reverse=True)  # what does not divide goes to the first


@given(st.integers(0, 10_000), st.lists(st.integers(1, 20), min_size=1, max_size=8))
def test_rows_are_shared_out_in_proportion_to_the_weights(rows, weights):
    shares = share_out(rows, [None] * len(weights), tuple(map(float, weights)))
    assert sum(shares) == rows
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - rows * weight / sum(weights)) <= 1


@given(st.integers(0, 300), limits, st.data())
def test_a_larger_limit_never_means_fewer_rows(rows, limits, data):
    place = data.draw(st.integers(0, len(limits) - 1))
    weights = (1.0,) * len(limits)
    before = share_out(rows, limits, weights)
    lifted = [*limits[:place], None, *limits[place + 1 :]]
    assert share_out(rows, lifted, weights)[place] >= before[place]


def test_worked_shares():
    assert share_out(10, [None] * 4, (1.0,) * 4) == [3, 3, 2, 2]
    assert share_out(14, [None, 0, None], (1.0,) * 3) == [7, 0, 7]
    assert share_out(100, [None, 3, 30, None, None], (1.0,) * 5) == [25, 3, 24, 24, 24]
    assert share_out(10, [1, 2, 3], (1.0,) * 3) == [1, 2, 3]
    assert share_out(20, [None, None], (0.65, 0.35)) == [13, 7]


# The plan.


def test_splits_take_their_part_of_every_bucket_and_what_is_missing_goes_to_the_others():
    task = toy(7, 40, 1000, 1000, 500)
    plan = make_plan(task, small(train=900, iid=90, test=40))
    for name, total in {"train": 900, "iid": 90}.items():
        there = [len(numbers_of(task, name, bucket)) for bucket in (0, 1)]
        assert [plan.quotas[name][bucket] for bucket in (0, 1)] == there
        assert sum(plan.quotas[name].values()) == total
        assert abs(plan.quotas[name][2] - plan.quotas[name][3]) <= 1
    assert plan.quotas["test"] == {4: 40}


def test_a_bucket_is_counted_only_where_it_may_have_too_few_rows():
    task = toy(80, 10**9, 500)
    train, iid = task.split("train"), task.split("iid")
    assert (expected_rows(task, train, 0), expected_rows(task, iid, 0)) == (70, 10)
    assert rows_there(task, train, 0, 19) is None
    assert rows_there(task, train, 0, 20) == len(numbers_of(task, "train", 0))
    assert rows_there(task, iid, 0, 6) == len(numbers_of(task, "iid", 0))
    # Nobody lists a thousand million rows: about an eighth of them are held out.
    assert rows_there(task, iid, 1, 10**8) == 125_000_000
    assert rows_there(toy(80, 500, counted=False), iid, 0, 10**8) is None


def test_splits_of_one_kind_that_share_a_bucket_divide_its_rows():
    class Two(Numbers):
        @property
        def splits(self):
            return (
                Split("iid", 50, (0, 1)),
                Split("train", 100, (0, 1), evaluation=False),
                Split("validation", 50, (0,)),
            )

    task = Two(None, {"sizes": (4000, 5000)})
    parts = [numbers_of(task, name, 0) for name in ("iid", "train", "validation")]
    assert sorted(itertools.chain(*parts)) == list(range(4000))
    assert [len(part) / 4000 for part in parts] == pytest.approx([1 / 16, 7 / 8, 1 / 16], abs=0.02)
    assert len(numbers_of(task, "iid", 1)) / 5000 == pytest.approx(1 / 8, abs=0.02)


def test_capacities_beyond_any_float_are_planned_exactly():
    class Huge(Numbers):
        def capacity(self, split, bucket):
            return 10**400

    plan = make_plan(Huge(), small(train=100, iid=10))
    assert plan.quotas["iid"] == {0: 4, 1: 3, 2: 3}


@given(
    st.lists(st.integers(1, 80), min_size=2, max_size=6),
    st.integers(1, 200),
    st.integers(1, 40),
)
@example([5, 1, 1, 32], 1, 4)  # one of the 32 is held out, where four are expected
def test_a_plan_has_all_that_was_asked_for_or_there_is_less(sizes, train, iid):
    task = toy(*sizes, 500)
    rows = small(train, iid, test=1)
    there = {
        name: {bucket: len(numbers_of(task, name, bucket)) for bucket in range(len(sizes))}
        for name in ("train", "iid")
    }
    try:
        plan = make_plan(task, rows)
    except ParameterError:
        assert any(rows[name] > sum(counts.values()) for name, counts in there.items())
        return
    assert {name: sum(shares.values()) for name, shares in plan.quotas.items()} == rows
    for name, counts in there.items():
        assert all(plan.quotas[name][bucket] <= count for bucket, count in counts.items())


def test_more_rows_than_exist_are_refused_by_bucket_before_anything_is_drawn():
    task = toy(50, 70, 500)
    train, iid = ([len(numbers_of(task, name, b)) for b in (0, 1)] for name in ("train", "iid"))
    with pytest.raises(ParameterError) as refused:
        make_plan(task, small(train=121))
    assert str(refused.value) == (
        f"Split train of numbers: 121 rows asked for, but only {sum(train)} exist that are not "
        f"held out (bucket 0: {train[0]}, bucket 1: {train[1]}). Allowed are 1 to {sum(train)}."
    )
    with pytest.raises(ParameterError, match=rf"only {sum(iid)} exist that are held out"):
        make_plan(task, small(iid=sum(iid) + 1))
    assert numbers_of(toy(1, 500), "iid", 0) == []
    with pytest.raises(ParameterError, match="3 rows asked for, but none exist that are held out"):
        make_plan(toy(1, 500), small(train=1, iid=3))


def test_where_fewer_will_do_a_plan_takes_what_exists():
    task = toy(50, 70, 500)
    plan = make_plan(task, small(10**6, 10**6, 10**6), at_most=True)
    assert plan.quotas == {
        split.name: {b: len(numbers_of(task, split.name, b)) for b in split.buckets}
        for split in task.splits
    }
