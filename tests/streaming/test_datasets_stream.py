"""Streams as an `IterableDataset` of Hugging Face `datasets`."""

from __future__ import annotations

import itertools

import pytest
import torch.utils.data

from synthbench.streaming import datasets_stream, stream
from synthbench.streaming import rounds as streaming
from synthbench.tasks.registry import task as make_task
from tests.streaming.making import first, ids_of


def test_a_datasets_stream_gives_the_streams_rows_with_the_features():
    task = make_task("ctl", seed=4)
    given = list(itertools.islice(datasets_stream(task), 300))
    (batch,) = first(stream(task, batch_size=300), 1)
    assert [row["id"] for row in given] == batch["id"].tolist()
    assert [row["text"] for row in given] == batch["text"].tolist()
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
    assert given[0] == ids_of(first(stream("identity", batch_size=500), 1))


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
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_the_workers_of_a_data_loader_have_different_rows_of_a_datasets_stream():
    rows = datasets_stream("identity")
    loader = torch.utils.data.DataLoader(rows, batch_size=100, num_workers=2)
    batches = [batch["id"] for batch in itertools.islice(iter(loader), 10)]
    assert len({one for ids in batches for one in ids}) == 1_000
    found = [one for ids in batches[::2] for one in ids]
    assert found == ids_of(first(stream("identity", batch_size=500), 1))
