"""From the rounds of a split to its shards, which are made elsewhere and reported in order."""

from __future__ import annotations

import abc
import collections
import dataclasses
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import pyarrow as pa

from synthbench.dataset.digest import RowDigest
from synthbench.dataset.manifest import Shard
from synthbench.generation.shards import Piece, ShardPlan, chunk_start
from synthbench.sampling.blocks import Round
from synthbench.tasks.base import Task

#: Called with all shards so far, and with the checkpoint of the rows that filled the last one.
OnShard = Callable[[list[Shard], Any], None]
#: Shards that are written, each with the digests of the chunks that end in it.
Written = list[tuple[Shard, list[bytes]]]


@dataclasses.dataclass
class Making:
    """Consecutive shards that are being made, with the checkpoints known so far."""

    written: Future[Written]
    checkpoints: list[Any] = dataclasses.field(default_factory=list)


class SplitWriter(abc.ABC):
    """Takes the rounds of one split in order, and reports its shards in order.

    Attributes:
        digest: the digest of the rows; complete after `finish`.
    """

    def __init__(
        self, threads: int, plan: ShardPlan, finished: list[Shard], on_shard: OnShard
    ) -> None:
        self._plan, self._on_shard = plan, on_shard
        self._shards = list(finished)
        self._finished = sum(shard.rows for shard in finished)
        self._row = self._finished  # number of the next row that goes to a shard
        # The earlier rows of its chunk of the digest, as far as this process has them.
        self._chunk: list[Piece] = []
        self._making: collections.deque[Making] = collections.deque()
        self._threads = ThreadPoolExecutor(threads)
        self.digest = RowDigest(plan.features)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def add_finished_rows(self, rows: pa.RecordBatch) -> None:
        """Add rows of the finished shards; call it in the order of rows, before `write_round`."""
        self.digest.update(rows)
        self._remember(Piece.of_table(pa.Table.from_batches([rows])), self.digest.rows)

    @abc.abstractmethod
    def write_round(self, task: Task, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round that are in no finished shard.

        Args:
            task: the task.
            drawn: the round.
            first: number of its first row in the split.
            checkpoint: the state from which to make the round again; passed to `on_shard`.

        Raises:
            SynthbenchError: a file cannot be written, for example because the disk is full, or the
                engine failed, now or for rows that were appended before.
        """

    def finish(self) -> list[Shard]:
        """Wait until everything is written; returns all shards.

        Raises:
            SynthbenchError: as `write_round`.
        """
        while self._making:
            self._report_first()
        return self._shards

    def _remember(self, rows: Piece, last: int) -> None:
        """Add `rows`, which end before row `last`; keep only rows in the chunk of row `last`."""
        self._chunk.append(rows)
        too_many = sum(piece.num_rows for piece in self._chunk) - (last - chunk_start(last))
        while self._chunk and self._chunk[0].num_rows <= too_many:
            too_many -= self._chunk.pop(0).num_rows
        if too_many > 0:
            self._chunk[0] = self._chunk[0].slice(too_many)

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
