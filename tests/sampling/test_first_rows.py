"""A few rows of a split: the first of each bucket, which fewer and more have in common."""

from __future__ import annotations

import collections

import pytest

from synthbench.errors import ExhaustedError
from synthbench.sampling.first_rows import first_rows
from synthbench.sampling.plan import make_plan
from tests.sampling.making import Open, prints_of, rounds_of, small, toy
from tests.support import ONE_EACH, draw_splits, easiest


@pytest.mark.parametrize(("name", "variant"), ONE_EACH)
def test_fewer_rows_are_the_first_of_more_and_all_are_in_the_dataset(name, variant):
    task = easiest(name, variant)
    whole = draw_splits(task, 150)
    plan = make_plan(task, {split.name: 150 for split in task.splits}, at_most=True)
    for split in task.splits:
        quotas = plan.quotas[split.name]
        many = first_rows(task, split, quotas, 100).fingerprints.tolist()
        assert len(many) == len(set(many)) == min(100, sum(quotas.values()))
        for count in (1, 5, 33):
            few = first_rows(task, split, quotas, count)
            assert few.fingerprints.tolist() == many[:count]
            buckets = collections.Counter(task.buckets(task.rendered(few.block)).tolist())
            if not {quota for quota in quotas.values() if quota < 100}:
                assert max(buckets.values()) - min(buckets.values()) <= 1
        assert set(many) <= set(whole[split.name].fingerprints.tolist())
        everything = first_rows(task, split, quotas, 10**6).fingerprints.tolist()
        assert set(everything) == set(whole[split.name].fingerprints.tolist())


@pytest.mark.parametrize("counted", [True, False])
def test_of_an_exhausted_bucket_the_others_take_the_turns(counted):
    task = toy(40, 1000, 1000, 90, counted=counted)
    rows = small(train=120)
    whole = set(prints_of(rounds_of(task, rows)["train"]))
    quotas = make_plan(task, rows).quotas["train"]
    split = task.split("train")
    several = [first_rows(task, split, quotas, count).fingerprints.tolist() for count in (50, 120)]
    assert several[1][:50] == several[0]
    assert len(several[1]) == 120
    if counted:
        assert set(several[1]) == whole


def test_only_the_blocks_that_are_needed_are_made():
    class Counting(Open):
        def propose(self, draws, n, split, bucket):
            asked.append(bucket)
            return super().propose(draws, n, split, bucket)

    asked: list[int] = []
    task = Counting(None, {"sizes": (10**9,) * 5})
    first_rows(task, task.split("train"), dict.fromkeys(range(4), 100), 3)
    assert asked == [0, 1, 2]


def test_a_split_without_rows_is_an_error():
    task = Open(None, {"sizes": (10, 10), "counted": False})
    with pytest.raises(ExhaustedError, match="Split test of numbers: no row was found"):
        first_rows(task, task.split("test"), {1: 5}, 3)
