"""From the rounds of a split to its shards: cut into files, made where the rows are, in order."""

from __future__ import annotations

import abc
import collections
import dataclasses
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import pyarrow as pa

from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.dataset.files import write_failure
from synthbench.dataset.manifest import Shard
from synthbench.engine.engine import Asked, Engine
from synthbench.errors import SynthbenchError
from synthbench.generation.shards import (
    MadeShard,
    Part,
    ShardPlan,
    ShardSpec,
    chunk_start,
    make_shard,
    make_shards,
)
from synthbench.sampling.blocks import Round
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.row_ids import rows_table

#: Called with all shards so far, and with the checkpoint of the rows that filled the last one.
OnShard = Callable[[list[Shard], Any], None]
#: Shards that are written, each with the digests of the chunks that end in it.
_Written = list[tuple[Shard, list[bytes]]]

#: Threads that make shards in this process, and row groups that may wait for them.
_MAKERS = 2
_GROUPS_AHEAD = 4
#: Threads that fetch and write shards made on a cluster: the most held in memory at once.
_FETCHERS = 4
#: Seconds after which a writer that waits for its threads checks whether one has failed.
_PATIENCE = 0.1


def open_split_writer(
    engine: Engine, plan: ShardPlan, finished: list[Shard], on_shard: OnShard
) -> SplitWriter:
    """The writer of a split, for use in a `with` block.

    Args:
        engine: says where shards are made: in this process, or where it keeps the runs.
        plan: how the split is cut into shards.
        finished: shards that are there already; their rows must not come again.
        on_shard: called when a shard and all before it are finished.
    """
    if engine.remote:
        return RemoteWriter(engine, plan, finished, on_shard)
    return LocalWriter(plan, finished, on_shard)


@dataclasses.dataclass
class _Making:
    """Consecutive shards that are being made, with the checkpoints known so far."""

    written: Future[_Written]
    checkpoints: list[Any] = dataclasses.field(default_factory=list)


