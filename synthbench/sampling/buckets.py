"""The rows of one bucket: blocks in order, and of each the candidates that are new."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.engine.engine import Engine, RemoteResult
from synthbench.sampling.blocks import BlockSummary, Run, draw_run, list_candidates, summaries
from synthbench.sampling.seen import FingerprintSet
from synthbench.tasks.base import Split, Task

#: So many blocks in a row without a new row mean that a bucket is exhausted, unless it can be
#: counted and is small enough to be listed.
STALL_BLOCKS = 200
LISTABLE_ROWS = 1 << 22
#: Candidates that a split draws per distinct row of a listable bucket before the remaining rows
#: come from the list. Reaching half of the rows takes 0.7 where all are equally likely.
CANDIDATES_PER_ROW = 50


class BucketStream:
    """The accepted rows of one bucket of one split, in order.

    Candidates come from the bucket's blocks. Where its rows can be counted, the last half comes
    from a list of all rows, because waiting for the last of them to be drawn takes for ever. Some
    rows may be so unlikely that even half of them never come; then the list is used after a fixed
    number of blocks. How many rows are wanted plays no part in it: of two splits that differ in
    that alone, the smaller one's rows are the first of the larger one's.

    Args:
        task: the task.
        split: the split.
        bucket: the bucket.
        coordinates: name the stream, beside the bucket.
        seen: fingerprints that must not come again; accepted ones are added.
        engine: where blocks are made; some are asked for ahead of time.
        state: where to go on, as `state` gave it.
    """

    def __init__(
        self,
        task: Task,
        split: Split,
        bucket: int,
        coordinates: Mapping[str, object],
        seen: FingerprintSet,
        engine: Engine,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._task, self._split, self._bucket = task, split, bucket
        self._stream = {**coordinates, "bucket": bucket}
        self._seen, self._engine = seen, engine
        self._capacity = task.capacity(split, bucket)
        state = state or {}
        self._block: int = state.get("block", 0)
        self._offset: int = state.get("offset", 0)
        self._stalled_blocks: int = state.get("stalled_blocks", 0)
        self._listed: bool = state.get("listed", False)
        self.tried: int = state.get("tried", 0)
        self.taken: int = state.get("taken", 0)
        self.exhausted: bool = state.get("exhausted", False)
        # Runs that were asked for; where the block in hand is in the first of them; the next block.
        self._pending: collections.deque[RemoteResult[Run, list[BlockSummary]]] = (
            collections.deque()
        )
        self._place, self._next = 0, self._block
        # What to expect: new rows of a block, and rows that are left of the one in hand.
        self._yield, self._rest = 0.0, 0
        self._look_for_list()

    def state(self) -> dict[str, Any]:
        """Where the stream stands: JSON values that `state` of the constructor takes."""
        return {
            "block": self._block,
            "offset": self._offset,
            "stalled_blocks": self._stalled_blocks,
            "listed": self._listed,
            "tried": self.tried,
            "taken": self.taken,
            "exhausted": self.exhausted,
        }

    def prepare(self, rows: int) -> None:
        """Ask for the blocks that `rows` more rows will probably need, a few at most.

        How many that are shows when the first block is there, so the second call waits for it.
        """
        if self._pending and not self._yield:
            self._yield = max(1.0, len(self._pending[0].view.result()[0].fingerprints))
        need = min(1, rows)
        if self._yield and rows and not self._listed:
            need = max(1, -int((self._rest - rows) // self._yield)) + (self._offset > 0)
        most = max(1, self._engine.ahead)
        while self._next < self._block + need and len(self._pending) < most and not self.exhausted:
            count = min(self._engine.batch, self._block + need - self._next)
            self._pending.append(self._request(range(self._next, self._next + count)))
            self._next += count

    def _request(self, numbers: range) -> RemoteResult[Run, list[BlockSummary]]:
        task, stream, split, bucket = self._task, self._stream, self._split, self._bucket
        if self._listed:
            return self._engine.keep(summaries, list_candidates, task, stream, split, bucket)
        return self._engine.keep(summaries, draw_run, task, stream, split, bucket, numbers)

    def _look_for_list(self) -> None:
        """Between two blocks, use the list if half of all rows are taken or new ones are rare."""
        if self._capacity is None or self._listed or self._offset:
            return
        drawn = self._block * self._task.block_rows
        costly = (
            self._stalled_blocks >= STALL_BLOCKS or drawn >= CANDIDATES_PER_ROW * self._capacity
        )
        if 2 * len(self._seen) >= self._capacity or (costly and self._capacity <= LISTABLE_ROWS):
            self.close()
            self._listed = True

    def take(self, rows: int, left: int) -> Iterator[tuple[Any, int, NDArray[np.uint32]]]:
        """The next `rows` new rows, fewer if the bucket is exhausted.

        Args:
            rows: how many.
            left: how many will be asked for in all, these included.

        Yields:
            For each block with new rows: what stands for its run, its place there, and the
            indices of the rows.
        """
        while rows and not self.exhausted:
            self.prepare(left)
            run = self._pending[0]
            summary = run.view.result()[self._place]
            prints = summary.fingerprints[self._offset :]
            new = self._seen.add_new(prints, rows)
            if len(new):
                yield run.handle, self._place, (self._offset + new).astype(np.uint32)
                self._stalled_blocks = 0
            elif self._offset == 0:
                self._stalled_blocks += 1
            rows, left = rows - len(new), left - len(new)
            self.taken += len(new)
            looked_at = len(prints) if rows else int(new[-1]) + 1
            self.tried += summary.share(looked_at)
            self._offset += looked_at
            self._yield = max(1.0, len(new) * len(summary.fingerprints) / max(1, looked_at))
            self._rest = len(prints) - looked_at
            if rows:
                self._go_to_next_block()

    def _go_to_next_block(self) -> None:
        self._block, self._offset, self._place = self._block + 1, 0, self._place + 1
        if self._place == len(self._pending[0].view.result()):
            self._pending.popleft()
            self._place = 0
        self.exhausted = self._listed
        self._look_for_list()
        self.exhausted |= not self._listed and self._stalled_blocks >= STALL_BLOCKS

    def close(self) -> None:
        """Give up the blocks that were asked for and are not needed."""
        for run in self._pending:
            run.view.cancel()
        self._pending.clear()
        self._place, self._next = 0, self._block
