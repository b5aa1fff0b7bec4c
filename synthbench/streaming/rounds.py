"""Endless fresh rows, balanced like the split, without the rows that are held out.

A stream consists of rounds. Each round is a small dataset: balanced like the split, without
duplicates, a pure function of (task, variant, parameters, seed, split, batch size, round). So a
batch number determines its round, and rounds can be made anywhere, in any order.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from numpy.typing import NDArray

from synthbench.engine.engine import Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, check_whole_number
from synthbench.sampling.blocks import Rows
from synthbench.sampling.plan import Plan, divide
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.registry import make_task
from synthbench.tasks.row_ids import columns_of, ids, rows_table

if TYPE_CHECKING:
    import datasets

Batch = dict[str, NDArray[Any]]

#: Approximate rows of a round; a task with large rows makes smaller rounds. Rounds of evaluation
#: splits are smaller, because their rows are costly and the first rows should come soon.
ROUND_ROWS, EVALUATION_ROUND_ROWS = 65_536, 4_096


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
) -> Iterator[Batch]:
    """Endless batches of fresh rows in the split's balance.

    Whatever the split, the stream leaves out the rows that are held out for the evaluation splits
    of datasets of any seed. Within a round of about ten thousand rows no row is repeated; rows of
    small buckets repeat in later rounds.

    Args:
        task: name of the task.
        split: name of the split.
        variant: one of the task's variants; default: the first.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        batch_size: rows of a batch.
        start: number of the first batch: `start=n` skips the first `n` batches.
        workers: processes that make rounds, 1 to 256; with 1, this process makes them. A forked
            child cannot continue the stream; it needs a stream of its own.

    Returns:
        An endless iterator over batches: dicts of NumPy arrays by column, `id` first. Their first
        axis is `batch_size`; text is an object array of `str`.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters, or more rows a batch than exist.

    Example:
        >>> import synthbench
        >>> batch = next(synthbench.stream("identity", batch_size=4, seed=7))
        >>> {name: column.shape for name, column in batch.items()}
        {'id': (4,), 'x': (4, 5), 'label': (4, 5)}
    """
    source = Rounds(make_task(task, variant, parameters, seed), split, batch_size)
    check_whole_number("Start", start, least=0)
    check_workers(workers)
    return _batches(source, start, workers)


def _batches(source: Rounds, start: int, workers: int) -> Iterator[Batch]:
    check_workers(workers)  # again: the reader may be a daemonic fork of the process that asked
    first, skip = divmod(start, source.batches)
    with open_engine(workers=workers) as engine:
        numbers = ((number,) for number in itertools.count(first))
        for _, rows in engine.in_order(source.rows, numbers):
            yield from itertools.islice(source.batches_of(rows), skip, None)
            skip = 0


class Rounds:
    """The rounds of a stream, each a pure function of its number.

    Args:
        task: the task.
        split: name of the split.
        batch_size: rows of a batch; a round holds whole batches.

    Attributes:
        batches: batches of a round.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: more rows a batch than exist.
    """

    def __init__(self, task: Task, split: str, batch_size: int = 512) -> None:
        check_whole_number("Batch size", batch_size, least=1)
        chosen = task.split(split)
        round_rows = EVALUATION_ROUND_ROWS if chosen.evaluation else ROUND_ROWS
        # A stream of an evaluation split gives the rows that are not held out.
        self._split = dataclasses.replace(chosen, evaluation=False)
        self._task, self._batch_size = task, batch_size
        self.batches = max(1, min(round_rows, task.round_rows) // batch_size)
        rows = divide(task, self._split, self.batches * batch_size)
        exist = sum(rows.values())
        self.batches = exist // batch_size
        if not self.batches:
            raise ParameterError(
                f"Batch size {batch_size}: split {split} of {task.name} has {exist:,} rows that "
                f"are not held out; allowed are 1 to {exist:,}."
            )
        self._plan = Plan({split: divide(task, self._split, self.batches * batch_size)})

    def __reduce__(self) -> tuple[Any, ...]:
        return Rounds, (self._task, self._split.name, self._batch_size)

    def rows(self, number: int) -> Rows:
        """All rows of one round."""
        sampler = SplitSampler(
            self._task, self._split, self._plan, Engine(None, 1), purpose={"stream": number}
        )
        return Rows.concatenate([one.rows() for one in sampler.rounds()])

    def table(self, number: int) -> pa.Table:
        """All rows of one round, as a shard has them."""
        rows = self.rows(number)
        return rows_table(self._task, rows.block, rows.fingerprints)

    def arrays(self, rows: Rows) -> Batch:
        """A round's rows as NumPy arrays by column, `id` first."""
        row_ids = ids(rows.fingerprints).to_numpy(zero_copy_only=False)
        arrays = {"id": row_ids, **self._task.arrays(rows.block)}
        # Arrays that share memory with Arrow are read-only, which PyTorch warns about.
        return {
            name: array if array.flags.writeable else array.copy() for name, array in arrays.items()
        }

    def batches_of(self, rows: Rows) -> Iterator[Batch]:
        """A round's rows as batches of NumPy arrays."""
        arrays = self.arrays(rows)
        for first in range(0, len(rows), self._batch_size):
            yield {name: array[first : first + self._batch_size] for name, array in arrays.items()}


def datasets_stream(
    task: str,
    *,
    split: str = "train",
    variant: str | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> datasets.IterableDataset:
    """`stream` as a `datasets.IterableDataset` of single rows.

    The rows and their order are those of `stream`. The dataset has 5,040 endless shards, so that up
    to 5,040 machines or workers of a `DataLoader` read different rows.

    Args:
        task: name of the task.
        split: as in `stream`, like the arguments below.
        variant: one of the task's variants.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.

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
    source = Rounds(made, split, batch_size=1)
    schema = arrow_schema(columns_of(made))
    return datasets.IterableDataset.from_generator(
        _rows_of_rounds,
        features=datasets.Features.from_arrow_schema(schema),
        gen_kwargs={"source": source, "shards": list(range(_DATASETS_SHARDS))},
    )


#: Divisible by every number of workers up to 10.
_DATASETS_SHARDS = 5_040


def _rows_of_rounds(source: Rounds, shards: list[int]) -> Iterator[dict[str, Any]]:
    """The rows of the first shard; it never ends, so the others are not reached."""
    for number in itertools.count(shards[0] << 32):
        for batch in source.table(number).to_batches(max_chunksize=1_024):
            yield from batch.to_pylist()
