"""Endless fresh rows: balanced, without evaluation rows, the same with any number of workers."""

from __future__ import annotations

import collections
import functools
import itertools

import numpy as np
import pytest
import torch.utils.data

from synthbench.errors import ParameterError, UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.rounds import Rounds, datasets_stream, stream
from synthbench.streaming.torch import TorchStream
from synthbench.tasks.registry import make_task
from tests.support import IMAGELESS, draw_splits, first_fast, id_texts

every_variant = pytest.mark.parametrize(("name", "variant"), first_fast(IMAGELESS))

#: Of parity's 14,641 equations these many are not held out: with this a round has 49 batches.
OPEN = 12_797
PARITY = {"task": "parity", "batch_size": 256}
PER_ROUND = OPEN // 256


def first(batches, count):
    """The first batches; a stream's workers end with it."""
    taken = list(itertools.islice(batches, count))
    batches.close()  # type: ignore[attr-defined]
    return taken


def ids_of(batches):
    return [one for batch in batches for one in batch["id"].tolist()]


def assert_same(one, two):
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        assert list(a) == list(b)
        for key in a:
            np.testing.assert_array_equal(a[key], b[key])


@pytest.fixture
def short_rounds(monkeypatch):
    """Rounds that are soon made, for what is tried with every task."""
    monkeypatch.setattr(streaming, "ROUND_ROWS", 2_048)


# Batches.


@pytest.mark.usefixtures("short_rounds")
@every_variant
def test_a_batch_has_all_columns_and_is_as_long_as_asked(name, variant):
    task = make_task(name, variant)
    for split in task.splits:
        (batch,) = first(stream(name, variant=variant, split=split.name, batch_size=70), 1)
        assert next(iter(batch)) == "id"
        assert {"id", *task.columns} <= set(batch)
        assert {len(array) for array in batch.values()} == {70}
        assert all(len(one) == 16 for one in batch["id"])


@functools.cache
def one_round(name, variant, split, batch_size):
    source = Rounds(make_task(name, variant), split, batch_size)
    return source, list(source.batches_of(source.rows(0)))


def test_a_round_is_balanced_and_has_no_row_twice():
    source, batches = one_round("ctl", "forward", "train", 500)
    assert len(batches) == source.batches == 65_536 // 500
    assert {len(batch["id"]) for batch in batches} == {500}
    ids = ids_of(batches)
    assert len(set(ids)) == len(ids) == source.batches * 500
    lengths = collections.Counter(np.concatenate([batch["length"] for batch in batches]).tolist())
    # All 72 rows of one function, and of the 648 of two those that are not held out: rows are held
    # out by their functions, eight start symbols together. Lengths 4 and 5 share the rest.
    assert lengths[1] == 72
    assert lengths[2] % 8 == 0
    assert lengths[2] / 648 == pytest.approx(7 / 8, abs=0.05)
    assert lengths[3] / 5_832 == pytest.approx(7 / 8, abs=0.02)
    assert abs(lengths[4] - lengths[5]) <= 1


def test_batches_have_the_splits_balance():
    _, batches = one_round("ctl", "forward", "test", 500)
    for batch in batches:
        counts = collections.Counter(batch["length"].tolist())
        assert set(counts) == {9, 10}
        # Five standard deviations of a binomial of 500 rows.
        assert abs(counts[9] - 250) < 56


def test_a_batch_size_that_does_not_divide_the_round_leaves_rows_out_but_gives_whole_batches():
    batches = first(stream("parity", batch_size=1_000), 24)
    assert {len(batch["id"]) for batch in batches} == {1_000}
    rounds = [ids_of(batches[start : start + 12]) for start in (0, 12)]
    assert all(len(set(ids)) == 12_000 for ids in rounds)
    assert rounds[0] != rounds[1]


def test_a_batch_may_be_all_rows_there_are_but_not_more():
    (batch,) = first(stream("parity", batch_size=OPEN), 1)
    assert len(set(batch["id"].tolist())) == OPEN
    with pytest.raises(
        ParameterError,
        match=rf"Batch size {OPEN + 1}: split train of parity has {OPEN:,} rows that are not held "
        rf"out; allowed are 1 to {OPEN:,}\.",
    ):
        stream("parity", batch_size=OPEN + 1)


def test_a_batch_may_be_larger_than_a_usual_round():
    (batch,) = first(stream("identity", batch_size=70_000), 1)
    assert len(set(batch["id"].tolist())) == 70_000


@pytest.mark.parametrize("name", ["ctl", "grid-count"])
def test_small_buckets_are_emptied_and_the_others_fill_the_round(name):
    """`ctl` has 72 rows of length 1, `grid-count` 10 of size 1, and so on."""
    task = make_task(name)
    source = Rounds(task, "train", batch_size=512)
    table = source.table(0)
    assert table.num_rows == source.batches * 512
    assert len(set(table["id"].to_pylist())) == table.num_rows
    columns = {key: table[key].combine_chunks() for key in table.column_names}
    counts = collections.Counter(task.buckets(columns).tolist())
    assert set(counts) == set(task.split("train").buckets)
    equal = table.num_rows / len(counts)
    for bucket, count in counts.items():
        capacity = task.capacity(task.split("train"), bucket)
        assert count >= int(equal) or (capacity is not None and count >= 0.7 * min(capacity, equal))


