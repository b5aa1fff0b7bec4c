"""Which rows a split gets: the plan, the rounds, and where the sampler stands between two."""

from __future__ import annotations

import collections
import itertools
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synthbench.engine.engine import Engine
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, SynthbenchError
from synthbench.sampling import bucket_stream
from synthbench.sampling.blocks import draw_run, list_candidates
from synthbench.sampling.bucket_stream import CANDIDATES_PER_ROW, STALL_BLOCKS
from synthbench.sampling.plan import Plan, expected_rows, make_plan, rows_there, share_out
from synthbench.sampling.seen import FingerprintSet
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block, Split
from synthbench.tasks.registry import make_task
from synthbench.tasks.row_ids import PROBLEM_BITS
from tests.toy_task import Numbers

HERE = Engine(None, 1)


class Open(Numbers):
    """No row is held out, so train may have all of them."""

    def problem(self, block):
        return np.full(len(block), PROBLEM_BITS)


def toy(*sizes, counted=True, seed=0):
    return Numbers(None, {"sizes": sizes, "counted": counted}, seed)


def small(train=30, iid=3, test=1):
    return {"train": train, "iid": iid, "test": test}


def rounds_of(task, rows, engine=HERE):
    """All rounds of all splits."""
    plan = make_plan(task, rows)
    return {split.name: rows_of(SplitSampler(task, split, plan, engine)) for split in task.splits}


def rows_of(sampler):
    return [one.rows() for one in sampler.rounds()]


def prints_of(rounds):
    return [one for drawn in rounds for one in drawn.fingerprints.tolist()]


def counts_of(rounds):
    counts = collections.Counter(b for drawn in rounds for b in drawn.buckets.tolist())
    return dict(sorted(counts.items()))


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


def numbers_of(task, split, bucket):
    """All numbers of a bucket that a split may have."""
    (listed,) = list_candidates(task, {}, task.split(split), bucket)
    return sorted(listed.block["number"].tolist())


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


def test_a_bucket_is_listed_once_half_of_it_is_taken(monkeypatch):
    listed: list[tuple[str, int]] = []

    def noting(task, stream, split, bucket):
        listed.append((split.name, bucket))
        return list_candidates(task, stream, split, bucket)

    monkeypatch.setattr(bucket_stream, "list_candidates", noting)
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
    plan = Plan({"train": {0: 45}})
    drawn = rows_of(SplitSampler(task, task.split("train"), plan, HERE))
    assert len(set(prints_of(drawn))) == 45


class Unequal(Open):
    """Each number is half as likely as the one before it, so new ones keep coming, but rarely."""

    def propose(self, draws, n, split, bucket):
        drawn = draws.integers(1 << 24, n)
        number = np.array([24 - int(one).bit_length() for one in drawn.tolist()], np.int64)
        return Block({"bucket": np.full(n, bucket), "number": number})


UNEQUAL = Unequal(None, {"sizes": (25, 500)})


def rows_of_unequal(rows, engine=HERE):
    split, plan = UNEQUAL.split("train"), Plan({"train": {0: rows}})
    return SplitSampler(UNEQUAL, split, plan, engine)


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


@pytest.mark.parametrize("round_rows", [1, 4, 9])
def test_a_bucket_that_costs_too_much_goes_on_to_the_same_rows_after_any_round(round_rows):
    class Rounds(Unequal):
        pass

    Rounds.round_rows = round_rows
    task = Rounds(None, {"sizes": (25, 500)})
    split, plan = task.split("train"), Plan({"train": {0: 20}})
    whole = SplitSampler(task, split, plan, HERE)
    rounds, states = [], [whole.state()]
    for one in whole.rounds():
        rounds.append(one.rows().fingerprints)
        states.append(whole.state())
    assert states[-1]["streams"]["0"]["listed"]
    for done, state in enumerate(states):
        seen = {0: FingerprintSet()}
        for prints in rounds[:done]:
            seen[0].add(prints)
        again = SplitSampler(
            task, split, plan, HERE, state=json.loads(json.dumps(state)), seen=seen
        )
        rest = [one.fingerprints.tolist() for one in rows_of(again)]
        assert rest == [prints.tolist() for prints in rounds[done:]]
        assert again.state() == states[-1]


@pytest.mark.parametrize("bigger", [60, 90, 300])
def test_the_rows_of_a_smaller_split_are_among_those_of_a_larger_one(bigger):
    task = toy(100, 1000, 500)
    few = set(prints_of(rounds_of(task, small(iid=2, test=1, train=40))["train"]))
    many = set(prints_of(rounds_of(task, small(iid=2, test=1, train=bigger))["train"]))
    assert few < many


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


# Rounds.


def test_every_round_is_balanced_and_has_the_rows_of_a_round():
    drawn = rounds_of(toy(1000, 1000, 1000, 500), small(train=1000, iid=90))
    assert len(drawn["train"]) == 10
    for one in drawn["train"]:
        assert abs(len(one.fingerprints) - 100) <= 3
        counts = np.bincount(one.buckets, minlength=3)
        assert counts.max() - counts.min() <= 1
        assert len(one.block) == len(one.fingerprints) == len(one.buckets)
    assert counts_of(drawn["train"]) == {0: 334, 1: 333, 2: 333}


