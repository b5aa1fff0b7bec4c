"""Which rows a split gets round by round, and how many candidates that takes."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

from synthbench.sampling.blocks import draw_blocks
from synthbench.tasks.registry import task as make_task
from tests.sampling.making import Open, counts_of, prints_of, rounds_of, rows_of, small, toy, train

# Rows.


@pytest.mark.parametrize("bigger", [60, 90, 300])
def test_the_rows_of_a_smaller_split_are_among_those_of_a_larger_one(bigger):
    task = toy(100, 1000, 500)
    few = set(prints_of(rounds_of(task, small(iid=2, test=1, train=40))["train"]))
    many = set(prints_of(rounds_of(task, small(iid=2, test=1, train=bigger))["train"]))
    assert few < many


def test_evaluation_splits_are_the_same_however_large_train_is():
    few, many = (rounds_of(toy(900, 900, 500), small(train, 60, 60)) for train in (10, 1500))
    for name in ("iid", "test"):
        assert prints_of(few[name]) == prints_of(many[name])


def test_no_row_comes_twice_within_a_split_or_in_two_splits():
    for counted in (True, False):
        task = toy(40, 300, 300, 90, counted=counted)
        rows = small(train=400, iid=30, test=3)
        drawn = rounds_of(task, rows)
        prints = [one for rounds in drawn.values() for one in prints_of(rounds)]
        assert len(set(prints)) == len(prints) == sum(rows.values())


# Rounds.


def test_every_round_is_balanced_and_has_the_rows_of_a_round():
    drawn = rounds_of(toy(1000, 1000, 1000, 500), small(train=1000, iid=90))
    assert len(drawn["train"]) == 10
    for one in drawn["train"]:
        assert abs(len(one.fingerprints) - 100) <= 3
        counts = np.bincount(one.block["bucket"], minlength=3)
        assert counts.max() - counts.min() <= 1
        assert len(one.block) == len(one.fingerprints)
    assert counts_of(drawn["train"]) == {0: 334, 1: 333, 2: 333}


def test_rows_of_all_buckets_are_shuffled_together():
    rows = {"train": 5000, "iid": 100, "validation": 9, "test": 9}
    task = make_task("ctl")
    (one,) = rounds_of(task, rows)["train"]
    buckets = task.buckets(task.rendered(one.block))
    runs = [len(list(run)) for _, run in itertools.groupby(buckets.tolist())]
    assert max(runs) < 12  # of four buckets by chance; in blocks it would be a thousand
    shares = [np.bincount(part, minlength=6)[2:] for part in np.array_split(buckets, 10)]
    # Of 500 rows about 62 of bucket 2, which has no more, and 144 of each of the others.
    assert np.all(np.abs(np.array(shares) - [62, 144, 144, 144]) < 35)
    # The rows of one bucket do not keep the order in which they were drawn, either.
    split = task.split("train")
    stream = {**task.stream, "split": "train", "bucket": 5}
    (run,) = draw_blocks(task, stream, split, 5, range(1))
    drawn = run.fingerprints.tolist()
    kept = [p for p, b in zip(one.fingerprints.tolist(), buckets, strict=True) if b == 5]
    places = [drawn.index(p) for p in kept]
    assert 0.4 < np.mean(np.diff(places) > 0) < 0.6


def test_a_round_in_which_nothing_is_found_is_no_round():
    """Bucket 0 has one row: the second round asks it for one more, and bucket 1 for none."""

    class Tiny(Open):
        round_rows = 2

    task = Tiny(None, {"sizes": (1, 500, 500), "counted": False})
    drawn = rows_of(train(task, {0: 2, 1: 1}))
    assert counts_of(drawn) == {0: 1, 1: 2}
    assert all(len(one.fingerprints) for one in drawn)


# Candidates.


def test_candidates_are_counted_exactly_as_far_as_they_were_looked_at():
    task = Open(None, {"sizes": (10**9, 500)})
    sampler = train(task, {0: 100})
    list(sampler.rounds())
    assert sampler.tried == 100  # every candidate was new
    assert sampler.taken() == {0: 100}


# Engines.


def test_without_workers_no_block_is_made_that_is_not_needed():
    class Counting(Open):
        def propose(self, draws, n, split, bucket):
            asked.append((split.name, bucket))
            return super().propose(draws, n, split, bucket)

    asked: list[tuple[str, int]] = []
    task = Counting(None, {"sizes": (10**9, 10**9, 10**9)})
    rows_of(train(task, {0: 32, 1: 33}))
    assert collections.Counter(asked) == {("train", 0): 1, ("train", 1): 2}
