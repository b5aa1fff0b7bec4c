"""Endless fresh rows: the split's balance, and never a row of an evaluation split.

A stream is cut into rounds. Each is a small dataset of its own: balanced like the split, without
duplicates, a pure function of (task, variant, parameters, seed, split, batch size, round). So a
batch number leads straight to its round, and rounds can be made anywhere, in any order.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.dataset.dataset import columns_of
from synthbench.dataset.digest import ids
from synthbench.engine.engine import Asked, Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, check_whole_number
from synthbench.features import arrow_schema
from synthbench.generation.shards import rows_table
from synthbench.registry import make_task
from synthbench.sampling.plan import Plan, check_rows, drawing_order, make_plan, share_out
from synthbench.sampling.seen import FingerprintSet
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block, Task

if TYPE_CHECKING:
    import datasets

Batch = dict[str, NDArray[Any]]
Rows = tuple[Block, NDArray[np.uint64]]

#: Rows of a round, about; a task with heavy rows makes smaller ones.
ROUND_ROWS = 65_536


def stream(
    task: str,
    *,
    split: str = "train",
    variant: str | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    batch_size: int = 512,
    start: int = 0,
    workers: int = 1,
    rows: Mapping[str, int] | None = None,
) -> Iterator[Batch]:
    """Endless batches of fresh rows in the split's balance.

    No row is one of an evaluation split of the dataset with the same seed and parameters, if that
    has the paper's rows or fewer; for larger ones give `rows`. None comes twice in a round of some
    ten thousand rows. Beyond a round, rows of small buckets come again.

    Args:
        task: name of the task.
        split: whose rows.
        variant: one of the task's variants; default: the first.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        batch_size: rows of a batch.
        start: number of the first batch: `start=n` goes on where `n` batches were read.
        workers: how many processes make rounds, at most 256; 1: this one. A fork of this process
            cannot read on here; it needs a stream of its own.
        rows: rows of the dataset's evaluation splits, where it has more than the paper's.

    Returns:
        An endless iterator over dicts of NumPy arrays, first axis `batch_size`, by column, `id`
        first; text as objects of `str`.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters, or more rows a batch than exist.

    Example:
        >>> import synthbench
        >>> batch = next(synthbench.stream("identity", batch_size=4, seed=7))
        >>> {name: column.shape for name, column in batch.items()}
        {'id': (4,), 'x': (4, 5), 'label': (4, 5)}
    """
    source = Rounds(make_task(task, variant, parameters, seed), split, batch_size, rows)
    check_whole_number("Start", start, least=0)
    check_workers(workers)
    return _batches(source, start, workers)


def _batches(source: Rounds, start: int, workers: int) -> Iterator[Batch]:
    first, skip = divmod(start, source.batches)
    with open_engine(workers=workers) as engine:
        asked: collections.deque[Asked[Rows]] = collections.deque()
        for number in itertools.count(first):
            while len(asked) <= engine.ahead:
                asked.append(engine.submit(source.rows, number + len(asked)))
            yield from itertools.islice(source.batches_of(asked.popleft().result()), skip, None)
            skip = 0


class Rounds:
    """The rounds of a stream, each a pure function of its number.

    Args:
        task: the task.
        split: name of the split.
        batch_size: rows of a batch; a round holds whole batches.
        rows: rows of the dataset's evaluation splits, where it has more than the paper's.

    Attributes:
        batches: batches of a round.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: more rows a batch than exist.
    """

    def __init__(
        self,
        task: Task,
        split: str,
        batch_size: int = 512,
        rows: Mapping[str, int] | None = None,
    ) -> None:
        self._task, self._split = task, task.split(split)
        check_whole_number("Batch size", batch_size, least=1)
        self._batch_size = batch_size
        wanted = check_rows(task, rows)
        self._sizes = tuple(wanted.get(one.name, one.rows) for one in task.splits)
        free = self._free()
        self.batches = max(1, min(ROUND_ROWS, task.round_rows) // batch_size)
        if None not in free:
            self.batches = min(self.batches, sum(limit or 0 for limit in free) // batch_size)
        if not self.batches:
            exist = sum(limit or 0 for limit in free)
            raise ParameterError(
                f"Batch size {batch_size}: split {split} of {task.name} has {exist:,} rows that "
                f"are in no evaluation split; allowed are 1 to {exist:,}."
            )
        self._plan = self._round_plan(free)

    def __reduce__(self) -> tuple[Any, ...]:
        sizes = {one.name: size for one, size in zip(self._task.splits, self._sizes, strict=True)}
        return Rounds, (self._task, self._split.name, self._batch_size, sizes)

    def _free(self) -> list[int | None]:
        """By bucket, how many rows are in no evaluation split; None where nobody can count."""
        kept_out = _kept_out(self._task, self._split.name, self._sizes)
        free: list[int | None] = []
        for bucket in self._split.buckets:
            capacity = self._task.capacity(self._split, bucket)
            free.append(None if capacity is None else capacity - len(kept_out[bucket]))
        return free

    def _round_plan(self, free: list[int | None]) -> Plan:
        split = self._split
        weights = self._task.bucket_weights(split)
        quotas = share_out(self.batches * self._batch_size, free, weights)
        return Plan({split.name: dict(zip(split.buckets, quotas, strict=True))})

    def rows(self, number: int) -> Rows:
        """All rows of one round, as a block and their fingerprints."""
        kept_out = _kept_out(self._task, self._split.name, self._sizes)
        sampler = SplitSampler(
            self._task,
            self._split,
            self._plan,
            {bucket: prints.copy() for bucket, prints in kept_out.items()},
            Engine(None, 1),
            purpose={"stream": number},
        )
        drawn = [one.rows() for one in sampler.rounds()]
        return (
            Block.concatenate([one.block for one in drawn]),
            np.concatenate([one.fingerprints for one in drawn]),
        )

    def table(self, number: int) -> pa.Table:
        """All rows of one round, as they stand in a shard."""
        block, prints = self.rows(number)
        return rows_table(self._task, block, prints)

    def arrays(self, rows: Rows) -> Batch:
        """A round's rows as NumPy arrays by column, `id` first."""
        block, prints = rows
        arrays = {"id": ids(prints).to_numpy(zero_copy_only=False), **self._task.arrays(block)}
        # Arrays that share memory with Arrow are read-only, which PyTorch warns about.
        return {
            name: array if array.flags.writeable else array.copy() for name, array in arrays.items()
        }

    def batches_of(self, rows: Rows) -> Iterator[Batch]:
        """A round's rows as batches of NumPy arrays."""
        arrays = self.arrays(rows)
        for first in range(0, len(rows[1]), self._batch_size):
            yield {name: array[first : first + self._batch_size] for name, array in arrays.items()}


