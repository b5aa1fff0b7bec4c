"""Rows by number: of one task or several, shared by ranks and workers."""

import itertools
import os
import pickle

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.rows import StreamRows
from synthbench.streaming.torch import TorchStream
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import as_task

SIZE = 60
SOURCES = (
    "ctl",
    ["listops", "parity"],
    {"listops": 3, "parity": 1, "ctl": 2},
    {"parity": 2, synthbench.task("addition"): 5},
)


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", SIZE)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", SIZE)
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def rows_of(batch):
    return [tuple(row) for row in np.asarray(batch["input_ids"]).tolist()]


def test_a_row_by_number_is_the_row_of_the_stream():
    stream = synthbench.stream("ctl", batch_size=3 * SIZE, seed=5)[0]
    rows = StreamRows(Mixture.of(as_task("ctl")), "train", 5)
    for number in (0, 1, SIZE - 1, SIZE, 3 * SIZE - 1, 7):
        task, row = rows[number]
        assert task.name == "ctl"
        assert (row["id"], row["text"]) == (stream["id"][number], stream["text"][number])
    again = pickle.loads(pickle.dumps(rows))
    assert again[77] == rows[77]


def test_tasks_take_turns_and_keep_their_own_rows():
    sources = {"listops": 3, "parity": 1}
    mixed = StreamRows(Mixture.of(sources).map(as_task), "train")
    alone = {name: StreamRows(Mixture.of(as_task(name)), "train") for name in sources}
    taken = dict.fromkeys(sources, 0)
    for number in range(200):
        task, row = mixed[number]
        assert row == alone[task.name][taken[task.name]][1]
        taken[task.name] += 1
    assert taken == {"listops": 150, "parity": 50}


@pytest.mark.parametrize("number", [-1, 1.5, True, 2**63])
def test_numbers_that_no_row_has_are_refused(number):
    with pytest.raises(UsageError, match="Row"):
        StreamRows(Mixture.of(as_task("parity")), "train")[number]
    with pytest.raises(UsageError, match=r"[Rr]ow|Batch number"):
        synthbench.stream("parity")[number]


# Ranks.


@pytest.mark.parametrize("source", SOURCES)
def test_row_j_of_share_r_is_row_j_times_world_size_plus_r(source):
    whole = synthbench.tokens(source, form="causal-lm", batch_size=200)[0]
    for world_size, size in ((1, 70), (2, 16), (3, 30)):
        for rank in range(world_size):
            options = {"form": "causal-lm", "rank": rank, "world_size": world_size}
            share = synthbench.tokens(source, batch_size=size, **options)
            loaded = iter(TorchStream(source, batch_size=size, **options))
            for number in range(2):
                expected = rank + world_size * (np.arange(size) + number * size)
                for batch in (next(share), next(loaded)):
                    for name, array in batch.items():
                        np.testing.assert_array_equal(array, whole[name][expected])
            copy = pickle.loads(pickle.dumps(share))
            assert rows_of(next(copy)) == rows_of(next(share))


class Worker:
    """Stands for what PyTorch says to a worker of a `DataLoader`."""

    def __init__(self, number, workers):
        self.id, self.num_workers = number, workers


@pytest.mark.parametrize("source", SOURCES)
def test_workers_of_ranks_together_read_each_row_once(source, monkeypatch):
    for world_size, workers, start in ((1, 2, 0), (2, 1, 3), (2, 3, 0), (3, 2, 5)):
        options = {"form": "causal-lm", "batch_size": 10, "world_size": world_size}
        unit, seen = 0, []
        for rank, number in itertools.product(range(world_size), range(workers)):
            stream = TorchStream(source, start=start, rank=rank, **options)
            with monkeypatch.context() as patched:
                worker = Worker(number, workers)
                patched.setattr(torch.utils.data, "get_worker_info", lambda worker=worker: worker)
                reader = stream._reader()
                batch = next(iter(stream))
            unit, first = stream._unit(reader), stream._own(10 * start, reader)
            seen += (mine := stream._numbers(first, 3 * unit - first, reader).tolist())
            if rank == number == 0:
                expected = synthbench.tokens(source, form="causal-lm").take(np.array(mine[:10]))
                assert rows_of(batch) == rows_of(expected)
        begin = 10 * start * world_size
        assert sorted(seen) == list(range(begin, 3 * unit * world_size * workers))


