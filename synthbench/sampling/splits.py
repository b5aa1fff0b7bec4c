"""The sampler decides in sequence which rows a split gets.

Every bucket of a split has its own stream of blocks. Candidates are looked at in order and accepted
if their fingerprint is new, until the bucket has its share of the round. A round's rows are then
shuffled together. Only fingerprints pass through here, not rows. The result depends only on the
plan and the streams, never on workers or on time.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.engine.engine import Engine, Remote
from synthbench.errors import ExhaustedError
from synthbench.sampling.blocks import (
    Accepted,
    BlockSummary,
    Order,
    Round,
    blocks_a_call,
    draw_blocks,
    list_candidates,
    summaries,
)
from synthbench.sampling.plan import LISTABLE_ROWS, Plan, expected_rows, share_out
from synthbench.sampling.seen import FingerprintSet
from synthbench.tasks.base import Split, Task
from synthbench.tasks.returned import capacity_of, weights_of
from synthbench.tasks.row_ids import share_of


class SplitSampler:
    """The rows of one split, round by round.

    Args:
        task: the task.
        split: the split.
        plan: how many rows come from which bucket.
        engine: makes the blocks.
        purpose: further coordinates of the random streams, for uses other than datasets.
        recurring: the rows are a round of a stream, whose other rounds bring the rest. A bucket
            ends as soon as few of its candidates are new, and the split ends with fewer rows if all
            of its buckets have ended.
    """

    def __init__(
        self,
        task: Task,
        split: Split,
        plan: Plan,
        engine: Engine,
        purpose: Mapping[str, object] | None = None,
        recurring: bool = False,
    ) -> None:
        self._task, self._split, self._recurring = task, split, recurring
        self._coordinates = {**task.stream, **(purpose or {}), "split": split.name}
        quotas = plan.quotas[split.name]
        self._left = {bucket: quota for bucket, quota in quotas.items() if quota}
        self._total = plan.rows(split.name)
        self._round = 0
        # Where buckets are fewer than workers, all workers draw from the start.
        at_first = -(-engine.workers // max(1, len(self._left)))
        self._streams = {
            bucket: BucketStream(
                task, split, bucket, self._coordinates, left, engine, recurring, at_first
            )
            for bucket, left in self._left.items()
        }

    def taken(self) -> dict[int, int]:
        """Rows accepted so far, by bucket."""
        return {bucket: stream.taken for bucket, stream in self._streams.items()}

    @property
    def tried(self) -> int:
        """Candidates looked at so far."""
        return sum(stream.tried for stream in self._streams.values())

    def close(self) -> None:
        """Cancel the requested blocks that are not needed."""
        for stream in self._streams.values():
            stream.close()

    def rounds(self) -> Iterator[Round]:
        """The split's rows, in rounds of about `task.round_rows`.

        Raises:
            ExhaustedError: the buckets are exhausted before the split is full.
        """
        try:
            while any(self._left.values()):
                new_round = self._next_round()
                more = self._share_out_exhausted()
                if new_round is not None:
                    yield new_round
                if not more:
                    break
        finally:
            self.close()

    def _next_round(self) -> Round | None:
        """The rows of a round; None if only exhausted buckets had rows left."""
        rounds_left = -(-sum(self._left.values()) // self._task.round_rows)
        # First every bucket requests its first blocks, then as many as these show it to need.
        for _ in range(2):
            for bucket, stream in self._streams.items():
                stream.prepare(self._left[bucket])
        calls: list[Any] = []
        accepted: list[Accepted] = []
        for bucket, stream in self._streams.items():
            quota = -(-self._left[bucket] // rounds_left)
            for call, index, rows in stream.take(quota, self._left[bucket]):
                if not calls or calls[-1] is not call:
                    calls.append(call)
                accepted.append(Accepted(len(calls) - 1, index, rows))
                self._left[bucket] -= len(rows)
        if not accepted:
            return None
        count = sum(len(part.rows) for part in accepted)
        order = Order(accepted, {**self._coordinates, "order": True}, self._round, 0, count)
        self._round += 1
        return Round(calls, order)

    def _share_out_exhausted(self) -> bool:
        """Divide what exhausted buckets lack among the others; False if no others are left."""
        lacking = sum(self._left[b] for b, stream in self._streams.items() if stream.exhausted)
        if not lacking:
            return True
        others = [b for b, stream in self._streams.items() if not stream.exhausted]
        if not others:
            if self._recurring:
                return False
            raise ExhaustedError(self._not_filled())
        for bucket, stream in self._streams.items():
            if stream.exhausted:
                self._left[bucket] = 0
        weight = dict(zip(self._split.buckets, weights_of(self._task, self._split), strict=True))
        shares = share_out(lacking, [None] * len(others), tuple(weight[b] for b in others))
        for bucket, more in zip(others, shares, strict=True):
            self._left[bucket] += more
        return True

    def _not_filled(self) -> str:
        task = self._task
        each = ", ".join(
            f"{task.bucket_name} {task.bucket_label(bucket)}: {count:,} found"
            for bucket, count in self.taken().items()
        )
        return (
            f"Split {self._split.name} of {task.name} cannot be filled: {self._total:,} rows asked "
            f"for, {sum(self.taken().values()):,} found before every bucket was exhausted ({each})."
        )


#: A bucket that is too large to be listed is exhausted when `STALL_BLOCKS` blocks gave fewer than
#: `STALL_ROWS` new rows. If rows were rarer than that, a split would take hours.
STALL_BLOCKS, STALL_ROWS = 200, 20
#: Candidates drawn per distinct row of a listable bucket before the rest of its rows come from the
#: list. If all rows are equally likely, 0.7 candidates per row give half of the rows.
CANDIDATES_PER_ROW = 50
#: So many candidates or more are searched for new rows at once.
_FOUND_TOGETHER = 1_024

#: In a round of a stream a bucket ends when `ROUND_STALL_BLOCKS` blocks gave fewer than
#: `ROUND_STALL_ROWS` new rows, or when of `ROUND_SEEN_ROWS` rows fewer than one in
#: `ROUND_SEEN_SHARE` was new. Only smaller buckets than `ROUND_LISTABLE_ROWS` are listed.
ROUND_STALL_BLOCKS, ROUND_STALL_ROWS = 16, 2
ROUND_SEEN_ROWS, ROUND_SEEN_SHARE = 128, 16
ROUND_LISTABLE_ROWS = 1 << 17


class BucketStream:
    """The accepted rows of one bucket of one split, in order.

    Candidates come from the bucket's blocks. If its rows can be counted, about the second half of
    them comes from a list of all rows, because drawing the last rows at random takes too long. Some
    rows may be so unlikely that not even half of all are drawn. Then the list is used after a fixed
    number of blocks. The number of rows wanted does not matter: of two splits that differ only in
    size, the rows of the smaller split are the first rows of the larger.

    Args:
        task: the task.
        split: the split.
        bucket: the bucket.
        coordinates: with the bucket, the coordinates of the random stream.
        rows: about how many rows will be wanted.
        engine: makes the blocks. Some are requested ahead of time.
        recurring: as in `SplitSampler`.
        at_first: how many blocks may be requested before the first shows how many are needed.

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
        recurring: bool = False,
        at_first: int = 1,
    ) -> None:
        self._task, self._split, self._bucket = task, split, bucket
        self._recurring, self._engine = recurring, engine
        self._stream = {**coordinates, "bucket": bucket}
        self._batch = max(engine.batch, blocks_a_call(task, bool(engine.ahead)))
        self._capacity = capacity_of(task, split, bucket)
        self._expected = expected_rows(task, split, bucket)
        self.tried, self.taken, self.exhausted = 0, 0, False
        self._seen = FingerprintSet()
        self._seen.make_room(rows + _FOUND_TOGETHER)
        # Whether the rows come from the list of all rows. From the start if hardly any exist.
        self._listed = self._expected == 0
        # Number of the current block, and how many of its candidates were looked at.
        self._number, self._offset = 0, 0
        # Its new rows that are not taken yet, and how many of its candidates were searched.
        self._fresh, self._searched = np.zeros(0, np.int64), 0
        # The current block and those requested after it, each with its index in its call's result.
        self._blocks = collections.deque[tuple[Remote[list[BlockSummary]], int]]()
        # Blocks, rows looked at and new rows since the last decision whether the bucket is stalled.
        self._blocks_seen, self._rows_seen, self._new = 0, 0, 0
        self._yield = 0.0  # expected new rows of a block; 0 before the first block is there
        least = math.ceil(rows / task.block_rows / share_of(task, split, bucket))
        # Blocks requested before one is there.
        self._at_first = min(least, at_first if engine.ahead else self._batch)

    def prepare(self, rows: int) -> None:
        """Request the blocks that `rows` more rows will probably need, a few at most.

        The first block shows how many blocks are needed. Called again, this waits for it.
        """
        if self._blocks and not self._yield:
            self._yield = max(1.0, len(self._current().fingerprints))
        need = min(1 if self._listed else self._at_first, rows)
        if self._yield and rows and not self._listed:
            there = len(self._current().fingerprints) - self._offset if self._offset else 0
            need = max(1, -int((there - rows) // self._yield) + (self._offset > 0))
        most = max(1, self._engine.ahead) * self._batch
        while len(self._blocks) < min(need, most) and not self.exhausted:
            first = self._number + len(self._blocks)
            count = min(self._batch, -(-(need - len(self._blocks)) // self._engine.workers))
            call = self._request(range(first, first + count))
            self._blocks += [(call, index) for index in range(1 if self._listed else count)]

    def _request(self, numbers: range) -> Remote[list[BlockSummary]]:
        submit, where = self._engine.submit_remote, (self._task, self._stream, self._split)
        if self._listed:
            return submit(summaries, list_candidates, *where, self._bucket)
        return submit(summaries, draw_blocks, *where, self._bucket, numbers)

    def _current(self) -> BlockSummary:
        call, index = self._blocks[0]
        return call.view.result()[index]

    def take(self, rows: int, left: int) -> Iterator[tuple[Any, int, NDArray[np.uint32]]]:
        """The next `rows` new rows, fewer if the bucket is exhausted.

        Args:
            rows: how many.
            left: how many rows are still needed in all, these included.

        Yields:
            For each block with new rows: the handle of the call that drew it, its index among the
            blocks of this call, and the indices of the rows.
        """
        while rows and not self.exhausted:
            self.prepare(left)
            block = self._current()
            new = self._next_new(block.fingerprints, rows)
            if len(new):
                call, index = self._blocks[0]
                yield call.handle, index, new.astype(np.uint32)
            rows, left = rows - len(new), left - len(new)
            self.taken += len(new)
            looked_at = (len(block.fingerprints) if rows else int(new[-1]) + 1) - self._offset
            self._new += len(new)
            self._rows_seen += looked_at
            self.tried += block.share(looked_at)
            self._offset += looked_at
            self._yield = max(1.0, len(new) * len(block.fingerprints) / max(1, looked_at))
            if rows:
                self._go_to_next_block()

    def _next_new(self, prints: NDArray[np.uint64], rows: int) -> NDArray[np.int64]:
        """The next `rows` new rows of the current block, fewer if it ends before."""
        while (lacking := rows - len(self._fresh)) > 0 and self._searched < len(prints):
            # Nearly all are new. Many are searched together, as each search costs some time.
            first, some = self._searched, max(lacking + lacking // 8, _FOUND_TOGETHER)
            new = first + self._seen.add_new(prints[first : first + some])
            self._fresh = np.concatenate([self._fresh, new])
            self._searched += some
        new, self._fresh = self._fresh[:rows], self._fresh[rows:]
        return new

    def _go_to_next_block(self) -> None:
        self._blocks.popleft()
        self._number, self._offset, self._searched = self._number + 1, 0, 0
        self._blocks_seen += 1
        self.exhausted = self._listed
        stalled = self._is_stalled()
        self._look_for_list(stalled)
        self.exhausted |= stalled and not self._listed

    def _is_stalled(self) -> bool:
        """True if the last few blocks gave hardly any new rows; False until they were enough."""
        if not self._recurring:
            decided = self._blocks_seen >= STALL_BLOCKS
            stalled = decided and self._new < STALL_ROWS
        else:
            seen = self._rows_seen >= ROUND_SEEN_ROWS
            decided = seen or self._blocks_seen >= ROUND_STALL_BLOCKS
            stalled = (seen and self._new * ROUND_SEEN_SHARE < self._rows_seen) or (
                decided and self._new < ROUND_STALL_ROWS
            )
        if decided:
            self._blocks_seen, self._rows_seen, self._new = 0, 0, 0
        return stalled

    def _look_for_list(self, stalled: bool) -> None:
        """Between two blocks, switch to the list if half of the rows are taken or new are rare."""
        if self._capacity is None or self._expected is None or self._listed:
            return
        drawn = self._number * self._task.block_rows
        costly = stalled or drawn >= CANDIDATES_PER_ROW * self._capacity
        half = 2 * self.taken >= self._expected
        listable = ROUND_LISTABLE_ROWS if self._recurring else LISTABLE_ROWS
        if half or (costly and self._capacity <= listable):
            self.close()
            self._listed = True

    def close(self) -> None:
        """Cancel the requested blocks that are not needed."""
        for call, _ in self._blocks:
            call.view.cancel()
        self._blocks.clear()
