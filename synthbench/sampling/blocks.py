"""Blocks of candidates, and the rows of a round that are accepted from them.

The sampler sees only fingerprints (`BlockSummary`), so the blocks may be on other machines. A
`Round` says which rows it has and in what order. The rows are read from the blocks where they are
needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.sampling.seen import first_occurrences
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.block import PROBLEM_KEYS
from synthbench.tasks.returned import draws_together, enumerated, proposed, proposed_blocks
from synthbench.tasks.row_ids import fingerprints, may_have

#: About how many candidates of small blocks a call draws, and the fewest and the most blocks that a
#: worker draws one by one.
_CALL_ROWS, _FEWEST_BLOCKS, _MOST_BLOCKS = 4_096, 2, 8


@dataclasses.dataclass(frozen=True)
class BlockSummary:
    """The sampler's view of a block.

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
    """The rows of a block that the split may have, all different, in the order of drawing.

    Attributes:
        block: the rows.
        bucket: the bucket that they were drawn from.
    """

    block: Block
    bucket: int


def blocks_a_call(task: Task, to_worker: bool) -> int:
    """The number of blocks that a call draws. The last of them may not be needed.

    Small blocks are drawn several to a call where that is faster. A worker draws several of any
    size, as a call to a worker costs half a millisecond.
    """
    several = max(1, _CALL_ROWS // task.block_rows)
    if draws_together(task):
        return several
    return min(max(_FEWEST_BLOCKS, several), _MOST_BLOCKS) if to_worker else 1


def draw_blocks(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int, numbers: range
) -> list[Candidates]:
    """Blocks `numbers` of a bucket's stream: a pure function of the arguments."""
    rows, draws = task.block_rows, (Draws(stream, number) for number in numbers)
    if not draws_together(task):
        blocks = (proposed(task, each, rows, split, bucket) for each in draws)
        return [
            _allowed(task, split, bucket, block, fingerprints(task, block), rows)
            for block in blocks
        ]
    together = proposed_blocks(task, [*draws], rows, split, bucket)
    prints = fingerprints(task, Block.concatenate(together))
    starts = np.cumsum([len(block) for block in together[:-1]], dtype=np.int64)
    return [
        _allowed(task, split, bucket, block, its_prints, rows)
        for block, its_prints in zip(together, np.split(prints, starts), strict=True)
    ]


def list_candidates(
    task: Task, stream: Mapping[str, object], split: Split, bucket: int
) -> list[Candidates]:
    """One block with every row of a bucket that the split may have, in an order drawn at random."""
    block = enumerated(task, split, bucket)
    block = block.take(Draws(stream).permutation(len(block)))
    return [_allowed(task, split, bucket, block, fingerprints(task, block), len(block))]


def _allowed(
    task: Task, split: Split, bucket: int, block: Block, prints: NDArray[np.uint64], tried: int
) -> Candidates:
    """The rows that the split may have, each at its first occurrence."""
    columns = block.columns.items()
    block = Block({name: column for name, column in columns if name != PROBLEM_KEYS})
    (rows,) = may_have(task, split, bucket, prints).nonzero()
    prints = prints.take(rows)
    first = first_occurrences(prints)
    if len(first) < len(rows):
        rows, prints = rows.take(first), prints.take(first)
    if len(rows) < len(block):
        block = block.take(rows)
    return Candidates(prints, tried, block, bucket)


def summaries(blocks: Sequence[Candidates]) -> list[BlockSummary]:
    """The sampler's view of blocks."""
    return [BlockSummary(block.fingerprints, block.tried) for block in blocks]


@dataclasses.dataclass(frozen=True)
class KeyedRows:
    """Rows with their fingerprints, uint64 `(rows,)`, and their buckets, int64 `(rows,)`."""

    block: Block
    fingerprints: NDArray[np.uint64]
    buckets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.fingerprints)

    def take(self, picks: NDArray[np.integer] | slice) -> KeyedRows:
        """Some of the rows, by their indices or as a slice."""
        return KeyedRows(self.block.take(picks), self.fingerprints[picks], self.buckets[picks])

    @classmethod
    def concatenate(cls, several: Sequence[KeyedRows]) -> KeyedRows:
        """All rows, one after another. At least one of `several` is needed."""
        if len(several) == 1:
            return several[0]
        return cls(
            Block.concatenate([part.block for part in several]),
            np.concatenate([part.fingerprints for part in several]),
            np.concatenate([part.buckets for part in several]),
        )


@dataclasses.dataclass(frozen=True)
class Accepted:
    """Rows of one block that were accepted.

    Attributes:
        call: index of the call that drew the block among those of the round.
        index: the block's index among the blocks of this call.
        rows: indices of the rows, uint32, ascending.
    """

    call: int
    index: int
    rows: NDArray[np.uint32]


@dataclasses.dataclass(frozen=True)
class Order:
    """The order of rows by block. It depends only on the sampler's decisions.

    Attributes:
        accepted: the rows of a round, before they are shuffled together.
        stream: the random stream of their order.
        number: the number of the round, which is the block of that stream.
        first, last: of the shuffled rows, those from number `first` up to `last`, exclusive.
    """

    accepted: Sequence[Accepted]
    stream: Mapping[str, object]
    number: int
    first: int
    last: int

    def rows(self, calls: Sequence[Sequence[Candidates]]) -> KeyedRows:
        """The rows themselves, from the blocks that each call drew."""
        count = sum(len(part.rows) for part in self.accepted)
        order = Draws(self.stream, self.number).permutation(count)[self.first : self.last]
        taken = []
        for part in self.accepted:
            drawn = calls[part.call][part.index]
            rows = KeyedRows(
                drawn.block, drawn.fingerprints, np.full(len(drawn.block), drawn.bucket, np.int64)
            )
            taken.append(rows if len(part.rows) == len(rows) else rows.take(part.rows))
        joined = KeyedRows.concatenate(taken)
        del taken  # a round of long rows fills a hundred megabytes
        return joined.take(order)


@dataclasses.dataclass(frozen=True)
class Round:
    """Accepted rows that are shuffled together, or some of them.

    Attributes:
        calls: the results of the calls that drew their blocks, as futures or as handles of a
            cluster.
        order: which rows of these blocks, in what order.
    """

    calls: list[Any]
    order: Order

    def __len__(self) -> int:
        return self.order.last - self.order.first

    def take(self, part: slice) -> Round:
        """Some of the rows, as a slice."""
        first, last, _ = part.indices(len(self))
        start = self.order.first
        return Round(
            self.calls, dataclasses.replace(self.order, first=start + first, last=start + last)
        )

    def rows(self) -> KeyedRows:
        """The rows themselves. Only where the calls are futures of this machine."""
        return self.order.rows([call.result() for call in self.calls])
