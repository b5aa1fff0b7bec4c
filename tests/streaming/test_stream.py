"""Endless fresh rows: balanced, pure functions of their numbers, held out where they are asked."""

from __future__ import annotations

import collections
import pickle
import threading

import numpy as np
import pytest

import synthbench
from synthbench.engine.engine import Engine
from synthbench.errors import ParameterError, UsageError
from synthbench.streaming import stream
from synthbench.streaming.columns import Columns
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Block
from synthbench.tasks.registry import task as make_task
from tests.sampling.making import Open
from tests.streaming.making import first, ids_of
from tests.support import ONE_EACH, draw_splits, easiest, id_texts, start

first_variant = pytest.mark.parametrize(("name", "variant"), ONE_EACH)

#: Of parity's 14,641 equations these many are not held out.
OPEN, HELD_OUT = 12_797, 1_844


def assert_same(one, two):
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        assert list(a) == list(b)
        for key in a:
            for x, y in zip(a[key], b[key], strict=True):
                assert np.array_equal(x, y) if isinstance(x, np.ndarray) else x == y


# Batches.


@pytest.mark.usefixtures("short_rounds")
@first_variant
def test_a_batch_has_all_columns_and_is_as_long_as_asked(name, variant):
    task = easiest(name, variant)
    for split in task.splits:
        (batch,) = first(stream(task, split=split.name, batch_size=70), 1)
        assert next(iter(batch)) == "id"
        assert {"id", *task.columns} <= set(batch)
        assert {len(array) for array in batch.values()} == {70}
        assert all(len(one) == 16 for one in batch["id"])


