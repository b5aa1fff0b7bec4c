"""A row for a seed: the same for ever, of the split's balance, on the right side."""

import collections

import pytest

import synthbench
from synthbench.errors import ParameterError, UsageError
from synthbench.streaming.seeded_row import seeded_row
from synthbench.tasks.base import LABEL
from tests.support import ONE_EACH

#: The ids of seeds 0 and 10**15 of train, and of seed 0 of test. They must never change.
PINNED = {
    "listops": ["cce57123ffb65097", "571d33e9d0e788a9", "0aaa8ec1eaea7716"],
    "parity": ["fe8b9f17e9e33c2a", "e3b1784f17acdf37", "17d7d9e4102c3697"],
    "chomsky": ["90b883bcd9bbd961", "994aef728bccba7c", "19af492b98500593"],
}


def test_the_rows_of_seeds_are_pinned():
    for name, ids in PINNED.items():
        seeds = (("train", 0), ("train", 10**15), ("test", 0))
        assert [seeded_row(synthbench.task(name), *one)["id"] for one in seeds] == ids


def test_a_row_is_a_pure_function_on_the_right_side_of_what_is_held_out():
    for name, _ in ONE_EACH:
        task = synthbench.task(name)
        for split in task.splits:
            rows = [seeded_row(task, split.name, seed) for seed in range(4)]
            assert rows == [seeded_row(task, split.name, seed) for seed in range(4)]
            assert [row["id"] < "2" for row in rows] == [split.evaluation] * 4
            for row in rows:
                if task.is_checked:  # whose label is one right answer of several
                    assert task.score(row, row[LABEL]) == 1.0
                else:
                    told = task.recompute_columns(row)
                    assert {one: row[one] for one in told} == told


def test_rows_have_the_splits_balance_and_hardly_repeat():
    task = synthbench.task("arithmetic")
    rows = [seeded_row(task, "test", seed) for seed in range(200)]
    depths = collections.Counter(row["depth"] for row in rows)
    assert set(depths) == {7, 8}
    assert 70 < depths[7] < 130
    assert len({row["id"] for row in rows}) == 200


def test_seeds_and_splits_that_do_not_exist_are_refused():
    task = synthbench.task("parity")
    for split, seed, said in (("tests", 0, "Unknown split"), ("test", -1, "Seed -1")):
        with pytest.raises(UsageError, match=said):
            seeded_row(task, split, seed)


def test_a_split_without_rows_is_told(monkeypatch):
    monkeypatch.setattr(
        "synthbench.streaming.seeded_row.may_have",
        lambda task, split, bucket, prints: prints != prints,
    )
    with pytest.raises(ParameterError, match="Split test of parity: no row was found"):
        seeded_row(synthbench.task("parity"), "test", 0)