def test_a_stream_of_pytorch_takes_the_ranks_of_the_environment(monkeypatch):
    shares = [
        rows_of(synthbench.tokens("ctl", batch_size=9, rank=rank, world_size=2)[0])
        for rank in (0, 1)
    ]
    for rank in (0, 1):
        monkeypatch.setitem(os.environ, "RANK", str(rank))
        monkeypatch.setitem(os.environ, "WORLD_SIZE", "2")
        loader = DataLoader(TorchStream("ctl", batch_size=9), batch_size=None)
        assert rows_of(next(iter(loader))) == shares[rank]
        given = TorchStream("ctl", batch_size=9, rank=0, world_size=1)
        assert rows_of(next(iter(given))) == rows_of(synthbench.tokens("ctl", batch_size=9)[0])
    for rank, world_size in (("2", "2"), ("one", "2"), ("0", ""), ("-1", "2")):
        monkeypatch.setitem(os.environ, "RANK", rank)
        monkeypatch.setitem(os.environ, "WORLD_SIZE", world_size)
        with pytest.raises(UsageError, match=r"Rank 2|RANK=.*give TorchStream rank="):
            next(iter(TorchStream("ctl")))
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(UsageError, match="RANK=-1, WORLD_SIZE=None"):
        next(iter(TorchStream("ctl")))


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({"rank": 2, "world_size": 2}, "Rank 2: allowed are whole numbers from 0 to 1"),
        ({"rank": 0, "world_size": 0}, "World size 0: allowed are whole numbers from 1"),
        ({"rank": -1, "world_size": 3}, "Rank -1"),
        ({"rank": "1", "world_size": 3}, "Rank '1'"),
    ],
)
def test_ranks_that_do_not_exist_are_refused(ranks, message):
    for function in (synthbench.tokens, TorchStream):
        with pytest.raises(UsageError, match=message):
            function("parity", **ranks)
    with pytest.raises(UsageError, match="give both or neither"):
        TorchStream("parity", rank=1)


# States.


def test_a_state_is_refused_by_another_rank_or_worker(monkeypatch):
    def stream(rank=0, world_size=2):
        return TorchStream("parity", batch_size=8, rank=rank, world_size=world_size)

    state = stream().state_dict()
    stream().load_state_dict(state)
    for other in ((1, 2), (0, 1), (0, 4)):
        with pytest.raises(
            UsageError, match=r"(rank|world_size) \d there, \d here.*in the rank where"
        ):
            stream(*other).load_state_dict(state)
    for info in (Worker(0, 2), Worker(0, 1)):
        loaded = stream()
        loaded.load_state_dict(state)
        with monkeypatch.context() as patched:
            patched.setattr(torch.utils.data, "get_worker_info", lambda info=info: info)
            with pytest.raises(UsageError, match=f"workers 0 there, {info.num_workers} here"):
                iter(loaded)
            of_worker = stream().state_dict()
        with pytest.raises(UsageError, match=f"workers {info.num_workers} there, 0 here"):
            stream().load_state_dict(of_worker)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_a_stream_that_workers_read_does_not_know_its_position(context):
    stream = pickle.loads(pickle.dumps(TorchStream("parity", batch_size=16)))
    options = {"batch_size": None, "num_workers": 2, "multiprocessing_context": context}
    batches = iter(DataLoader(stream, **options))
    next(batches)
    with pytest.raises(UsageError, match="Use StatefulDataLoader of torchdata"):
        stream.state_dict()
    del batches
    next(iter(stream))
    assert stream.state_dict()["next"] == 16


def test_a_mixture_continues_at_its_state():
    source = {"listops": 2, "parity": 1}
    stream = TorchStream(source, form="causal-lm", batch_size=50)
    whole = [rows_of(batch) for batch in itertools.islice(stream, 8)]
    reading = iter(stream)
    for _ in range(5):
        next(reading)
    again = TorchStream(source, form="causal-lm", batch_size=50)
    again.load_state_dict(stream.state_dict())
    assert [rows_of(batch) for batch in itertools.islice(again, 3)] == whole[5:]
    state = stream.state_dict()
    for other, said in (
        ({"listops": 1, "parity": 1}, r"weight \[2, 1\] there, \[1, 1\] here"),
        (
            {"parity": 1, "listops": 2},
            r"task \['listops', 'parity'\] there, \['parity', 'listops'\] here",
        ),
        ("listops", r"weight \[2, 1\] there, \[1\] here"),
    ):
        with pytest.raises(UsageError, match=said):
            TorchStream(other).load_state_dict(state)
