"""When a bucket is listed instead of drawn, and when it is given up."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from synthbench.engine.engine import Engine
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, SynthbenchError
from synthbench.sampling import splits
from synthbench.sampling.blocks import blocks_a_call, list_candidates
from synthbench.sampling.splits import CANDIDATES_PER_ROW, STALL_BLOCKS
from synthbench.tasks.base import Block
from synthbench.tasks.returned import draws_together
from tests.sampling.making import (
    HERE,
    Open,
    counts_of,
    numbers_of,
    prints_of,
    rounds_of,
    rows_of,
    small,
    toy,
    train,
)

# Blocks that are drawn.


class Asked(Engine):
    """Two workers. Notes the numbers of the blocks that each call is asked for."""

    def __init__(self):
        super().__init__(None, 2)
        self.ahead = 3
        self.numbers = []

    def submit(self, function, /, *args, **kwargs):
        self.numbers.append([*args[-1]])
        return super().submit(function, *args, **kwargs)


class Short(Open):
    """Rounds of ten rows."""

    round_rows = 10


ENDLESS = {"sizes": (10**9, 10**9), "counted": False}


def test_no_block_is_asked_for_while_the_last_one_has_rows_enough():
    engine = Asked()
    drawn = train(Short(None, ENDLESS), {0: 25}, engine).rounds()
    assert [len(rows) for rows in drawn] == [9, 8, 8]
    assert engine.numbers == [[0]]  # a block of 32 rows


@pytest.mark.parametrize(
    ("quotas", "first"),
    [
        ({0: 28}, [[0]]),
        ({0: 28 * 11}, [[0], [1]]),  # both workers draw from the start
        ({0: 28 * 11, 1: 28 * 3}, [[0], [0]]),
    ],
)
def test_a_bucket_alone_has_a_first_block_for_each_worker(quotas, first):
    """Of the 32 rows of a block, 28 are not held out."""
    engine = Asked()
    sampler = train(Short(None, ENDLESS), quotas, engine)
    for bucket, stream in sampler._streams.items():
        stream.prepare(quotas[bucket])
    assert engine.numbers == first


def test_workers_share_the_blocks_that_are_missing():
    engine = Asked()
    list(train(Short(None, ENDLESS), {0: 32 * 8}, engine).rounds())
    assert engine.numbers[:4] == [[0], [1], [2, 3, 4], [5, 6]]


class Large(Short):
    """Blocks of many rows."""

    block_rows = 16_384


def test_a_worker_draws_two_large_blocks_at_once():
    task = Large(None, ENDLESS)
    assert [blocks_a_call(task, to_worker) for to_worker in (False, True)] == [1, 2]


class Together(Short):
    """Draws blocks together."""

    def propose_blocks(self, blocks, n, split, bucket):
        return [self.propose(draws, n, split, bucket) for draws in blocks]


class Another(Together):
    """Draws in a way of its own, of which `propose_blocks` knows nothing."""

    def propose(self, draws, n, split, bucket):
        return super().propose(draws, n, split, bucket).take(slice(1, None))


@pytest.mark.parametrize(
    ("task", "asked"), [(Short, [[0], [1], [2], [3]]), (Together, [[0, 1, 2, 3]])]
)
def test_one_process_draws_the_blocks_that_are_needed_together_if_the_task_can(task, asked):
    engine = Asked()
    engine.workers, engine.ahead = 1, 0
    drawn = rows_of(train(task(None, ENDLESS), {0: 100}, engine))
    assert engine.numbers == asked
    with_workers = rows_of(train(Short(None, ENDLESS), {0: 100}, Asked()))
    assert prints_of(drawn) == prints_of(with_workers)


def test_a_subclass_with_another_propose_is_drawn_by_it():
    assert [draws_together(kind()) for kind in (Short, Together, Another)] == [False, True, False]
    rows = prints_of(rows_of(train(Another(None, ENDLESS), {0: 100})))
    assert rows != prints_of(rows_of(train(Together(None, ENDLESS), {0: 100})))


# Buckets that are listed.


def test_a_bucket_is_listed_once_half_of_it_is_taken(monkeypatch):
    listed: list[tuple[str, int]] = []

    def noting(task, stream, split, bucket):
        listed.append((split.name, bucket))
        return list_candidates(task, stream, split, bucket)

    monkeypatch.setattr(splits, "list_candidates", noting)
    rounds_of(toy(100, 500, 500), small(train=60, iid=10))  # 35 of bucket 0
    assert listed == []
    rounds_of(toy(100, 500, 500), small(train=180, iid=10))  # 95 of it
    assert listed == [("train", 0)]
    listed.clear()
    rounds_of(toy(100, 500, counted=False), small(train=80, iid=10))
    assert listed == []


def test_a_counted_bucket_whose_other_rows_hardly_ever_come_is_listed_instead_of_given_up():
    class Lopsided(Open):
        """Of 50 rows the proposal only ever gives number 0."""

        def propose(self, draws, n, split, bucket):
            return Block({"bucket": np.full(n, bucket), "number": np.zeros(n, np.int64)})

    task = Lopsided(None, {"sizes": (50, 500)})
    drawn = rows_of(train(task, {0: 45}))
    assert len(set(prints_of(drawn))) == 45


def test_a_listed_bucket_is_taken_to_its_last_row_in_an_order_drawn_from_the_seed():
    task = Open(None, {"sizes": (40, 500)})
    drawn = rows_of(train(task, {0: 40}))
    bucket = [number for one in drawn for number in one.block["number"].tolist()]
    assert sorted(bucket) == list(range(40))
    assert bucket != sorted(bucket)
    split = task.split("train")
    orders = {
        tuple(
            list_candidates(toy(500, 40, 500, seed=seed), {"seed": seed}, split, 1)[0].block[
                "number"
            ]
        )
        for seed in range(5)
    }
    assert len(orders) == 5


def test_the_rows_of_a_listed_bucket_are_a_uniform_choice():
    """Which 9 of 12 rows train gets: each row equally often, over many seeds."""
    chosen: collections.Counter[int] = collections.Counter()
    for seed in range(400):
        task = Open(None, {"sizes": (12, 500)}, seed)
        (one,) = rows_of(train(task, {0: 9}))
        chosen.update(one.block["number"].tolist())
    assert len(chosen) == 12
    assert all(abs(count - 300) < 40 for count in chosen.values())


# Buckets that are listed because they cost too much.


class Unequal(Open):
    """Each number is half as likely as the one before it, so new ones keep coming, but rarely."""

    def propose(self, draws, n, split, bucket):
        drawn = draws.integers(1 << 24, n)
        number = np.array([24 - int(one).bit_length() for one in drawn.tolist()], np.int64)
        return Block({"bucket": np.full(n, bucket), "number": number})


UNEQUAL = Unequal(None, {"sizes": (25, 500)})


def rows_of_unequal(rows, engine=HERE):
    return train(UNEQUAL, {0: rows}, engine)


def test_the_candidates_of_a_listable_bucket_are_bounded_though_new_rows_keep_coming():
    sampler = rows_of_unequal(25)
    assert len(set(prints_of(rows_of(sampler)))) == 25
    most = CANDIDATES_PER_ROW * 25 + UNEQUAL.block_rows + 25  # the last: the list itself
    assert sampler.tried <= most
    stopped = rows_of_unequal(8)  # filled before the list is needed
    assert len(set(prints_of(rows_of(stopped)))) == 8
    assert stopped.tried < CANDIDATES_PER_ROW * 25


def test_when_the_list_is_used_depends_on_the_blocks_drawn_alone():
    everything = set(prints_of(rows_of(rows_of_unequal(25))))
    before: set[int] = set()
    for rows in range(1, 26):  # what a smaller split has, a larger one has too
        drawn = set(prints_of(rows_of(rows_of_unequal(rows))))
        assert before < drawn <= everything
        before = drawn
    for workers in (2, 3):
        with open_engine(workers=workers) as engine:
            assert set(prints_of(rows_of(rows_of_unequal(18, engine)))) == set(
                prints_of(rows_of(rows_of_unequal(18)))
            )


# Buckets that nobody can count.


def test_a_bucket_that_stalls_gives_all_it_has_and_the_others_fill_the_split():
    task = toy(7, 10**6, 10**6, 500, counted=False)
    drawn = rounds_of(task, small(train=330, iid=3))
    assert len(numbers_of(task, "train", 0)) == 4
    assert counts_of(drawn["iid"]) == {0: 1, 1: 1, 2: 1}
    assert counts_of(drawn["train"]) == {0: 4, 1: 163, 2: 163}


def test_a_split_that_cannot_be_filled_ends_with_what_was_found_in_each_bucket():
    task = toy(7, 20, 500, counted=False)
    with pytest.raises(SynthbenchError) as refused:
        rounds_of(task, small(train=200, iid=2))
    assert not isinstance(refused.value, ParameterError)
    first, second = (len(numbers_of(task, "train", bucket)) for bucket in (0, 1))
    assert str(refused.value) == (
        f"Split train of numbers cannot be filled: 200 rows asked for, {first + second} found "
        f"before every bucket was exhausted (bucket 0: {first} found, bucket 1: {second} found)."
    )


@pytest.mark.parametrize(("every", "windows"), [(150, 1), (20, 1), (10, 2)])
def test_a_bucket_is_exhausted_when_too_few_rows_come_of_so_many_blocks(every, windows):
    class Slow(Open):
        """One new row every few blocks, hidden among rows that are known; 30 of them in all."""

        def propose(self, draws, n, split, bucket):
            asked.append(bucket)
            number = np.full(n, 0)
            number[n // 2] = min(29, len(asked) // every)
            return Block({"bucket": np.full(n, bucket), "number": number})

    asked: list[int] = []
    task = Slow(None, {"sizes": (30, 500), "counted": False})
    sampler = train(task, {0: 60})
    with pytest.raises(SynthbenchError, match="60 rows asked for"):
        list(sampler.rounds())
    assert len(asked) == windows * STALL_BLOCKS
    assert sampler.tried == 32 * len(asked)
