"""Shards made where their rows are: the same files and digests as made here."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import pickle
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from synthbench.dataset import digest, staging
from synthbench.engine.engine import Engine, Remote
from synthbench.errors import SynthbenchError
from synthbench.generation import generate
from synthbench.generation.shards import MadeShard
from synthbench.sampling.blocks import BlockSummary
from tests.making import SHARDS, files, interrupting, make, names


@dataclasses.dataclass(frozen=True)
class Handle:
    """Stands for a result that is elsewhere."""

    number: int


class Elsewhere(Engine):
    """A cluster played in this process: whatever goes there or comes back is pickled."""

    batch = 3

    def __init__(self):
        super().__init__(None, 2)
        self.ahead = self.makers = 3
        self.remote: list[Any] = []
        self.came_back: list[Any] = []

    def submit(self, function, /, *args, **kwargs):
        result: Future[Any] = Future()
        made = self._call(function, args)
        self.came_back.append(made)
        result.set_result(pickle.loads(pickle.dumps(made)))
        return result

    def submit_remote(self, view, function, /, *args, **kwargs):
        self.remote.append(self._call(function, args))
        handle = Handle(len(self.remote) - 1)
        return Remote(handle, self.submit(view, handle))

    def run_near(self, function, /, *args):
        return self.submit(function, *args)

    def _call(self, function, args):
        return function(*[self._resolved(one) for one in pickle.loads(pickle.dumps(args))])

    def _resolved(self, value):
        if isinstance(value, Handle):
            return self.remote[value.number]
        return [self._resolved(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def elsewhere(monkeypatch):
    """What `engine="dask"` opens in one test."""
    engine = Elsewhere()

    @contextlib.contextmanager
    def opened(name, *_, **__):
        yield engine if name == "dask" else Engine(None, 1)

    monkeypatch.setattr(generate, "open_engine", opened)
    return engine


@pytest.mark.parametrize(("chunk_rows", "shard_rows"), [(1, 20), (7, 5), (60, 60), (8192, 1000)])
def test_shards_made_elsewhere_are_the_same_to_the_byte(
    tmp_path, numbers, elsewhere, monkeypatch, chunk_rows, shard_rows
):
    monkeypatch.setattr(digest, "CHUNK_ROWS", chunk_rows)
    here = make(tmp_path / "here", shard_rows=shard_rows)
    assert elsewhere.remote == []
    assert make(tmp_path / "there", engine="dask", shard_rows=shard_rows) == here
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_only_fingerprints_and_bytes_come_here(tmp_path, numbers, elsewhere):
    make(tmp_path, engine="dask")
    assert len(elsewhere.remote) > 10
    shards = [one for one in elsewhere.came_back if isinstance(one, MadeShard)]
    assert len(shards) == SHARDS
    views = [one for one in elsewhere.came_back if not isinstance(one, MadeShard)]
    assert {type(summary) for view in views for summary in view} == {BlockSummary}


def test_few_shards_are_asked_for_ahead(tmp_path, numbers, elsewhere, monkeypatch):
    """Or their blocks would fill the cluster, and their bytes the memory here."""
    waiting: list[int] = []
    saves = interrupting(monkeypatch, staging.Staging, "note", -1)

    class Asking(Elsewhere):
        def run_near(self, function, /, *args):
            asked = super().run_near(function, *args)
            waiting.append(len(waiting) + 1 - len(saves))
            return asked

    monkeypatch.setattr(elsewhere, "__class__", Asking)
    monkeypatch.setattr(Future, "done", lambda self: False)
    make(tmp_path, engine="dask", shard_rows=40)
    assert len(waiting) == 3 + 2 + 13  # the shards of iid, test and train
    assert max(waiting) == elsewhere.makers + 1


@pytest.mark.parametrize(("at", "then"), [(0, "dask"), (5, "local")])
def test_a_full_disk_names_the_file_and_can_be_gone_on_from_here_or_there(
    tmp_path, whole, elsewhere, at, then
):
    write_bytes = Path.write_bytes
    calls: list[Path] = []

    def write(self, content):
        calls.append(self)
        if len(calls) == at + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_bytes(self, content)

    out = tmp_path / "new" / "data"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "write_bytes", write)
        with pytest.raises(SynthbenchError, match=r"No space .* while writing .*\.parquet"):
            make(out, engine="dask")
    assert names(out.parent) == [".data.partial"]
    make(out, engine=then)
    assert files(out) == whole
