"""Blocks of candidates, and the rows that are picked from them.

The sampler sees only fingerprints (`BlockSummary`), so the blocks may be on other machines. A
`Round` says which rows it has and in what order; the rows are read from the blocks where they are
needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.row_ids import fingerprints, may_have


@dataclasses.dataclass(frozen=True)
class BlockSummary:
    """What the sampler sees of a block.

    Attributes:
        fingerprints: those of its rows, uint64 `(rows,)`, all different.
        tried: how many candidates were drawn for these rows.
    """

    fingerprints: NDArray[np.uint64]
    tried: int

    def share(self, rows: int) -> int:
        """The candidates that count as drawn for this many of the block's rows."""
        count = len(self.fingerprints)
        return self.tried * rows // count if count else self.tried


@dataclasses.dataclass(frozen=True)
class Candidates(BlockSummary):
    """The rows of a block that the split may have, all different, in the order of drawing."""

    block: Block


#: Consecutive blocks of one stream, drawn in one call.
Run = list[Candidates]


def draw_run(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int, numbers: range
) -> Run:
    """Blocks `numbers` of a bucket's stream: a pure function of the arguments."""
    rows = task.block_rows
    blocks = (task.candidates(Draws(stream, number), rows, split, bucket) for number in numbers)
    return [_allowed(task, split, bucket, block, rows) for block in blocks]


def list_candidates(task: Task, stream: Mapping[str, object], split: Split, bucket: int) -> Run:
    """Every row of a bucket that the split may have, in an order drawn from its stream."""
    block = task.enumerate_rows(split, bucket)
    block = block.take(Draws(stream).permutation(len(block)))
    return [_allowed(task, split, bucket, block, len(block))]


def _allowed(task: Task, split: Split, bucket: int, block: Block, tried: int) -> Candidates:
    """The rows that the split may have, each at its first occurrence."""
    prints = fingerprints(task, block)
    allowed = may_have(task, split, bucket, prints)
    if not allowed.all():
        rows = np.flatnonzero(allowed)
        block, prints = block.take(rows), prints[rows]
    order = np.argsort(prints)
    ascending = prints[order]
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    if len(starts) < len(prints):
        first = np.sort(np.minimum.reduceat(order, starts))
        block, prints = block.take(first), prints[first]
    return Candidates(prints, tried, block)


def summaries(run: Run) -> list[BlockSummary]:
    """What the sampler sees of a run."""
    return [BlockSummary(one.fingerprints, one.tried) for one in run]


@dataclasses.dataclass(frozen=True)
class Pick:
    """Rows of one block that were accepted.

    Attributes:
        run: index of the block's run among those of the round.
        place: the block's place in its run.
        rows: indices of the rows, uint32, ascending.
        bucket: their bucket.
    """

    run: int
    place: int
    rows: NDArray[np.uint32]
    bucket: int


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows with their fingerprints, uint64 `(rows,)`, and their buckets, int64 `(rows,)`."""

    block: Block
    fingerprints: NDArray[np.uint64]
    buckets: NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which rows of which runs, in what order; it depends only on the sampler's decisions.

    Attributes:
        picks: the rows, before they are shuffled together.
        stream: the random stream of their order.
        number: the number of the round, which is the block of that stream.
    """

    picks: Sequence[Pick]
    stream: Mapping[str, object]
    number: int

    def __len__(self) -> int:
        return sum(len(pick.rows) for pick in self.picks)

    def rows(self, runs: Sequence[Run], first: int = 0, last: int | None = None) -> Rows:
        """Rows `first` to `last - 1` of the shuffled selection."""
        order = Draws(self.stream, self.number).permutation(len(self))[first:last]
        taken = [(runs[pick.run][pick.place], pick) for pick in self.picks]
        block = Block.concatenate([one.block.take(pick.rows) for one, pick in taken])
        prints = np.concatenate([one.fingerprints[pick.rows] for one, pick in taken])
        buckets = np.concatenate([np.full(len(p.rows), p.bucket, np.int64) for p in self.picks])
        return Rows(block.take(order), prints[order], buckets[order])


@dataclasses.dataclass(frozen=True)
class Round:
    """Accepted rows that are shuffled together.

    Attributes:
        runs: the runs they are picked from, as futures or as handles of a cluster.
        selection: which rows, and in what order.
    """

    runs: Sequence[Any]
    selection: Selection

    def __len__(self) -> int:
        return len(self.selection)

    def rows(self) -> Rows:
        """The rows themselves; only where the runs are futures of this machine."""
        return self.selection.rows([run.result() for run in self.runs])