@pytest.mark.usefixtures("short_rounds")
@first_variant
def test_a_row_does_not_depend_on_the_batch_size(name, variant):
    task = easiest(name, variant)
    split = task.splits[0].name
    whole = ids_of(first(stream(task, split=split, batch_size=600), 1))
    for size in (1, 7, 256, 550):
        count = min(-(-600 // size), 12)
        assert (
            ids_of(first(stream(task, split=split, batch_size=size), count))[:600]
            == (whole[: count * size])
        )


def test_batches_have_a_number():
    batches = stream("parity", batch_size=1_000)
    read = [next(batches) for _ in range(70)]  # into the second round
    assert batches.start == 70
    for number in (69, 0, 65, 66):
        assert_same([batches[number]], [read[number]])
        assert_same(first(stream("parity", batch_size=1_000, start=number), 1), [read[number]])
    read[65]["label"][:] = 0
    assert batches[65]["label"].any()


def test_a_stream_says_what_it_has():
    named = stream("parity", split="test", seed=3, batch_size=4)
    assert repr(named) == (
        "<batches of 4 rows of synthbench.task('parity'), split test, seed 3, next batch 0>"
    )


def test_a_pickled_stream_continues_where_it_was():
    batches = stream("ctl", split="test", batch_size=100, seed=5)
    before = first(batches, 3)
    again = pickle.loads(pickle.dumps(batches))
    assert again.start == 3
    assert_same([next(again)], [next(batches)])
    assert_same([again[1]], [before[1]])


def test_several_threads_share_a_stream():
    batches = stream("parity", batch_size=100)
    read: list[dict] = []

    def some():
        for _ in range(40):
            read.append(next(batches))

    threads = [threading.Thread(target=some) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids_of(read)) == sorted(ids_of(first(stream("parity", batch_size=100), 120)))


@pytest.mark.slow
def test_a_program_may_end_in_the_middle_of_a_stream():
    code = "import synthbench; batches = synthbench.stream('parity', workers={}); next(batches)"
    for workers in (1, 2):
        done = start("-X", "dev", "-c", code.format(workers), PYTHONWARNINGS="default")
        assert (done.returncode, done.stderr) == (0, ""), workers


# Balance.


def counts_of(task, rows):
    return collections.Counter(task.buckets(task.rendered(rows.block)).tolist())


def test_a_round_is_balanced_and_has_no_row_twice():
    source = Rounds(make_task("ctl"), "train")
    rows = source.rows(0)
    assert len(rows) == source.size == len(set(rows.fingerprints.tolist()))
    lengths = counts_of(source.task, rows)
    # All 72 rows of one function, and of the 648 of two those that are not held out: rows are held
    # out by their functions, eight start symbols together. Lengths 4 and 5 share the rest.
    assert lengths[1] == 72
    assert lengths[2] / 648 == pytest.approx(7 / 8, abs=0.05)
    assert lengths[3] / 5_832 == pytest.approx(7 / 8, abs=0.02)
    assert abs(lengths[4] - lengths[5]) <= 1
    # All are shuffled together.
    tenths = np.array_split(source.task.rendered(rows.block)["length"].to_numpy(), 10)
    for tenth in tenths:
        assert abs(np.count_nonzero(tenth == 4) - lengths[4] / 10) < 5 * lengths[4] ** 0.5 / 3


@pytest.mark.parametrize("name", ["ctl", "grid-count"])
def test_small_buckets_are_emptied_and_the_others_fill_the_round(name):
    task = make_task(name)
    source = Rounds(task, "train")
    counts = counts_of(task, source.rows(0))
    assert set(counts) == set(task.split("train").buckets)
    equal = source.size // len(counts)
    for bucket, count in counts.items():
        capacity = task.capacity(task.split("train"), bucket)
        assert count >= equal or (capacity is not None and count >= 0.6 * min(capacity, equal))


def test_small_buckets_recur_without_being_counted():
    """Of sizes that nobody counted: the round takes what it finds, and fills up with the others."""
    task = Open(None, {"sizes": (10, 40, 10**6, 10), "counted": False})
    rows = [Rounds(task, "train").rows(number) for number in range(2)]
    for one in rows:
        counts = counts_of(task, one)
        assert len(set(one.fingerprints.tolist())) == len(one)
        assert 5 <= counts[0] <= 10
        assert 25 <= counts[1] <= 40
    tiny = Open(None, {"sizes": (3, 9, 5, 10), "counted": False})
    rounds = Rounds(tiny, "train")
    prints = rounds.rows(0).fingerprints.tolist()
    found = len(set(prints))
    assert len(prints) == rounds.size > found
    assert len(set(prints[:found])) == found  # all come before one comes again
    assert prints[:found] != prints[found : 2 * found]


class Sending(Engine):
    """Keeps what worker processes would send."""

    def __init__(self):
        super().__init__(None, 1)
        self.sent = []

    def submit(self, function, /, *args, **kwargs):
        made = super().submit(function, *args, **kwargs)
        self.sent.append(pickle.loads(pickle.dumps(made.result())))
        return made


@pytest.mark.usefixtures("short_rounds")
@first_variant
def test_workers_send_no_python_objects(name, variant, monkeypatch):
    """A round of `ctl` as columns took five times as long to send as to make."""
    engine = Sending()
    monkeypatch.setattr("synthbench.streaming.batches.open_engine", lambda workers: engine)
    task = easiest(name, variant)
    split = task.splits[0].name
    alone, near = (
        first(stream(task, split=split, batch_size=40, workers=count), 2) for count in (1, 2)
    )
    assert_same(alone, near)
    if task.forms:
        first(synthbench.tokens(task, split=split, batch_size=40, workers=2), 1)
    blocks = [getattr(one, "block", one) for one in engine.sent]
    assert len(blocks) == (2 if task.forms else 1)
    assert all(column.dtype != object for block in blocks for column in block.columns.values())


# What is held out.


def test_train_and_test_streams_together_are_everything_there_is():
    train = ids_of(first(stream("parity", batch_size=OPEN), 1))
    test = ids_of(first(stream("parity", split="test", batch_size=HELD_OUT), 1))
    assert (len(set(train)), len(set(test))) == (OPEN, HELD_OUT)
    assert not set(test) & set(train)
    assert set(test) == set(id_texts(draw_splits(make_task("parity"), None)["test"].fingerprints))


@pytest.mark.usefixtures("short_rounds")
def test_streams_of_splits_that_share_buckets_have_no_row_in_common():
    task = make_task("listops", train_depths=[1, 2], validation_depths=[1, 2])
    seen: dict[str, set[str]] = {}
    for split in ("iid", "validation", "train"):
        batches = [
            first(stream(task, split=split, batch_size=500, seed=seed), 1) for seed in (0, 1)
        ]
        seen[split] = {one for batch in batches for one in ids_of(batch)}
    assert all(one[0] in "01" for split in ("iid", "validation") for one in seen[split])
    assert not seen["iid"] & seen["validation"]
    # They are of the same kind as the rows of datasets.
    dataset = draw_splits(task, 400)
    assert not seen["iid"] & set(id_texts(dataset["validation"].fingerprints))
    assert seen["iid"] & set(id_texts(dataset["iid"].fingerprints))


def test_a_split_without_rows_is_refused():
    for counted in (True, False):
        nothing = Open(None, {"sizes": (10, 50), "counted": counted})
        with pytest.raises(ParameterError, match="Split test of numbers: no row"):
            next(stream(nothing, split="test"))


# Where it starts, and who makes it.


@pytest.mark.slow
def test_two_workers_give_the_same_batches_as_one():
    size = {"batch_size": 9_000}
    alone = first(stream("parity", **size), 11)  # more rows than a round has
    assert_same(first(stream("parity", workers=2, **size), 9), alone[:9])
    assert_same(first(stream("parity", workers=2, start=9, **size), 2), alone[9:])


def test_seeds_splits_variants_and_parameters_have_streams_of_their_own():
    def opening(task="ctl", **arguments):
        return ids_of(first(stream(task, batch_size=64, **arguments), 1))

    forward = opening()
    assert opening() == opening(seed=0) == opening(make_task("ctl")) == forward
    assert opening(seed=1) != forward
    assert opening(split="iid") != forward
    assert opening(make_task("ctl", train_lengths="2..5")) != forward
    # Both variants of ctl hold the same rows, each in its own direction.
    assert opening(make_task("ctl", "backward")) == forward


def test_the_seed_of_a_stream_decides_the_draws_and_that_of_the_task_what_rows_mean():
    tables = [make_task("ctl", seed=seed) for seed in (0, 1)]
    drawn = [next(stream(task, seed=7, batch_size=200)) for task in tables]
    assert drawn[0]["text"].tolist() == drawn[1]["text"].tolist()
    assert drawn[0]["label"].tolist() != drawn[1]["label"].tolist()
    assert next(stream(tables[1]))["id"].tolist() == next(stream(tables[1], seed=1))["id"].tolist()


def test_rounds_differ_from_each_other_and_from_the_dataset():
    source = Rounds(make_task("identity"), "train")
    one, two = (set(id_texts(source.rows(number).fingerprints)) for number in (0, 1))
    assert not one & two
    dataset = set(id_texts(draw_splits(make_task("identity"), 500)["train"].fingerprints))
    assert not one & dataset


def test_arrays_can_be_written_to():
    (batch,) = first(stream("grid-count", batch_size=8), 1)
    assert all(array.flags.writeable for array in batch.values())


def test_what_is_written_into_a_list_stays_in_its_batch():
    untouched = first(stream("ctl", batch_size=40), 3)
    with stream("ctl", batch_size=40) as batches:
        for steps in batches[0]["steps"]:
            steps[:] = "changed"
        assert_same([batches[0]], untouched[:1])
        for steps in next(batches)["steps"]:
            steps[:] = "changed"
        assert_same([batches[0], next(batches), next(batches)], untouched)


def test_lists_of_lists_and_dicts_of_a_round_are_not_given_away():
    def column(*values):
        made = np.empty(len(values), object)
        for row, value in enumerate(values):
            made[row] = value
        return made

    kept = Block(
        {
            "lists": column(column(np.arange(2), np.arange(3)), column()),
            "dicts": column({"size": [1]}, None),
        }
    )
    given = Columns(make_task("parity")).batch(np.zeros(2), {0: Block.concatenate([kept])})
    given["lists"][0][1][:] = 7
    given["dicts"][0]["size"].append(7)
    assert kept["lists"][0][1].tolist() == [0, 1, 2]
    assert kept["dicts"].tolist() == [{"size": [1]}, None]


# What is refused, before any work.


#: Arguments that no stream of rows takes.
REFUSED = pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "partity"}, r"Unknown task 'partity'.*Did you mean 'parity'\?"),
        ({"split": "tran"}, r"Unknown split of parity 'tran'.*Did you mean 'train'\?"),
        ({"seed": -1}, r"Seed -1: allowed are whole numbers from 0\."),
        ({"batch_size": 0}, r"Batch size 0: allowed are whole numbers from 1\."),
        ({"batch_size": True}, r"Batch size True: allowed are whole numbers from 1\."),
        ({"start": -1}, r"Start -1: allowed are whole numbers from 0\."),
        ({"start": 1.0}, r"Start 1\.0: allowed are whole numbers from 0\."),
        ({"workers": 0}, r"Workers 0: allowed are whole numbers from 1 to 256\."),
        ({"workers": 257}, r"Workers 257: allowed are whole numbers from 1 to 256\."),
        ({"workers": 1.5}, r"Workers 1\.5: allowed are whole numbers from 1 to 256\."),
    ],
)


@REFUSED
def test_what_cannot_be_streamed_is_refused_at_the_call(arguments, message):
    for function in (stream, synthbench.tokens):
        with pytest.raises(UsageError, match=message):
            function(**{"task": "parity", **arguments})
    if not {"start", "workers"} & set(arguments):
        with pytest.raises(UsageError, match=message):
            synthbench.curve(**{"task": "parity", "predict": None, **arguments})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((-1, 2), r"First row -1: allowed are whole numbers from 0\."),
        ((0.5, 2), r"First row 0\.5: allowed are whole numbers from 0\."),
        ((0, 0), r"Number of rows 0: allowed are whole numbers from 1\."),
    ],
)
def test_rows_that_no_stream_has_are_refused(rows, message):
    with pytest.raises(UsageError, match=message):
        stream("parity").rows(*rows)


def test_numbers_of_numpy_are_whole_numbers_like_others():
    """Narrow ones would overflow: 400 times 100 is no int16."""
    narrow = synthbench.stream("parity", batch_size=np.int16(400), start=np.int8(1))
    assert_same([narrow[np.uint8(100)]], [synthbench.stream("parity", batch_size=400)[100]])
    assert type(narrow.start) is int