def test_rows_of_all_buckets_are_shuffled_together():
    rows = {"train": 5000, "iid": 100, "validation": 9, "test": 9}
    (one,) = rounds_of(make_task("ctl"), rows)["train"]
    runs = [len(list(run)) for _, run in itertools.groupby(one.buckets.tolist())]
    assert max(runs) < 12  # of four buckets by chance; in blocks it would be a thousand
    shares = [np.bincount(part, minlength=6)[2:] for part in np.array_split(one.buckets, 10)]
    # Of 500 rows about 62 of bucket 2, which has no more, and 144 of each of the others.
    assert np.all(np.abs(np.array(shares) - [62, 144, 144, 144]) < 35)
    # The rows of one bucket do not keep the order in which they were drawn, either.
    task, split = make_task("ctl"), make_task("ctl").split("train")
    stream = {**task.stream, "split": "train", "bucket": 5}
    (run,) = draw_run(task, stream, split, 5, range(1))
    drawn = run.fingerprints.tolist()
    kept = [p for p, b in zip(one.fingerprints.tolist(), one.buckets, strict=True) if b == 5]
    places = [drawn.index(p) for p in kept]
    assert 0.4 < np.mean(np.diff(places) > 0) < 0.6


def test_no_row_comes_twice_within_a_split_or_in_two_splits():
    for counted in (True, False):
        task = toy(40, 300, 300, 90, counted=counted)
        rows = small(train=400, iid=30, test=3)
        drawn = rounds_of(task, rows)
        prints = [one for rounds in drawn.values() for one in prints_of(rounds)]
        assert len(set(prints)) == len(prints) == sum(rows.values())


def test_evaluation_splits_are_the_same_however_large_train_is():
    few, many = (rounds_of(toy(900, 900, 500), small(train, 60, 60)) for train in (10, 1500))
    for name in ("iid", "test"):
        assert prints_of(few[name]) == prints_of(many[name])


def test_a_listed_bucket_is_taken_to_its_last_row_in_an_order_drawn_from_the_seed():
    task = Open(None, {"sizes": (40, 500)})
    plan = Plan({"train": {0: 40}})
    drawn = rows_of(SplitSampler(task, task.split("train"), plan, HERE))
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
        (one,) = rows_of(SplitSampler(task, task.split("train"), Plan({"train": {0: 9}}), HERE))
        chosen.update(one.block["number"].tolist())
    assert len(chosen) == 12
    assert all(abs(count - 300) < 40 for count in chosen.values())


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
    sampler = SplitSampler(task, task.split("train"), Plan({"train": {0: 60}}), HERE)
    with pytest.raises(SynthbenchError, match="60 rows asked for"):
        list(sampler.rounds())
    assert len(asked) == windows * STALL_BLOCKS
    assert sampler.tried == 32 * len(asked)


def test_a_round_in_which_nothing_is_found_is_no_round():
    """Bucket 0 has one row: the second round asks it for one more, and bucket 1 for none."""

    class Tiny(Open):
        round_rows = 2

    task = Tiny(None, {"sizes": (1, 500, 500), "counted": False})
    plan = Plan({"train": {0: 2, 1: 1}})
    sampler = SplitSampler(task, task.split("train"), plan, HERE)
    drawn = rows_of(sampler)
    assert counts_of(drawn) == {0: 1, 1: 2}
    assert all(len(one.fingerprints) for one in drawn)


# Where the sampler stands.


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("sizes", [(1000, 1000, 1000, 500), (30, 9, 2000, 500)])
def test_after_any_round_the_state_leads_to_the_same_rest(sizes, counted):
    task = toy(*sizes, counted=counted)
    plan = make_plan(task, small(train=750, iid=20, test=9))
    for split in task.splits:
        whole = SplitSampler(task, split, plan, HERE)
        rounds, states = [], [whole.state()]
        for one in whole.rounds():
            rounds.append(one.rows())
            states.append(whole.state())
        for done, state in enumerate(states):
            seen: dict[int, FingerprintSet] = {}
            for one in rounds[:done]:
                for bucket in np.unique(one.buckets).tolist():
                    prints = one.fingerprints[one.buckets == bucket]
                    seen.setdefault(bucket, FingerprintSet()).add(prints)
            stored = json.loads(json.dumps(state))
            again = SplitSampler(task, split, plan, HERE, state=stored, seen=seen)
            assert again.state() == state
            rest = rows_of(again)
            assert [one.fingerprints.tolist() for one in rest] == [
                one.fingerprints.tolist() for one in rounds[done:]
            ]
            assert again.state() == states[-1]
            assert again.taken() == whole.taken()
            assert again.tried == whole.tried


def test_candidates_are_counted_exactly_as_far_as_they_were_looked_at():
    task = Open(None, {"sizes": (10**9, 500)})
    plan = Plan({"train": {0: 100}})
    sampler = SplitSampler(task, task.split("train"), plan, HERE)
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
    plan = Plan({"train": {0: 32, 1: 33}})
    rows_of(SplitSampler(task, task.split("train"), plan, HERE))
    assert collections.Counter(asked) == {("train", 0): 1, ("train", 1): 2}
