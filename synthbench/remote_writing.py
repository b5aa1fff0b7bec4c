"""Shards that are made where their rows are: on a cluster, from blocks that never come here.

The sampler's rounds are cut into shards by number alone. A worker takes the blocks of some whole
shards from its peers and makes the files' bytes and the digests of the chunks that begin in them;
this process writes them down. No file system is shared.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import io
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from synthbench.candidates import Round, Run, Selection
from synthbench.dataset import Shard, columns_of
from synthbench.digest import CHUNK_ROWS, RowDigest
from synthbench.engine import Asked, Engine
from synthbench.publishing import write_failure
from synthbench.tasks.base import Task
from synthbench.writing import ShardPlan, open_parquet, rows_table, write_group

#: Threads that fetch and write shards, and so the most that have their bytes here at once.
_WRITERS = 4


@dataclasses.dataclass(frozen=True)
class Part:
    """Some of the rows of a round: those from number `first` to before `last`."""

    selection: Selection
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class MadeShard:
    """A shard that is not written yet: the bytes of its file and their SHA-256."""

    content: bytes
    rows: int
    sha256: str


#: Shards, and the digests of the chunks that begin in them.
Made = tuple[list[MadeShard], list[bytes]]
#: The same when they are written.
Saved = tuple[list[Shard], list[bytes]]


def make_shards(
    task: Task,
    runs: Sequence[Sequence[Run]],
    parts: Sequence[Part],
    shards: Sequence[int],
    before: pa.Table,
    chunked: int,
) -> Made:
    """Make consecutive shards, and the digests of the chunks that begin in them.

    Args:
        task: the task.
        runs: for each part, the runs that its rows are picked from.
        parts: the rows of the shards, in order, and those behind them that fill the last chunk.
        shards: how many rows each shard has.
        before: rows before the first shard that no cluster has, and with which its first chunk
            begins; mostly none.
        chunked: how many of the first rows belong to a chunk that begins in an earlier shard.
    """
    taken = [
        part.selection.rows(its, part.first, part.last)
        for its, part in zip(runs, parts, strict=True)
    ]
    table = pa.concat_tables([rows_table(task, one.block, one.fingerprints) for one in taken])
    digest = RowDigest(columns_of(task))
    digest.update(before)
    digest.update(table.slice(chunked))
    made, first = [], 0
    for rows in shards:
        made.append(_make_shard(task, table.slice(first, rows)))
        first += rows
    return made, digest.all_chunks()


def _make_shard(task: Task, rows: pa.Table) -> MadeShard:
    content = io.BytesIO()
    with open_parquet(content, columns_of(task)) as shard:
        for first in range(0, rows.num_rows, task.group_rows):
            write_group(shard, rows.slice(first, task.group_rows))
    made = content.getvalue()
    return MadeShard(made, rows.num_rows, hashlib.sha256(made).hexdigest())


@dataclasses.dataclass(frozen=True)
class _Drawn:
    """A round, the number of its first row in the split, and its checkpoint."""

    round: Round
    first: int
    checkpoint: Any

    @property
    def last(self) -> int:
        return self.first + len(self.round)


class RemoteWriter:
    """Has the rows of one split made into shards by a remote engine, and writes their bytes.

    Args:
        engine: the engine that keeps the runs of the rounds.
        task: the task.
        plan, finished, on_shard: as in `SplitWriter`.

    Attributes:
        digest: the digest of the rows; whole once `finish` is done.
    """

    def __init__(
        self,
        engine: Engine,
        task: Task,
        plan: ShardPlan,
        finished: list[Shard],
        on_shard: Callable[[list[Shard], Any], None],
    ) -> None:
        self._engine, self._task = engine, task
        self._plan, self._names = plan, plan.files
        # So many shards are made at a time: at least one, and the rows of a chunk.
        self._together = max(-(-CHUNK_ROWS // plan.shard_rows), task.round_rows // plan.shard_rows)
        self._on_shard = on_shard
        self._shards = list(finished)
        self._asked = sum(shard.rows for shard in finished)
        self._rounds: collections.deque[_Drawn] = collections.deque()
        self._threads = ThreadPoolExecutor(_WRITERS)
        self._making: collections.deque[tuple[Asked[Made], Future[Saved], list[Any]]] = (
            collections.deque()
        )
        self.digest = RowDigest(plan.features)
        self._before = pa.table({})

    def __enter__(self) -> RemoteWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        for asked, _, _ in self._making:
            asked.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def pass_over(self, rows: pa.RecordBatch) -> None:
        """Take note of rows of the finished shards; all of them come in order before others."""
        self.digest.update(rows)
        table = pa.Table.from_batches([rows])
        both = pa.concat_tables([self._before, table]) if self._before.num_rows else table
        self._before = both.slice(both.num_rows - self.digest.rows % CHUNK_ROWS)

    def write_round(self, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round that are in no finished shard.

        Args:
            drawn: the round.
            first: number of its first row in the split.
            checkpoint: from where the round could be made again; goes to `on_shard`.

        Raises:
            SynthbenchError: a file cannot be written, or the cluster failed.
        """
        self._rounds.append(_Drawn(drawn, first, checkpoint))
        while self._asked < self._plan.rows:
            shard = self._asked // self._plan.shard_rows
            last = min(self._plan.rows, (shard + self._together) * self._plan.shard_rows)
            hashed = min(self._plan.rows, -(-last // CHUNK_ROWS) * CHUNK_ROWS)
            if self._rounds[-1].last < hashed:
                break
            self._ask(last, hashed)
            while len(self._making) > self._engine.ahead:
                self._settle()
        while self._making and self._making[0][1].done():
            self._settle()

    def finish(self) -> list[Shard]:
        """Wait until everything is written; all shards.

        Raises:
            SynthbenchError: as `write_round`.
        """
        while self._making:
            self._settle()
        return self._shards

    def _ask(self, last: int, hashed: int) -> None:
        """Have the shards made that end with row `last`, and the rows up to `hashed` digested."""
        first = self._asked
        needed = [one for one in self._rounds if one.last > first and one.first < hashed]
        parts = [
            Part(one.round.selection, max(0, first - one.first), min(one.last, hashed) - one.first)
            for one in needed
        ]
        ends = [*range(first + self._plan.shard_rows, last, self._plan.shard_rows), last]
        asked = self._engine.submit(
            make_shards,
            self._task,
            [one.round.runs for one in needed],
            parts,
            [end - start for start, end in itertools.pairwise([first, *ends])],
            self._before,
            0 if self._before.num_rows else min(last - first, -first % CHUNK_ROWS),
        )
        shard = first // self._plan.shard_rows
        saved = self._threads.submit(self._save, asked, self._names[shard : shard + len(ends)])
        checkpoints = [next(one.checkpoint for one in needed if one.last >= end) for end in ends]
        self._making.append((asked, saved, checkpoints))
        self._asked, self._before = last, pa.table({})
        while self._rounds and self._rounds[0].last <= last:
            self._rounds.popleft()

    def _save(self, asked: Asked[Made], names: list[str]) -> Saved:
        """Write shards when they come."""
        made, chunks = asked.result()
        shards = []
        for shard, name in zip(made, names, strict=True):
            path = self._plan.directory / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(shard.content)
            except OSError as error:
                raise write_failure(path, error) from error
            shards.append(Shard(name, shard.rows, len(shard.content), shard.sha256))
        return shards, chunks

    def _settle(self) -> None:
        """Take note of the shards that were asked for first."""
        _, saved, checkpoints = self._making.popleft()
        shards, chunks = saved.result()
        for shard, checkpoint in zip(shards, checkpoints, strict=True):
            self._shards.append(shard)
            self._on_shard(self._shards, checkpoint)
        self.digest.extend(chunks, sum(shard.rows for shard in shards))