class SplitWriter(abc.ABC):
    """Takes the rounds of one split in order, and reports its shards in order.

    Attributes:
        digest: the digest of the rows; whole once `finish` is done.
    """

    def __init__(
        self, threads: int, plan: ShardPlan, finished: list[Shard], on_shard: OnShard
    ) -> None:
        self._plan, self._on_shard = plan, on_shard
        self._shards = list(finished)
        self._finished = sum(shard.rows for shard in finished)
        self._row = self._finished  # number of the next row that goes to a shard
        # Rows before it in the same chunk of the digest, as far as this process has them.
        self._chunk = arrow_schema(plan.features).empty_table()
        self._making: collections.deque[_Making] = collections.deque()
        self._threads = ThreadPoolExecutor(threads)
        self.digest = RowDigest(plan.features)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def add_finished_rows(self, rows: pa.RecordBatch) -> None:
        """Take note of rows of the finished shards; all of them come in order before others."""
        self.digest.update(rows)
        self._remember(pa.Table.from_batches([rows]), self.digest.rows)

    @abc.abstractmethod
    def write_round(self, task: Task, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round that are in no finished shard.

        Args:
            task: the task.
            drawn: the round.
            first: number of its first row in the split.
            checkpoint: from where the round could be made again; goes to `on_shard`.

        Raises:
            SynthbenchError: a file cannot be written, say because the disk is full, or the engine
                failed; also if it was for rows appended before.
        """

    def finish(self) -> list[Shard]:
        """Wait until everything is written; all shards.

        Raises:
            SynthbenchError: as `write_round`.
        """
        while self._making:
            self._report_first()
        return self._shards

    def _remember(self, rows: pa.Table, last: int) -> None:
        """Keep the rows with which the chunk of row `last` begins; `rows` end before it."""
        known = pa.concat_tables([self._chunk, rows])
        self._chunk = known.slice(known.num_rows - (last - chunk_start(last)))

    def _report(self) -> None:
        """Report the shards that are finished."""
        while self._making and self._making[0].written.done():
            self._report_first()

    def _report_first(self) -> None:
        making = self._making.popleft()
        for (shard, chunks), checkpoint in zip(
            making.written.result(), making.checkpoints, strict=True
        ):
            self._shards.append(shard)
            self._on_shard(self._shards, checkpoint)
            self.digest.extend(chunks, shard.rows)


class LocalWriter(SplitWriter):
    """Makes shards in threads of this process, from rows that are fed to them as they come.

    Rows become tables in the caller's thread. Hashing, encoding and writing need no interpreter
    lock, so they overlap with it; a shard need not lie in memory whole.
    """

    def __init__(self, plan: ShardPlan, finished: list[Shard], on_shard: OnShard) -> None:
        super().__init__(_MAKERS, plan, finished, on_shard)
        self._room = threading.Semaphore(_GROUPS_AHEAD)
        self._feed: queue.SimpleQueue[pa.Table | None] = queue.SimpleQueue()
        self._left = False

    def __exit__(self, *exception: object) -> None:
        self._left = True
        self._feed.put(None)  # for a shard that waits for rows
        super().__exit__(*exception)

    def write_round(self, task: Task, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round; see `SplitWriter.write_round`."""
        rows = drawn.rows()
        table = rows_table(task, rows.block, rows.fingerprints)
        self.write(table.slice(max(0, self._row - first)), checkpoint)

    def write(self, table: pa.Table, checkpoint: Any) -> None:
        """Append the rows of a table; the rest is as for `write_round`."""
        while table.num_rows:
            spec = self._plan.shard(self._row // self._plan.shard_rows)
            rows = table.slice(0, min(spec.last - self._row, spec.group_rows))
            table = table.slice(rows.num_rows)
            if self._row == spec.first:
                self._start(spec)
            while not self._room.acquire(timeout=_PATIENCE):
                self._report()  # raises if the shard has failed
            self._feed.put(rows)
            self._row += rows.num_rows
            self._remember(rows, self._row)
            if self._row == spec.last:
                self._making[-1].checkpoints.append(checkpoint)
                self._feed.put(None)
        self._report()

    def _start(self, spec: ShardSpec) -> None:
        """Begin a shard, which takes its rows from a feed of its own."""
        self._feed = queue.SimpleQueue()
        before = self._chunk if spec.begin < spec.first else self._chunk.slice(0, 0)
        tables = self._fed(before, self._feed)
        self._making.append(_Making(self._threads.submit(self._make, tables, spec)))

    def _fed(
        self, before: pa.Table, feed: queue.SimpleQueue[pa.Table | None]
    ) -> Iterator[pa.Table]:
        yield before
        while not self._left and (rows := feed.get()) is not None:
            yield rows
            self._room.release()
        if self._left:
            raise SynthbenchError("The shard was given up.")

    def _make(self, tables: Iterable[pa.Table], spec: ShardSpec) -> _Written:
        path = self._plan.directory / spec.file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            chunks = make_shard(tables, spec, path)
            size, sha256 = path.stat().st_size, file_sha256(path)
        except OSError as error:
            raise write_failure(path, error) from error
        return [(Shard(spec.file, spec.last - spec.first, size, sha256), chunks)]


@dataclasses.dataclass(frozen=True)
class _Drawn:
    """A round, the number of its first row in the split, and its checkpoint."""

    round: Round
    first: int
    checkpoint: Any

    @property
    def last(self) -> int:
        return self.first + len(self.round)


class RemoteWriter(SplitWriter):
    """Has shards made where the blocks are, and writes their bytes.

    A worker takes the blocks of some whole shards from its peers. No file system is shared.
    """

    def __init__(
        self, engine: Engine, plan: ShardPlan, finished: list[Shard], on_shard: OnShard
    ) -> None:
        super().__init__(_FETCHERS, plan, finished, on_shard)
        self._engine = engine
        self._rounds: collections.deque[_Drawn] = collections.deque()
        self._asked: collections.deque[Asked[list[MadeShard]]] = collections.deque()

    def __exit__(self, *exception: object) -> None:
        for asked in self._asked:
            asked.cancel()
        super().__exit__(*exception)

    def write_round(self, task: Task, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round; see `SplitWriter.write_round`."""
        self._rounds.append(_Drawn(drawn, first, checkpoint))
        plan = self._plan
        # The shards of a round are made together, where it has several.
        together = max(1, task.round_rows // plan.shard_rows)
        while self._row < plan.rows:
            number = self._row // plan.shard_rows
            specs = [plan.shard(n) for n in range(number, min(number + together, plan.count))]
            if self._rounds[-1].last < specs[-1].last:
                break
            self._ask(task, specs)
            while len(self._making) > self._engine.ahead:
                self._report_first()
        self._report()

    def _ask(self, task: Task, specs: list[ShardSpec]) -> None:
        begin, last = min(spec.begin for spec in specs), specs[-1].last
        first = max(begin, self._finished)
        needed = [one for one in self._rounds if one.last > first and one.first < last]
        parts = [
            Part(one.round.selection, max(0, first - one.first), min(one.last, last) - one.first)
            for one in needed
        ]
        before = self._chunk if begin < first else None
        runs = [one.round.runs for one in needed]
        asked = self._engine.submit(make_shards, task, before, runs, parts, specs)
        checkpoints = [
            next(one.checkpoint for one in needed if one.last >= spec.last) for spec in specs
        ]
        self._asked.append(asked)
        self._making.append(_Making(self._threads.submit(self._save, asked, specs), checkpoints))
        self._row = last
        while self._rounds and self._rounds[0].last <= chunk_start(last):
            self._rounds.popleft()

    def _report_first(self) -> None:
        self._asked.popleft()
        super()._report_first()

    def _save(self, asked: Asked[list[MadeShard]], specs: list[ShardSpec]) -> _Written:
        """Write shards when they come."""
        written = []
        for made, spec in zip(asked.result(), specs, strict=True):
            path = self._plan.directory / spec.file
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(made.content)
            except OSError as error:
                raise write_failure(path, error) from error
            rows = spec.last - spec.first
            written.append((Shard(spec.file, rows, len(made.content), made.sha256), made.chunks))
        return written
