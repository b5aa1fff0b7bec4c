"""Shards of a split made in threads of this process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from synthbench.dataset.digest import file_sha256
from synthbench.dataset.files import write_failure
from synthbench.dataset.manifest import Shard
from synthbench.engine.engine import usable_cores
from synthbench.errors import SynthbenchError
from synthbench.generation.shards import Piece, ShardPlan, ShardSpec, make_shard
from synthbench.generation.split_writer import Making, OnShard, SplitWriter, Written
from synthbench.sampling.blocks import Round
from synthbench.tasks.base import Task

#: The maximum number of threads that make shards, and of row groups that wait for each thread.
_MAKERS = 8
_GROUPS_AHEAD = 16
#: Seconds after which a writer that waits for its threads checks whether one has failed.
_PATIENCE = 0.1


class LocalWriter(SplitWriter):
    """Makes shards in threads, from rows that are fed to them as they come.

    A thread renders, hashes, encodes and writes the row groups of its shard one after another, so
    neither a whole round nor a whole shard need be in memory. Most of this work needs no
    interpreter lock.
    """

    def __init__(self, plan: ShardPlan, finished: list[Shard], on_shard: OnShard) -> None:
        makers = min(usable_cores(), _MAKERS)
        super().__init__(makers, plan, finished, on_shard)
        self._room = threading.Semaphore(makers * _GROUPS_AHEAD)
        self._feed: queue.SimpleQueue[Piece | None] = queue.SimpleQueue()
        self._left = False

    def __exit__(self, *exception: object) -> None:
        self._left = True
        self._feed.put(None)  # for a shard that waits for rows
        super().__exit__(*exception)

    def write_round(self, task: Task, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round; see `SplitWriter.write_round`."""
        piece = Piece.of_rows(task, drawn.rows())
        self.write(piece.slice(max(0, self._row - first)), checkpoint)

    def write(self, rows: Piece, checkpoint: Any) -> None:
        """Append rows; the checkpoint and errors are as for `write_round`."""
        while rows.num_rows:
            spec = self._plan.shard(self._row // self._plan.shard_rows)
            group = rows.slice(0, min(spec.last - self._row, spec.group_rows))
            rows = rows.slice(group.num_rows)
            if self._row == spec.first:
                self._start(spec)
            while not self._room.acquire(timeout=_PATIENCE):
                self._report()  # raises if the shard has failed
            self._feed.put(group)
            self._row += group.num_rows
            self._remember(group, self._row)
            if self._row == spec.last:
                self._making[-1].checkpoints.append(checkpoint)
                self._feed.put(None)
        self._report()

    def _start(self, spec: ShardSpec) -> None:
        """Begin a shard, which takes its rows from a feed of its own."""
        self._feed = queue.SimpleQueue()
        before = self._chunk[:] if spec.begin < spec.first else []
        tables = self._fed(before, self._feed)
        self._making.append(Making(self._threads.submit(self._make, tables, spec)))

    def _fed(
        self, before: list[Piece], feed: queue.SimpleQueue[Piece | None]
    ) -> Iterator[pa.Table]:
        yield from (piece.table() for piece in before)
        while not self._left and (rows := feed.get()) is not None:
            yield rows.table()
            self._room.release()
        if self._left:
            raise SynthbenchError("The shard was given up.")

    def _make(self, tables: Iterable[pa.Table], spec: ShardSpec) -> Written:
        path = self._plan.directory / spec.file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            chunks = make_shard(tables, spec, path)
            size, sha256 = path.stat().st_size, file_sha256(path)
        except OSError as error:
            raise write_failure(path, error) from error
        return [(Shard(spec.file, spec.last - spec.first, size, sha256), chunks)]
