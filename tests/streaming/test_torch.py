"""`TorchStream` gives single rows, which a `DataLoader` joins, and text as ids of tokens."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, default_collate

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.torch import TorchStream
from synthbench.tasks.registry import make_task
from tests.support import IMAGELESS, first_fast

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),  # what torchdata calls of PyTorch
]

TEXT = [("listops", "default"), ("arithmetic", "default"), ("parity", "default")]
TEXT += [("ctl", "forward"), ("ctl", "backward")]


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", 320)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", 320)


def form(batch):
    """The type, dtype and shape of each column."""
    return {name: (type(column), column.dtype, column.shape) for name, column in batch.items()}


# Single rows.


@pytest.mark.parametrize(
    ("name", "variant", "workers"),
    first_fast([*((*one, 0) for one in IMAGELESS), ("ctl", "forward", 1)]),
)
def test_rows_that_a_data_loader_joins_look_like_a_batch_of_the_stream(name, variant, workers):
    task = {"task": name, "variant": variant, "split": make_task(name, variant).splits[-1].name}
    single = list(itertools.islice(synthbench.stream(**task, batch_size=1), 16))
    stream = TorchStream(**task, batch_size=None)
    joined = next(iter(DataLoader(stream, batch_size=16, num_workers=workers)))
    whole = next(iter(DataLoader(TorchStream(**task, batch_size=16), batch_size=None)))
    assert form(joined) == form(whole)
    for column, array in joined.items():
        for one, row in zip(array, single, strict=True):
            np.testing.assert_array_equal(one, row[column][0])


def test_rows_of_a_stream_are_plain_values():
    row = next(iter(TorchStream("ctl", batch_size=None)))
    assert isinstance(row["text"], str)
    assert isinstance(row["label"], np.int64)
    assert list(row["steps"]) == make_task("ctl").recompute_columns(row)["steps"]


def test_a_stream_of_rows_goes_on_at_the_row_where_its_state_says():
    whole = [row["id"] for row in itertools.islice(TorchStream("parity", batch_size=None), 700)]
    assert len(set(whole)) > 600
    stream = TorchStream("parity", batch_size=None)
    begun = iter(DataLoader(stream, batch_size=30))
    for _ in range(13):
        next(begun)
    again = TorchStream("parity", batch_size=None)
    again.load_state_dict(stream.state_dict())
    assert [row["id"] for row in itertools.islice(again, 310)] == whole[390:]
    started = TorchStream("parity", batch_size=None, start=390)
    assert next(iter(started))["id"] == whole[390]


@pytest.mark.parametrize("workers", [0, 2])
def test_torchdatas_stateful_loader_resumes_rows_in_every_worker(workers):
    stateful = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed: the extra dev has it"
    )

    def loader():
        rows = TorchStream("parity", batch_size=None, encode=True)
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


# Text as ids of tokens.


@pytest.mark.parametrize(("name", "variant"), TEXT)
@pytest.mark.parametrize("split", ["train", "test"])
def test_encoded_batches_are_the_tokens_of_the_rows_in_one_width(name, variant, split):
    task = make_task(name, variant)
    arguments: dict[str, Any] = {"task": name, "variant": variant, "split": split, "batch_size": 32}
    plain = synthbench.stream(**arguments)
    encoded = DataLoader(TorchStream(**arguments, encode=True), batch_size=None)
    widths = set()
    for rows, batch in itertools.islice(zip(plain, encoded, strict=True), 12):
        assert list(batch) == ["input_ids", "attention_mask", "labels"]
        assert {column.dtype for column in batch.values()} == {torch.int64}
        assert batch["labels"].tolist() == rows["label"].tolist()
        widths.add(batch["input_ids"].shape[1])
        for text, ids, mask in zip(
            rows["text"], batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True
        ):
            words = text.split(task.separator) if task.separator else [*text]
            beyond = [0] * (len(ids) - len(words))
            assert ids == [1 + task.tokens.index(word) for word in words] + beyond
            assert mask == [1] * len(words) + beyond
    longest = {"parity": 5, "ctl": 6 if split == "train" else 11}
    assert widths == {longest.get(name, 50)}


def test_encoded_rows_can_be_joined_by_any_collate_function():
    rows = list(itertools.islice(TorchStream("listops", batch_size=None, encode=True), 8))
    joined = default_collate([dict(row) for row in rows])
    assert form(joined) == form(default_collate(rows))
    assert joined["input_ids"].shape == (8, 50)


@pytest.mark.parametrize("name", ["composites", "grid-count", "identity", "clusters"])
def test_what_is_not_text_cannot_be_encoded_and_is_told_which_tasks_can(name):
    with pytest.raises(
        UsageError,
        match=rf"encode=True: rows of '{name}' are not text .* allowed are listops, arithmetic, "
        r"ctl, parity.*\. Without encode, .* has the columns id, ",
    ):
        TorchStream(name, split=make_task(name).splits[0].name, encode=True)
