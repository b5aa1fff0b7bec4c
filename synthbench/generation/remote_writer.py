"""Shards of a split, made on the cluster that holds their blocks, and written here."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import pyarrow as pa

from synthbench.dataset.files import write_failure
from synthbench.dataset.manifest import Shard
from synthbench.engine.engine import Asked, Engine
from synthbench.generation.shards import (
    MadeShard,
    RoundRows,
    ShardPlan,
    ShardSpec,
    chunk_start,
    make_shards,
)
from synthbench.generation.split_writer import Making, OnShard, SplitWriter, Written
from synthbench.sampling.blocks import Round
from synthbench.tasks.base import Task

#: Threads that fetch and write shards; their number limits the shards in memory.
_FETCHERS = 4


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
    """Has the cluster make shards, and writes their bytes here.

    A worker fetches the blocks of its shards from other workers. No shared file system is needed.
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
        # If a round has several shards, one call makes them together.
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
            RoundRows(
                one.round.selection, max(0, first - one.first), min(one.last, last) - one.first
            )
            for one in needed
        ]
        tables = [piece.table() for piece in self._chunk] if begin < first else []
        before = pa.concat_tables(tables) if tables else None
        runs = [one.round.runs for one in needed]
        asked = self._engine.submit(make_shards, task, before, runs, parts, specs)
        checkpoints = [
            next(one.checkpoint for one in needed if one.last >= spec.last) for spec in specs
        ]
        self._asked.append(asked)
        self._making.append(Making(self._threads.submit(self._save, asked, specs), checkpoints))
        self._row = last
        while self._rounds and self._rounds[0].last <= chunk_start(last):
            self._rounds.popleft()

    def _report_first(self) -> None:
        self._asked.popleft()
        super()._report_first()

    def _save(self, asked: Asked[list[MadeShard]], specs: list[ShardSpec]) -> Written:
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
