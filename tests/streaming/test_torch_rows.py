"""Rows of a `TorchStream`: shared by ranks and workers, and continued from a state."""

import itertools
import os
import pickle

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming.torch import TorchStream
from tests.streaming.test_rows import SOURCES, rows_of, short_rounds
from tests.streaming.test_stream import REFUSED

__all__ = ["short_rounds"]  # a fixture of every test here


@pytest.mark.parametrize("source", SOURCES[::2])
def test_a_rank_reads_the_rows_that_tokens_gives_it(source):
    for world_size, size in ((2, 16), (3, 30)):
        for rank in range(world_size):
            options = {"form": "causal-lm", "rank": rank, "world_size": world_size}
            share = synthbench.tokens(source, batch_size=size, **options)
            loaded = iter(TorchStream(source, batch_size=size, **options))
            for number in range(2):
                batch = next(loaded)
                assert list(batch) == list(share[number])
                for name, array in share[number].items():
                    np.testing.assert_array_equal(batch[name], array)


@REFUSED
def test_a_loader_refuses_what_streams_refuse(arguments, message):
    if "workers" not in arguments:  # the loader has them
        with pytest.raises(UsageError, match=message):
            TorchStream(**{"task": "parity", **arguments})


def test_a_loader_has_the_start_symbol():
    source = {"listops": 2, "parity": 1}
    options = {"batch_size": 12, "form": "causal-lm", "start": True}
    batch, expected = (
        next(iter(TorchStream(source, **options))),
        synthbench.tokens(source, **options)[0],
    )
    for name, array in expected.items():
        np.testing.assert_array_equal(batch[name], array)
    row = next(iter(TorchStream("parity", batch_size=None, start=True)))
    assert row["input_ids"][0] == synthbench.tokens("parity").vocabulary_size


def test_a_rank_that_does_not_exist_is_refused():
    for ranks in ((2, 2), (0, 0), (-1, 3), ("1", 3)):
        with pytest.raises(UsageError, match=r"Rank|World size"):
            TorchStream("parity", rank=ranks[0], world_size=ranks[1])
    with pytest.raises(UsageError, match="give both or neither"):
        TorchStream("parity", rank=1)


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
# A spawned worker may abort at its end: until Python 3.14 the interpreter ends the thread that
# sends batches even within PyTorch's own code.
@pytest.mark.filterwarnings("ignore:.*_MultiProcessingDataLoaderIter.__del__")
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