# What never comes.


def test_a_stream_and_the_held_out_rows_are_everything_there_is():
    test = set(id_texts(draw_splits(make_task("parity"), None)["test"].fingerprints))
    everything = set(ids_of(first(stream("parity", batch_size=OPEN), 1)))
    assert (len(everything), len(test)) == (OPEN, 11**4 - OPEN)
    assert not test & everything


# Where it starts, and who makes it.


@pytest.mark.parametrize("start", [1, PER_ROUND - 1])
def test_starting_at_a_batch_is_skipping_those_before_it(start):
    whole = first(stream(**PARITY), start + 3)
    assert_same(first(stream(**PARITY, start=start), 3), whole[start:])


def test_two_workers_give_the_same_batches_as_one():
    assert_same(first(stream(**PARITY, workers=2), 40), first(stream(**PARITY), 40))
    assert_same(first(stream(**PARITY, workers=2, start=20), 3), first(stream(**PARITY), 23)[20:])


def test_seeds_splits_variants_and_parameters_have_streams_of_their_own():
    def opening(**arguments):
        return ids_of(first(stream(**{"task": "ctl", "batch_size": 64, **arguments}), 1))

    forward = opening()
    assert opening() == forward
    assert opening(seed=1) != forward
    assert opening(split="iid") != forward
    assert opening(parameters={"train_lengths": "2..5"}) != forward
    # Both variants of ctl hold the same rows, each in its own direction.
    assert opening(variant="backward") == forward


def test_rounds_differ_from_each_other_and_from_the_dataset():
    source = Rounds(make_task("identity"), "train", batch_size=512)
    one, two = (set(id_texts(source.rows(number).fingerprints)) for number in (0, 1))
    assert not one & two
    dataset = set(id_texts(draw_splits(make_task("identity"), 500)["train"].fingerprints))
    assert not one & dataset


def test_arrays_can_be_written_to():
    (batch,) = first(stream("grid-count", batch_size=8), 1)
    assert all(array.flags.writeable for array in batch.values())


# What is refused, before any work.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "partity"}, r"Unknown task 'partity'.*Did you mean 'parity'\?"),
        ({"split": "tran"}, r"Unknown split of parity 'tran'.*Did you mean 'train'\?"),
        ({"variant": "default2"}, r"Unknown variant of parity 'default2'.*'default'\?"),
        ({"parameters": {"n_value": 2}}, r"Unknown parameter 'n_value'.*Did you mean 'n_values'\?"),
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
def test_what_cannot_be_streamed_is_refused_at_the_call(arguments, message):
    with pytest.raises(UsageError, match=message):
        stream(**{"task": "parity", **arguments})
    if "workers" not in arguments:
        with pytest.raises(UsageError, match=message):
            TorchStream(**{"task": "parity", **arguments})


# PyTorch.

more_workers_than_cores = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def loaded(workers, count, **arguments):
    """The first batches of a DataLoader, its strings as arrays again."""
    source = TorchStream(**{**PARITY, **arguments})
    loader = torch.utils.data.DataLoader(source, batch_size=None, num_workers=workers)
    batches = []
    for batch in itertools.islice(iter(loader), count):
        batches.append({key: np.asarray(array) for key, array in batch.items()})
    return batches


def names_of(batches):
    """Each batch by its first id; no two batches of a few rounds begin alike."""
    return [",".join(batch["id"].tolist()) for batch in batches]


def test_a_data_loader_without_workers_gives_the_stream_itself():
    assert_same(loaded(0, 20), first(stream(**PARITY), 20))
    assert_same(loaded(0, 3, start=20), first(stream(**PARITY), 23)[20:])


@more_workers_than_cores
@pytest.mark.parametrize("workers", [1, 2])
def test_the_workers_of_a_data_loader_lose_and_repeat_no_batch(workers):
    expected = names_of(first(stream(**PARITY), workers * PER_ROUND))
    found = names_of(loaded(workers, workers * PER_ROUND))
    assert sorted(found) == sorted(expected)
    assert len(set(found)) == len(found)


@more_workers_than_cores
def test_a_start_holds_for_all_workers_of_a_data_loader_together():
    start = PER_ROUND + 5
    rest = PER_ROUND - 5 + PER_ROUND  # of round 1, and round 2
    whole = names_of(first(stream(**PARITY), start + rest))
    found = names_of(loaded(2, 2 * PER_ROUND, start=start))
    assert len(set(found)) == len(found)
    assert set(whole[start:]) <= set(found)
    assert not set(whole[:start]) & set(found)


