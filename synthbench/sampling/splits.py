"""Which rows a split gets: every decision is made here and in `bucket_stream`, in sequence.

Every bucket of a split has its own stream of blocks. Candidates are looked at in order and accepted
if their fingerprint is new, until the bucket has its share of the round; a round's rows are then
shuffled together. Only fingerprints pass through here, not rows. The result depends only on the
plan and the streams, never on workers or on time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synthbench.engine.engine import Engine
from synthbench.errors import ExhaustedError
from synthbench.sampling.blocks import Accepted, Order, Round
from synthbench.sampling.bucket_stream import BucketStream
from synthbench.sampling.plan import Plan, share_out
from synthbench.tasks.base import Split, Task


class SplitSampler:
    """The rows of one split, round by round.

    Args:
        task: the task.
        split: the split.
        plan: how many rows come from which bucket.
        engine: makes the blocks.
        purpose: further coordinates of the random streams, for uses other than datasets.
    """

    def __init__(
        self,
        task: Task,
        split: Split,
        plan: Plan,
        engine: Engine,
        purpose: Mapping[str, object] | None = None,
    ) -> None:
        self._task, self._split = task, split
        self._coordinates = {**task.stream, **(purpose or {}), "split": split.name}
        quotas = plan.quotas[split.name]
        self._left = {bucket: quota for bucket, quota in quotas.items() if quota}
        self._total = plan.rows(split.name)
        self._round = 0
        self._streams = {
            bucket: BucketStream(task, split, bucket, self._coordinates, left, engine)
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
                yield self._next_round()
        finally:
            self.close()

    def _next_round(self) -> Round:
        rounds_left = -(-sum(self._left.values()) // self._task.round_rows)
        # First every bucket requests its first block, then as many as that block shows it to need.
        for _ in range(2):
            for bucket, stream in self._streams.items():
                stream.prepare(self._left[bucket])
        calls: list[Any] = []
        accepted: list[Accepted] = []
        for bucket, stream in self._streams.items():
            quota = -(-self._left[bucket] // rounds_left)
            for call, place, rows in stream.take(quota, self._left[bucket]):
                if not calls or calls[-1] is not call:
                    calls.append(call)
                accepted.append(Accepted(len(calls) - 1, place, rows, bucket))
                self._left[bucket] -= len(rows)
        self._share_out_exhausted()
        if not accepted:  # only exhausted buckets had rows left, which went to the others
            return self._next_round()
        count = sum(len(one.rows) for one in accepted)
        order = Order(accepted, {**self._coordinates, "order": True}, self._round, 0, count)
        self._round += 1
        return Round(calls, order)

    def _share_out_exhausted(self) -> None:
        """Divide what exhausted buckets lack among the others."""
        lacking = sum(self._left[b] for b, stream in self._streams.items() if stream.exhausted)
        if not lacking:
            return
        others = [b for b, stream in self._streams.items() if not stream.exhausted]
        if not others:
            raise ExhaustedError(self._not_filled())
        for bucket, stream in self._streams.items():
            if stream.exhausted:
                self._left[bucket] = 0
        weight = dict(zip(self._split.buckets, self._task.bucket_weights(self._split), strict=True))
        shares = share_out(lacking, [None] * len(others), tuple(weight[b] for b in others))
        for bucket, more in zip(others, shares, strict=True):
            self._left[bucket] += more

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
