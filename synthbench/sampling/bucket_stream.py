"""The rows of one bucket: the new candidates of its blocks, in order."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.engine.engine import Engine, Kept
from synthbench.sampling.blocks import BlockSummary, draw_blocks, list_candidates, summaries
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
        rows: about how many rows will be wanted.
        engine: makes the blocks; some are requested ahead of time.

    Attributes:
        tried: how many candidates were looked at.
        taken: how many rows were accepted.
        exhausted: whether no more rows will come.
    """

    def __init__(
        self,
        task: Task,
        split: Split,
        bucket: int,
        coordinates: Mapping[str, object],
        rows: int,
        engine: Engine,
    ) -> None:
        self._task, self._split, self._bucket = task, split, bucket
        self._stream = {**coordinates, "bucket": bucket}
        self._engine = engine
        self._capacity = task.capacity(split, bucket)
        self._expected = expected_rows(task, split, bucket)
        self.tried, self.taken, self.exhausted = 0, 0, False
        self._seen = FingerprintSet()
        self._seen.make_room(rows)
        self._listed = False  # whether the rows come from the list of all rows
        # Number of the current block, and how many of its candidates were looked at.
        self._number, self._offset = 0, 0
        # The current block and those requested after it, each with its place in its call's result.
        self._blocks: collections.deque[tuple[Kept[list[BlockSummary]], int]] = collections.deque()
        self._window = 0  # new rows to compare with `STALL_ROWS`
        self._yield = 0.0  # expected new rows of a block; 0 before the first block is there
        self._look_for_list()

    def prepare(self, rows: int) -> None:
        """Request the blocks that `rows` more rows will probably need, a few at most.

        The first block shows how many blocks are needed; the second call waits for it.
        """
        if self._blocks and not self._yield:
            self._yield = max(1.0, len(self._current().fingerprints))
        need = min(1, rows)
        if self._yield and rows and not self._listed:
            there = len(self._current().fingerprints) - self._offset if self._offset else 0
            need = max(1, -int((there - rows) // self._yield) + (self._offset > 0))
        most = max(1, self._engine.ahead) * self._engine.batch
        while len(self._blocks) < min(need, most) and not self.exhausted:
            first = self._number + len(self._blocks)
            count = min(self._engine.batch, need - len(self._blocks))
            asked = self._request(range(first, first + count))
            self._blocks += [(asked, place) for place in range(1 if self._listed else count)]

    def _request(self, numbers: range) -> Kept[list[BlockSummary]]:
        task, stream, split, bucket = self._task, self._stream, self._split, self._bucket
        if self._listed:
            return self._engine.keep(summaries, list_candidates, task, stream, split, bucket)
        return self._engine.keep(summaries, draw_blocks, task, stream, split, bucket, numbers)

    def _current(self) -> BlockSummary:
        call, place = self._blocks[0]
        return call.view.result()[place]

    def take(self, rows: int, left: int) -> Iterator[tuple[Any, int, NDArray[np.uint32]]]:
        """The next `rows` new rows, fewer if the bucket is exhausted.

        Args:
            rows: how many.
            left: how many rows are still needed in all, these included.

        Yields:
            For each block with new rows: the handle of the call that drew it, its place among the
            blocks of this call, and the indices of the rows.
        """
        while rows and not self.exhausted:
            self.prepare(left)
            block = self._current()
            prints = block.fingerprints[self._offset :]
            new = self._seen.add_new(prints, rows)
            if len(new):
                call, place = self._blocks[0]
                yield call.handle, place, (self._offset + new).astype(np.uint32)
            rows, left = rows - len(new), left - len(new)
            self.taken += len(new)
            self._window += len(new)
            looked_at = len(prints) if rows else int(new[-1]) + 1
            self.tried += block.share(looked_at)
            self._offset += looked_at
            self._yield = max(1.0, len(new) * len(block.fingerprints) / max(1, looked_at))
            if rows:
                self._go_to_next_block()

    def _go_to_next_block(self) -> None:
        self._blocks.popleft()
        self._number, self._offset = self._number + 1, 0
        self.exhausted = self._listed
        stalled = False
        if self._number % STALL_BLOCKS == 0:
            stalled, self._window = self._window < STALL_ROWS, 0
        self._look_for_list(stalled)
        self.exhausted |= stalled and not self._listed

    def _look_for_list(self, stalled: bool = False) -> None:
        """Between two blocks, switch to the list if half of all rows are taken or new ones rare."""
        if self._capacity is None or self._expected is None or self._listed:
            return
        drawn = self._number * self._task.block_rows
        costly = stalled or drawn >= CANDIDATES_PER_ROW * self._capacity
        half = 2 * self.taken >= self._expected
        if half or (costly and self._capacity <= LISTABLE_ROWS):
            self.close()
            self._listed = True

    def close(self) -> None:
        """Cancel the requested blocks that are not needed."""
        for call, _ in self._blocks:
            call.view.cancel()
        self._blocks.clear()
