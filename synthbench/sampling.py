"""Which rows a split gets: all that decides lives here and is sequential.

Every bucket of a split has its own stream of blocks. Candidates are looked at in order and kept
when their fingerprint is new, until the bucket has its share of the round; a round's rows are
then shuffled together. How many rows come from which bucket is planned before anything is drawn,
so the result depends on the plan and the streams alone, never on workers or on time.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.engine import Engine
from synthbench.errors import ParameterError, SynthbenchError
from synthbench.seeding import Draws, fingerprints
from synthbench.tasks.base import Block, Split, Task

#: So many blocks in a row without a new row mean that a bucket is exhausted.
STALL_BLOCKS = 200


class FingerprintSet:
    """A growing set of 64-bit fingerprints, eight bytes each.

    Kept as sorted arrays, each at least twice as long as the next, so that adding costs a
    logarithmic number of merges and looking up as many binary searches.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def copy(self) -> FingerprintSet:
        """The same set, to grow apart from this one."""
        copied = FingerprintSet()
        copied._runs = list(self._runs)
        return copied

    def add(self, new: NDArray[np.uint64]) -> None:
        """Add fingerprints that are not in the set yet, uint64 `(rows,)`."""
        run = np.sort(new)
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            # A stable sort merges what is sorted already.
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        if len(run):
            self._runs.append(run)

    def contains(self, asked: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the fingerprints are in the set, bool `(rows,)`."""
        order = np.argsort(asked)
        ascending = asked[order]  # neighbours in the search are neighbours in memory
        found = np.zeros(len(asked), np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, ascending), len(run) - 1)
            found[order] |= run[place] == ascending
        return found


# The plan: how many rows come from which bucket.


def share_out(rows: int, limits: list[int | None], weights: tuple[float, ...]) -> list[int]:
    """Divide `rows` in proportion to `weights`; what a limit cuts off goes to the others.

    Args:
        rows: how many to divide.
        limits: the most each may get, None where there is no limit.
        weights: positive shares.

    Returns:
        One number for each; together `rows`, or less where all limits are reached. What does not
        divide evenly goes to the largest remainders, of equal ones to the first.
    """
    shares = [0] * len(limits)
    open_ones = list(range(len(limits)))
    left = rows
    while open_ones:
        total = sum(Fraction(weights[index]) for index in open_ones)
        exact = {index: left * Fraction(weights[index]) / total for index in open_ones}
        for index in open_ones:
            shares[index] = int(exact[index])
        by_remainder = sorted(open_ones, key=lambda one: shares[one] - exact[one])
        for index in by_remainder[: left - sum(shares[index] for index in open_ones)]:
            shares[index] += 1
        full = {
            index: limit
            for index in open_ones
            if (limit := limits[index]) is not None and shares[index] > limit
        }
        if not full:
            break
        # Those that are cut off are settled; the others divide the rest anew.
        for index, limit in full.items():
            shares[index] = limit
            left -= limit
        open_ones = [index for index in open_ones if index not in full]
    return shares


@dataclasses.dataclass(frozen=True)
class Plan:
    """How many rows each split takes from each of its buckets.

    Attributes:
        quotas: rows by split and bucket, splits in the order in which they are drawn.
        listed: the (split, bucket) pairs that are chosen from a list of all rows.
    """

    quotas: dict[str, dict[int, int]]
    listed: frozenset[tuple[str, int]]


def make_plan(task: Task, rows: Mapping[str, int], at_most: bool = False) -> Plan:
    """Divide every split's rows over its buckets, evaluation splits first.

    A bucket whose rows can be counted gives an evaluation split at most its share of them where
    train wants some too, and train what is left. What it cannot fill goes to the other buckets.

    Args:
        task: the task.
        rows: rows of each split, at least 1.
        at_most: take fewer rows where fewer exist, instead of refusing.

    Raises:
        ParameterError: a split asks for more rows than exist.
    """
    drawn = drawing_order(task)
    wanted_by_train = {b for split in drawn if not split.evaluation for b in split.buckets}
    left: dict[int, int | None] = {}
    quotas: dict[str, dict[int, int]] = {}
    for split in drawn:
        limits: list[int | None] = []
        for bucket in split.buckets:
            capacity = task.capacity(split, bucket)
            remaining = left.setdefault(bucket, capacity)
            shared = split.evaluation and bucket in wanted_by_train
            if shared and remaining is not None and capacity is not None:
                remaining = min(remaining, _part(capacity, split.share))
            limits.append(remaining)
        shares = share_out(rows[split.name], limits, task.bucket_weights(split))
        there = sum(shares)
        if there < rows[split.name] and not (at_most and there > 0):
            raise ParameterError(_too_many(task, split, rows[split.name], limits))
        quotas[split.name] = dict(zip(split.buckets, shares, strict=True))
        for bucket, share in quotas[split.name].items():
            if (remaining := left[bucket]) is not None:
                left[bucket] = remaining - share
    return Plan(quotas, _listed(task, drawn, quotas))


def _part(count: int, share: float) -> int:
    """A share of a number that may be far beyond what a float can hold."""
    return int(count * Fraction(share).limit_denominator(10**6))


def drawing_order(task: Task) -> list[Split]:
    """The splits in the order in which they are drawn: evaluation before train."""
    return sorted(task.splits, key=lambda split: not split.evaluation)


def _listed(
    task: Task, drawn: list[Split], quotas: dict[str, dict[int, int]]
) -> frozenset[tuple[str, int]]:
    """Where over half of a bucket is wanted: waiting for the last coupon would take forever."""
    wanted: collections.Counter[int] = collections.Counter()
    listed = set()
    for split in drawn:
        for bucket, share in quotas[split.name].items():
            wanted[bucket] += share
            capacity = task.capacity(split, bucket)
            if share and capacity is not None and 2 * wanted[bucket] > capacity:
                listed.add((split.name, bucket))
    return frozenset(listed)


def _too_many(task: Task, split: Split, rows: int, limits: list[int | None]) -> str:
    exist = sum(limit or 0 for limit in limits)
    if not exist:
        return f"Split {split.name} of {task.name}: no rows are left for it; {rows:,} asked for."
    text = f"Split {split.name} of {task.name}: {rows:,} rows asked for, but only {exist:,} exist"
    if len(split.buckets) > 1:
        each = (
            f"{task.bucket_name} {task.bucket_label(bucket)}: {limit:,}"
            for bucket, limit in zip(split.buckets, limits, strict=True)
        )
        text += f" that are not in another split ({', '.join(each)})"
    return f"{text}. Allowed are 1 to {exist:,}."


# Blocks.


@dataclasses.dataclass(frozen=True)
class Candidates:
    """A block that was drawn: rows of the bucket, no fingerprint twice, in order."""

    block: Block
    fingerprints: NDArray[np.uint64]
    tried: int

    def share(self, rows: int) -> int:
        """Candidates tried for so many of the block's rows."""
        return self.tried * rows // len(self.block) if len(self.block) else self.tried


def draw_candidates(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int, number: int
) -> Candidates:
    """Block `number` of a bucket's stream: a pure function of its arguments."""
    rows = task.block_rows
    block = task.propose(Draws(stream, number), rows, split, bucket)
    return _distinct(task, block, rows)


def list_candidates(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int
) -> Candidates:
    """Every row of a bucket, in an order drawn from its stream."""
    block = task.listing(split, bucket)
    return _distinct(task, block.take(Draws(stream).permutation(len(block))), len(block))


def _distinct(task: Task, block: Block, tried: int) -> Candidates:
    prints = fingerprints(task.content(block))
    _, first = np.unique(prints, return_index=True)
    if len(first) < len(prints):
        first.sort()
        block, prints = block.take(first), prints[first]
    return Candidates(block, prints, tried)


class BucketStream:
    """The accepted rows of one bucket of one split, in the order of its blocks.

    Args:
        engine: where blocks are made; some are asked for ahead of time.
        make: makes a block, by number; None stands for a bucket that is listed as a whole.
        seen: fingerprints that must not come again; accepted ones are added.
        state: where to go on, as `state` gave it.
    """

    def __init__(
        self,
        engine: Engine,
        request: Callable[[int], Future[Candidates]],
        listed: bool,
        seen: FingerprintSet,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._engine, self._request, self._listed, self._seen = engine, request, listed, seen
        state = state or {}
        self._block: int = state.get("block", 0)
        self._offset: int = state.get("offset", 0)
        self._barren: int = state.get("barren", 0)
        self.tried: int = state.get("tried", 0)
        self.taken: int = state.get("taken", 0)
        self.exhausted: bool = state.get("exhausted", False)
        self._pending: collections.deque[Future[Candidates]] = collections.deque()
        self._yield = 0.0

    def state(self) -> dict[str, Any]:
        """Where the stream stands: JSON values that `state` of the constructor takes."""
        return {
            "block": self._block,
            "offset": self._offset,
            "barren": self._barren,
            "tried": self.tried,
            "taken": self.taken,
            "exhausted": self.exhausted,
        }

    def prepare(self, rows: int) -> None:
        """Ask for the blocks that `rows` more rows will probably need, a few at most."""
        need = 1 if not self._yield else int(rows / self._yield) + 1
        while len(self._pending) < min(need, max(1, self._engine.ahead)) and not self.exhausted:
            if self._listed and (self._pending or self._block):
                return
            self._pending.append(self._request(self._block + len(self._pending)))

    def take(self, rows: int, left: int) -> list[tuple[Block, NDArray[np.uint64]]]:
        """The next `rows` new rows, fewer if the bucket is exhausted.

        Args:
            rows: how many.
            left: how many will be asked for in all, these included.
        """
        parts: list[tuple[Block, NDArray[np.uint64]]] = []
        while rows and not self.exhausted:
            self.prepare(left)
            candidates = self._pending[0].result()
            prints = candidates.fingerprints[self._offset :]
            new = np.flatnonzero(~self._seen.contains(prints))[:rows]
            if len(new):
                self._seen.add(prints[new])
                parts.append((candidates.block.take(self._offset + new), prints[new]))
                self._barren = 0
            elif self._offset == 0:
                self._barren += 1
            rows, left = rows - len(new), left - len(new)
            self.taken += len(new)
            self._yield = max(1.0, float(len(candidates.fingerprints)))
            looked_at = len(prints) if rows else int(new[-1]) + 1
            self.tried += candidates.share(looked_at)
            self._offset += looked_at
            if rows:
                self._pending.popleft()
                self._block, self._offset = self._block + 1, 0
                self.exhausted = self._listed or self._barren >= STALL_BLOCKS
        return parts

    def close(self) -> None:
        """Give up the blocks that were asked for and are not needed."""
        for future in self._pending:
            future.cancel()


@dataclasses.dataclass(frozen=True)
class Round:
    """Rows that were accepted and shuffled together.

    Attributes:
        block: the rows.
        fingerprints: their fingerprints, uint64 `(rows,)`.
        buckets: the bucket of each row, int64 `(rows,)`.
    """

    block: Block
    fingerprints: NDArray[np.uint64]
    buckets: NDArray[np.int64]


class SplitSampler:
    """The rows of one split, round by round.

    Args:
        task: the task.
        split: the split.
        plan: how many rows come from which bucket.
        seen: fingerprints taken so far by bucket, over all splits of the dataset; added to.
        engine: where blocks are made.
        purpose: coordinates that tell this use of the streams from others.
        state: where to go on, as `state` gave it before some round.
    """

    def __init__(
        self,
        task: Task,
        split: Split,
        plan: Plan,
        seen: dict[int, FingerprintSet],
        engine: Engine,
        purpose: Mapping[str, object] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._task, self._split = task, split
        self._coordinates = {**task.stream, **(purpose or {}), "split": split.name}
        state = state or {}
        quotas = plan.quotas[split.name]
        self._left = {bucket: quota for bucket, quota in quotas.items() if quota}
        for bucket, left in state.get("left", {}).items():
            self._left[int(bucket)] = left
        self._total = sum(quotas.values())
        self._round: int = state.get("round", 0)
        self._streams = {
            bucket: self._open(
                bucket, plan, seen, engine, state.get("streams", {}).get(str(bucket))
            )
            for bucket in self._left
        }

    def _open(
        self,
        bucket: int,
        plan: Plan,
        seen: dict[int, FingerprintSet],
        engine: Engine,
        state: Mapping[str, Any] | None,
    ) -> BucketStream:
        task, split = self._task, self._split
        stream = {**self._coordinates, "bucket": bucket}
        listed = (split.name, bucket) in plan.listed

        def request(number: int) -> Future[Candidates]:
            if listed:
                return engine.submit(list_candidates, task, stream, split, bucket)
            return engine.submit(draw_candidates, task, stream, split, bucket, number)

        return BucketStream(
            engine, request, listed, seen.setdefault(bucket, FingerprintSet()), state
        )

    def state(self) -> dict[str, Any]:
        """Where the sampler stands between two rounds, as JSON values."""
        return {
            "round": self._round,
            "left": {str(bucket): left for bucket, left in self._left.items()},
            "streams": {str(bucket): stream.state() for bucket, stream in self._streams.items()},
        }

    def taken(self) -> dict[int, int]:
        """Rows accepted so far, by bucket."""
        return {bucket: stream.taken for bucket, stream in self._streams.items()}

    @property
    def tried(self) -> int:
        """Candidates looked at so far."""
        return sum(stream.tried for stream in self._streams.values())

    def close(self) -> None:
        """Give up what was asked of the engine and is not needed."""
        for stream in self._streams.values():
            stream.close()

    def rounds(self) -> Iterator[Round]:
        """The split's rows, in rounds of about `task.round_rows`.

        Raises:
            SynthbenchError: the buckets are exhausted before the split is full.
        """
        try:
            for bucket, stream in self._streams.items():
                stream.prepare(self._left[bucket])
            while any(self._left.values()):
                yield self._next_round()
        finally:
            self.close()

    def _next_round(self) -> Round:
        rounds_left = -(-sum(self._left.values()) // self._task.round_rows)
        parts, buckets = [], []
        for bucket, stream in self._streams.items():
            quota = -(-self._left[bucket] // rounds_left)
            got = stream.take(quota, self._left[bucket])
            count = sum(len(prints) for _, prints in got)
            self._left[bucket] -= count
            parts += got
            buckets.append(np.full(count, bucket, np.int64))
        self._share_out_exhausted()
        if not parts:  # all that was left was owed by buckets that turned out to be exhausted
            return self._next_round()
        block = Block.concatenate([block for block, _ in parts])
        prints = np.concatenate([prints for _, prints in parts])
        order = Draws({**self._coordinates, "order": True}, self._round).permutation(len(prints))
        self._round += 1
        return Round(block.take(order), prints[order], np.concatenate(buckets)[order])

    def _share_out_exhausted(self) -> None:
        """What exhausted buckets still owe goes evenly to the others."""
        owed = sum(self._left[b] for b, stream in self._streams.items() if stream.exhausted)
        if not owed:
            return
        others = [b for b, stream in self._streams.items() if not stream.exhausted]
        if not others:
            raise SynthbenchError(self._not_filled())
        for bucket, stream in self._streams.items():
            if stream.exhausted:
                self._left[bucket] = 0
        weights = (1.0,) * len(others)
        for bucket, more in zip(
            others, share_out(owed, [None] * len(others), weights), strict=True
        ):
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