@pytest.mark.parametrize("options", [{}, {"batch_size": 32}, {"batch_size": 2, "num_workers": 1}])
def test_a_data_loader_that_would_join_batches_is_told_what_to_write(options):
    loader = torch.utils.data.DataLoader(TorchStream(**PARITY), **options)
    with pytest.raises(
        UsageError,
        match=r"batch_size=(1|2|32) would join whole batches of TorchStream\. Write "
        r"DataLoader\(TorchStream\(\.\.\., batch_size=N\), batch_size=None\)",
    ):
        next(iter(loader))


def test_a_stream_goes_on_where_its_state_says_and_makes_no_round_again(monkeypatch):
    stop = 2 * PER_ROUND + 4
    whole = first(stream(**PARITY), stop + 7)
    source = TorchStream(**PARITY)
    assert_same([dict(batch) for batch in itertools.islice(source, stop)], whole[:stop])
    state = source.state_dict()
    assert state["next"] == stop
    made: list[int] = []
    rows = Rounds.rows
    monkeypatch.setattr(
        Rounds, "rows", lambda self, number: made.append(number) or rows(self, number)
    )
    again = TorchStream(**PARITY)
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert_same([dict(batch) for batch in itertools.islice(again, 7)], whole[stop:])
    assert made == [2]
    assert_same([dict(batch) for batch in itertools.islice(again, 1)], whole[:1])
    of = state["of"]
    for wrong in ({}, {"next": 1}, {"next": -1, "of": of}, {"next": "38", "of": of}, 38):
        with pytest.raises(UsageError, match="State"):
            again.load_state_dict(wrong)  # type: ignore[arg-type]


# Hugging Face datasets.


def test_a_datasets_stream_gives_the_streams_rows_with_the_features():
    given = list(itertools.islice(datasets_stream("ctl", seed=4), 300))
    batches = first(stream("ctl", seed=4, batch_size=1), 300)
    assert [row["id"] for row in given] == ids_of(batches)
    assert [row["text"] for row in given] == [batch["text"][0] for batch in batches]
    task = make_task("ctl", seed=4)
    for row in given:
        assert {"id": row["id"], "text": row["text"], **task.recompute_columns(row)} == row
    features = datasets_stream("ctl").features
    assert features["label"].names == list(task.symbols)


def test_a_datasets_stream_goes_from_round_to_round_as_the_stream_does(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", 4)
    given = [row["id"] for row in itertools.islice(datasets_stream("parity"), 50)]
    assert given == ids_of(first(stream("parity", batch_size=4), 13))[:50]


@pytest.mark.usefixtures("short_rounds")
def test_the_shards_of_a_datasets_stream_are_endless_and_have_no_row_in_common():
    whole = datasets_stream("identity")
    assert all(whole.num_shards % parts == 0 for parts in range(1, 11))
    parts = [whole.shard(3, index) for index in range(3)]
    given = [[row["id"] for row in itertools.islice(part, 500)] for part in parts]
    assert len({one for ids in given for one in ids}) == 1_500
    assert given[0] == ids_of(first(stream("identity", batch_size=1), 500))


def test_a_datasets_stream_goes_on_where_its_state_says(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", 4)
    rows = datasets_stream("parity")
    reading = iter(rows)
    for _ in range(9):
        next(reading)
    state = rows.state_dict()
    ahead = [next(reading)["id"] for _ in range(9)]
    later = datasets_stream("parity")
    later.load_state_dict(state)
    assert [row["id"] for row in itertools.islice(later, 9)] == ahead


@pytest.mark.usefixtures("short_rounds")
@more_workers_than_cores
def test_the_workers_of_a_data_loader_have_different_rows_of_a_datasets_stream():
    rows = datasets_stream("identity")
    loader = torch.utils.data.DataLoader(rows, batch_size=100, num_workers=2)
    batches = [batch["id"] for batch in itertools.islice(iter(loader), 10)]
    assert len({one for ids in batches for one in ids}) == 1_000
    found = [one for ids in batches[::2] for one in ids]
    assert found == ids_of(first(stream("identity", batch_size=1), 500))


def test_a_state_is_refused_by_a_stream_of_other_rows_or_batches():
    given = {"split": "train", "variant": None, "seed": 1, "parameters": {}, "batch_size": 16}
    state = TorchStream("ctl", **given).state_dict()  # type: ignore[arg-type]
    TorchStream("ctl", **given).load_state_dict(state)  # type: ignore[arg-type]
    for name, other, said in (
        ("batch_size", 32, "batch_size 16 there, 32 here"),
        ("seed", 2, "seed 1 there, 2 here"),
        ("variant", "backward", "variant 'forward' there, 'backward' here"),
        ("split", "iid", "split 'train' there, 'iid' here"),
        ("parameters", {"symbols": 4}, "parameters .*symbols.* there, .* here"),
    ):
        stream = TorchStream("ctl", **{**given, name: other})  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=said):
            stream.load_state_dict(state)
