"""Blocks that were drawn, and the rows that are picked from them.

The sampler sees only fingerprints (`BlockSummary`), so the blocks may be on other machines. A round
says which of their rows it has and in what order; the rows are taken where they are needed.
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
        fingerprints: those of its rows, uint64 `(rows,)`, none twice.
        tried: candidates of which these rows are left.
    """

    fingerprints: NDArray[np.uint64]
    tried: int

    def share(self, rows: int) -> int:
        """Candidates tried for so many of the block's rows."""
        count = len(self.fingerprints)
        return self.tried * rows // count if count else self.tried


@dataclasses.dataclass(frozen=True)
class Candidates(BlockSummary):
    """A block that was drawn: rows of the bucket that the split may have, none twice, in order."""

    block: Block


#: Candidates of consecutive blocks of one stream, drawn in one call.
Run = list[Candidates]


def draw_run(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int, numbers: range
) -> Run:
    """Blocks `numbers` of a bucket's stream."""
    return [draw_candidates(task, stream, split, bucket, number) for number in numbers]


def draw_candidates(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int, number: int
) -> Candidates:
    """Block `number` of a bucket's stream: a pure function of its arguments."""
    rows = task.block_rows
    block = task.propose(Draws(stream, number), rows, split, bucket)
    return _allowed(task, split, bucket, block, rows)


def list_candidates(task: Task, stream: Mapping[str, object], split: Split, bucket: int) -> Run:
    """Every row of a bucket that the split may have, in an order drawn from its stream."""
    block = task.enumerate_rows(split, bucket)
    block = block.take(Draws(stream).permutation(len(block)))
    return [_allowed(task, split, bucket, block, len(block))]


def _allowed(task: Task, split: Split, bucket: int, block: Block, tried: int) -> Candidates:
    """The rows that the split may have, the first of each."""
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
    """Rows with what is known of them.

    Attributes:
        block: the rows.
        fingerprints: their fingerprints, uint64 `(rows,)`.
        buckets: the bucket of each row, int64 `(rows,)`.
    """

    block: Block
    fingerprints: NDArray[np.uint64]
    buckets: NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which rows of some runs, in what order: a pure function of the sampler's decisions.

    Attributes:
        picks: the rows, before they are shuffled together.
        stream: the stream whose block `number` shuffles them.
        number: number of the round.
    """

    picks: Sequence[Pick]
    stream: Mapping[str, object]
    number: int

    def __len__(self) -> int:
        return sum(len(pick.rows) for pick in self.picks)

    def rows(self, runs: Sequence[Run], first: int = 0, last: int | None = None) -> Rows:
        """The rows from number `first` to before `last`, taken from their runs."""
        order = Draws(self.stream, self.number).permutation(len(self))[first:last]
        taken = [(runs[pick.run][pick.place], pick) for pick in self.picks]
        block = Block.concatenate([one.block.take(pick.rows) for one, pick in taken])
        prints = np.concatenate([one.fingerprints[pick.rows] for one, pick in taken])
        buckets = np.concatenate([np.full(len(p.rows), p.bucket, np.int64) for p in self.picks])
        return Rows(block.take(order), prints[order], buckets[order])


@dataclasses.dataclass(frozen=True)
class Round:
    """Rows that were accepted and are shuffled together.

    Attributes:
        runs: the runs they are picked from: futures, or what stands for them on a cluster.
        selection: which rows, and in what order.
    """

    runs: Sequence[Any]
    selection: Selection

    def __len__(self) -> int:
        return len(self.selection)

    def rows(self) -> Rows:
        """The rows themselves, where the runs can be had here."""
        return self.selection.rows([run.result() for run in self.runs])
