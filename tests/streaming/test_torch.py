"""`TorchStream`: `tokens` for a `DataLoader`, as batches or single rows, shared by its workers."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, default_collate

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.rounds import Rounds
from synthbench.streaming.torch import TorchStream
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import task as make_task
from tests.streaming.test_tokens import assert_same
from tests.support import ONE_EACH, easiest, is_free_text

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),  # what torchdata calls of PyTorch
]

SIZE = 320


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", SIZE)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", SIZE)


def form(batch):
    """The type, dtype and shape of each column."""
    return {name: (type(column), column.dtype, column.shape) for name, column in batch.items()}


def rows_of(batches):
    """The rows of batches of tokens, as tuples."""
    return [tuple(row) for batch in batches for row in np.asarray(batch["input_ids"]).tolist()]


def loaded(workers, count, **arguments):
    loader = DataLoader(TorchStream(**arguments), batch_size=None, num_workers=workers)
    return list(itertools.islice(iter(loader), count))


# Tensors.


def test_a_device_gives_tensors_of_int64():
    batch = next(synthbench.tokens("parity", batch_size=5, device="cpu"))
    assert {one.dtype for one in batch.values()} == {torch.int64}
    assert_same(batch, next(synthbench.tokens("parity", batch_size=5)))
    mixed = synthbench.tokens(["ctl", "parity"], split="test", batch_size=4, device="cpu")[0]
    assert {one.dtype for one in mixed.values()} == {torch.int64}
    with pytest.raises(UsageError, match="Device 'cpuu'"):
        synthbench.tokens("parity", device="cpuu")


def test_predictions_may_be_scores_or_tensors():
    def scores(batch):
        assert batch["input_ids"].dtype == torch.int64
        return torch.nn.functional.one_hot(batch["input_ids"][:, 2] - 1, 11).float()

    one = synthbench.curve("parity", scores, rows=400, device="cpu")
    two = synthbench.curve("parity", lambda batch: batch["input_ids"][:, 2] - 1, rows=400)
    assert one.accuracy == two.accuracy == pytest.approx(0.54, abs=0.1)


# Batches.


def test_a_data_loader_gives_the_batches_of_tokens():
    whole = synthbench.tokens("ctl", batch_size=100, split="test")
    for number, batch in enumerate(loaded(0, 5, task="ctl", batch_size=100, split="test")):
        assert {name: column.dtype for name, column in batch.items()} == dict.fromkeys(
            ("input_ids", "attention_mask", "labels"), torch.int64
        )
        for name, column in batch.items():
            np.testing.assert_array_equal(column.numpy(), whole[number][name])
    (later,) = loaded(0, 1, task="ctl", batch_size=100, split="test", start=4)
    np.testing.assert_array_equal(later["labels"].numpy(), whole[4]["labels"])


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "size"), [(1, 64), (3, 100)])  # 100 does not divide a round
def test_the_workers_of_a_data_loader_lose_and_repeat_no_row(workers, size):
    rounds = 3 * workers
    stream = synthbench.tokens("copying", batch_size=SIZE)
    expected = [rows_of([stream[number]]) for number in range(2 * rounds)]
    count = rounds * SIZE // size // workers * workers
    found = rows_of(loaded(workers, count, task="copying", batch_size=size))
    assert len(found) == count * size
    read, whole = Counter(found), Counter(itertools.chain(*expected))
    assert read <= whole  # no row comes more often than in the stream
    # All of the first rounds are there, but for the batches that each worker cuts last.
    rest = whole - read
    missing = sum(row in rest for round_ in expected[:rounds] for row in round_)
    assert missing < workers * size


@pytest.mark.slow
def test_a_start_holds_for_all_workers_of_a_data_loader_together():
    whole = rows_of([synthbench.tokens("copying", batch_size=5 * SIZE)[0]])
    begin = SIZE + 64
    found = rows_of(loaded(2, 8, task="copying", batch_size=64, start=begin // 64))
    assert set(found) <= set(whole[begin:])
    assert len(set(found)) == len(set(whole[begin : begin + 1])) * len(found) == 512


@pytest.mark.parametrize("options", [{}, {"batch_size": 32}, {"batch_size": 2, "num_workers": 1}])
def test_a_data_loader_that_would_join_batches_is_told_what_to_write(options):
    loader = DataLoader(TorchStream("parity", batch_size=256), **options)
    with pytest.raises(
        UsageError,
        match=r"batch_size=(1|2|32) would join whole batches of TorchStream\. Write "
        r"DataLoader\(TorchStream\(\.\.\., batch_size=N\), batch_size=None\)",
    ):
        next(iter(loader))


# States.


def test_a_stream_goes_on_where_its_state_says_and_makes_no_round_again(monkeypatch):
    whole = rows_of([synthbench.tokens("parity", batch_size=1_600)[0]])
    source = TorchStream("parity", batch_size=100)
    assert rows_of(itertools.islice(source, 9)) == whole[:900]
    state = source.state_dict()
    assert state["next"] == 900
    made: list[int] = []
    rows = Rounds.rows
    monkeypatch.setattr(
        Rounds, "rows", lambda self, number: made.append(number) or rows(self, number)
    )
    again = TorchStream("parity", batch_size=70)
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert rows_of(itertools.islice(again, 2)) == whole[900:1040]
    assert made == [2, 3]
    assert rows_of(itertools.islice(again, 1)) == whole[:70]  # a state holds for one iterator
    of = state["of"]
    for wrong in ({}, {"next": 1}, {"next": -1, "of": of}, {"next": "38", "of": of}, 38):
        with pytest.raises(UsageError, match="State"):
            again.load_state_dict(wrong)  # type: ignore[arg-type]


def test_a_state_is_refused_by_a_stream_of_other_rows():
    state = TorchStream(make_task("ctl", seed=1)).state_dict()
    TorchStream(make_task("ctl", seed=1), batch_size=3).load_state_dict(state)
    for other, said in (
        (TorchStream(make_task("ctl", seed=1), seed=2), r"seed \[1\] there, \[2\] here"),
        (TorchStream("ctl", seed=1), r"task_seed \[1\] there, \[0\] here"),
        (TorchStream(make_task("ctl", "backward", seed=1)), r"variant \['forward'\] there"),
        (
            TorchStream(make_task("ctl", seed=1), split="iid"),
            r"split \['train'\] there, \['iid'\] here",
        ),
        (TorchStream(make_task("ctl", symbols=4, seed=1)), "parameters .*symbols.* there"),
    ):
        with pytest.raises(UsageError, match=said):
            other.load_state_dict(state)


@pytest.mark.dev
@pytest.mark.parametrize("read", [1, 2, 5])
@pytest.mark.parametrize(("workers", "start"), [(0, 100), (2, 100), (3, 9)])
def test_a_loader_that_begins_later_resumes_also_before_every_worker_has_given_rows(
    workers, start, read, monkeypatch
):
    monkeypatch.setattr("synthbench.streaming.rounds.ROUND_ROWS", 256)
    stateful = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed: the extra dev has it"
    )

    def loader():
        rows = TorchStream("parity", batch_size=64, start=start)
        return stateful.StatefulDataLoader(rows, batch_size=None, num_workers=workers)

    whole = [batch["input_ids"] for batch in itertools.islice(loader(), 8)]
    begun = loader()
    batches = iter(begun)
    seen = [next(batches)["input_ids"] for _ in range(read)]
    resumed = loader()
    resumed.load_state_dict(begun.state_dict())
    seen += [batch["input_ids"] for batch in itertools.islice(resumed, 8 - read)]
    for one, other in zip(whole, seen, strict=True):
        assert torch.equal(one, other)


@pytest.mark.dev
@pytest.mark.parametrize("workers", [0, 2])
def test_torchdatas_stateful_loader_resumes_rows_in_every_worker(workers):
    stateful = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed: the extra dev has it"
    )

    def loader():
        rows = TorchStream("parity", batch_size=None)
        return stateful.StatefulDataLoader(rows, batch_size=48, num_workers=workers)

    begun = loader()
    batches = iter(begun)
    for _ in range(9):
        next(batches)
    state = begun.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    for one, other in itertools.islice(zip(batches, resumed, strict=True), 12):
        assert torch.equal(one["input_ids"], other["input_ids"])


# Single rows.


@pytest.mark.parametrize(("name", "variant"), [one for one in ONE_EACH if not is_free_text(one[0])])
def test_rows_that_a_data_loader_joins_look_like_a_batch_of_the_stream(name, variant):
    task = easiest(name, variant)
    split = task.splits[-1].name
    joined = next(iter(DataLoader(TorchStream(task, split=split, batch_size=None), batch_size=16)))
    (whole,) = loaded(0, 1, task=task, split=split, batch_size=16)
    assert form(joined) == form(whole)
    for column, array in joined.items():
        for one, row in zip(array, whole[column], strict=True):
            np.testing.assert_array_equal(one, row)
    if not isinstance(task, TextTask):
        assert set(joined) == {"id", *task.columns}


def test_a_stream_of_rows_goes_on_at_the_row_where_its_state_says():
    whole = rows_of([synthbench.tokens("parity", batch_size=900)[0]])
    stream = TorchStream("parity", batch_size=None)
    begun = iter(DataLoader(stream, batch_size=30))
    for _ in range(13):
        next(begun)
    again = TorchStream("parity", batch_size=None)
    again.load_state_dict(stream.state_dict())
    assert (
        rows_of([{"input_ids": [row["input_ids"] for row in itertools.islice(again, 310)]}])
        == (whole[390:700])
    )
    started = TorchStream("parity", batch_size=None, start=390)
    assert tuple(next(iter(started))["input_ids"].tolist()) == whole[390]


def test_rows_can_be_joined_by_any_collate_function():
    rows = list(itertools.islice(TorchStream("listops", batch_size=None), 8))
    joined = default_collate([dict(row) for row in rows])
    assert form(joined) == form(default_collate(rows))
    assert joined["input_ids"].shape == (8, 50)
