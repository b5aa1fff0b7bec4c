"""The rows of one bucket: the new candidates of its blocks, in order."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.engine.engine import Engine, RemoteResult
from synthbench.sampling.blocks import BlockSummary, Run, draw_run, list_candidates, summaries
from synthbench.sampling.plan import LISTABLE_ROWS, expected_rows
from synthbench.sampling.seen import FingerprintSet
from synthbench.tasks.base import Split, Task

#: A bucket that is too large to be listed is exhausted when `STALL_BLOCKS` blocks gave fewer than
#: `STALL_ROWS` new rows. If rows were rarer than that, a split would take hours.
STALL_BLOCKS, STALL_ROWS = 200, 20
#: Candidates drawn per distinct row of a listable bucket before the rest of its rows come from the
#: list. If all rows are equally likely, 0.7 candidates per row give half of the rows.
CANDIDATES_PER_ROW = 50


class BucketStream:
    """The accepted rows of one bucket of one split, in order.

    Candidates come from the bucket's blocks. If its rows can be counted, about the second half of
    them comes from a list of all rows, because drawing the last ones at random takes for ever. Some
    rows may be so unlikely that not even half of all are drawn; then the list is used after a fixed
    number of blocks. The number of rows wanted has no influence: of two splits that differ only in
    size, the smaller one's rows are the first rows of the larger one.

    Args:
        task: the task.
        split: the split.
        bucket: the bucket.
        coordinates: with the bucket, the coordinates of the random stream.
        seen: fingerprints of the rows that were accepted before `state`; new ones are added.
        engine: makes the blocks; some are requested ahead of time.
        state: where to continue, as the method `state` returned it.
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
        self._expected = expected_rows(task, split, bucket)
        state = state or {}
        self._block: int = state.get("block", 0)
        self._offset: int = state.get("offset", 0)
        self._window: int = state.get("window", 0)  # new rows to compare with `STALL_ROWS`
        self._listed: bool = state.get("listed", False)
        self.tried: int = state.get("tried", 0)
        self.taken: int = state.get("taken", 0)
        self.exhausted: bool = state.get("exhausted", False)
        # Requested runs; the current block's place in the first of them; the next block to request.
        self._pending: collections.deque[RemoteResult[Run, list[BlockSummary]]] = (
            collections.deque()
        )
        self._place, self._next = 0, self._block
        # Expected new rows of a block, and rows left in the current block.
        self._yield, self._rest = 0.0, 0
        self._look_for_list()

    def state(self) -> dict[str, Any]:
        """Where the stream is, as JSON values for the constructor's `state`."""
        return {
            "block": self._block,
            "offset": self._offset,
            "window": self._window,
            "listed": self._listed,
            "tried": self.tried,
            "taken": self.taken,
            "exhausted": self.exhausted,
        }

    def prepare(self, rows: int) -> None:
        """Request the blocks that `rows` more rows will probably need, a few at most.

        The first block shows how many blocks are needed; the second call waits for it.
        """
        if self._pending and not self._yield:
            self._yield = max(1.0, len(self._pending[0].view.result()[0].fingerprints))
        need = min(1, rows)
        if self._yield and rows and not self._listed:
            need = max(1, -int((self._rest - rows) // self._yield) + (self._offset > 0))
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

    def _look_for_list(self, stalled: bool = False) -> None:
        """Between two blocks, switch to the list if half of all rows are taken or new ones rare."""
        if self._capacity is None or self._expected is None or self._listed or self._offset:
            return
        drawn = self._block * self._task.block_rows
        costly = stalled or drawn >= CANDIDATES_PER_ROW * self._capacity
        half = 2 * self.taken >= self._expected
        if half or (costly and self._capacity <= LISTABLE_ROWS):
            self.close()
            self._listed = True

    def take(self, rows: int, left: int) -> Iterator[tuple[Any, int, NDArray[np.uint32]]]:
        """The next `rows` new rows, fewer if the bucket is exhausted.

        Args:
            rows: how many.
            left: how many rows are still needed in all, these included.

        Yields:
            For each block with new rows: the handle of its run, its place in the run, and the
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
            rows, left = rows - len(new), left - len(new)
            self.taken += len(new)
            self._window += len(new)
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
        stalled = False
        if self._block % STALL_BLOCKS == 0:
            stalled, self._window = self._window < STALL_ROWS, 0
        self._look_for_list(stalled)
        self.exhausted |= stalled and not self._listed

    def close(self) -> None:
        """Cancel the requested blocks that are not needed."""
        for run in self._pending:
            run.view.cancel()
        self._pending.clear()
        self._place, self._next = 0, self._block