@functools.lru_cache(maxsize=8)
def _kept_out(task: Task, split: str, sizes: tuple[int, ...]) -> dict[int, FingerprintSet]:
    """Fingerprints of the dataset's evaluation rows in the buckets of a split."""
    rows = {one.name: size for one, size in zip(task.splits, sizes, strict=True)}
    plan = make_plan(task, rows, at_most=True)
    seen = {bucket: FingerprintSet() for bucket in task.split(split).buckets}
    needed = set(seen)
    evaluation = [one for one in drawing_order(task) if one.evaluation]
    # A split that shares no bucket with ours has no row of ours; one that shares a bucket is
    # drawn after those that it shares buckets with.
    for one in reversed(evaluation):
        if needed.intersection(one.buckets):
            needed.update(one.buckets)
    for one in evaluation:
        if needed.intersection(one.buckets):
            collections.deque(SplitSampler(task, one, plan, seen, Engine(None, 1)).rounds(), 0)
    return seen


def datasets_stream(
    task: str,
    *,
    split: str = "train",
    variant: str | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
) -> datasets.IterableDataset:
    """`stream` as a `datasets.IterableDataset` of single rows.

    The rows and their order are those of `stream`. To share them out, `datasets` divides it into
    5,040 shards, each endless: as many workers of a `DataLoader`, or machines, have different rows.

    Args:
        task: name of the task.
        split: as in `stream`, as is all that follows.
        variant: one of the task's variants.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        rows: rows of the dataset's evaluation splits, where it has more than the paper's.

    Returns:
        An endless dataset of rows as Python values, with the task's features.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters.

    Example:
        >>> from synthbench.streaming import datasets_stream
        >>> row = next(iter(datasets_stream("parity", seed=7)))
        >>> row["label"] == row["c" if (row["a"] + row["b"]) % 2 else "d"]
        True
    """
    import datasets

    made = make_task(task, variant, parameters, seed)
    source = Rounds(made, split, batch_size=1, rows=rows)
    schema = arrow_schema(columns_of(made))
    return datasets.IterableDataset.from_generator(
        _rows_of_rounds,
        features=datasets.Features.from_arrow_schema(schema),
        gen_kwargs={"source": source, "shards": list(range(_DATASETS_SHARDS))},
    )


#: Divisible by every number of workers up to 10.
_DATASETS_SHARDS = 5_040


def _rows_of_rounds(source: Rounds, shards: list[int]) -> Iterator[dict[str, Any]]:
    """The rows of one shard; none of those after it is ever reached."""
    for number in itertools.count(shards[0] << 32):
        for batch in source.table(number).to_batches(max_chunksize=1_024):
            yield from batch.to_pylist()
