"""`stream`: endless fresh rows by column, for NumPy."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.sampling.blocks import KeyedRows
from synthbench.streaming.batches import Batch, Batches
from synthbench.streaming.converted import ConvertedRows
from synthbench.streaming.rounds import Rounds
from synthbench.streaming.rows import StreamRows
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block, Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import as_task
from synthbench.tasks.row_ids import ids


class Columns:
    """Shows the rows of a task by column, `id` first."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def make(self, part: int, rounds: Rounds, number: int) -> KeyedRows:
        """The rows as they were drawn: Python objects take longer to send than to make."""
        return rounds.rows(number)

    def show(self, part: int, rows: KeyedRows) -> ConvertedRows[KeyedRows]:
        """The columns of a round, not rendered yet, so that its first rows come soon."""
        return ConvertedRows(rows, self._rendered)

    def _rendered(self, rows: KeyedRows) -> Block:
        """The columns of rows. Text as objects of `str`."""
        return Block({"id": numpy_array(ids(rows.fingerprints)), **self._task.arrays(rows.block)})

    def batch(self, parts: NDArray[np.int64], blocks: Mapping[int, Block]) -> Batch:
        """The columns of a batch. Its lists are copies, for the round may show a row again."""
        return {name: _with_own_lists(column) for name, column in blocks[0].columns.items()}


def _with_own_lists(column: NDArray[Any]) -> NDArray[Any]:
    """The column itself, its lists and dicts replaced by copies."""
    if column.dtype == object and column.size and not isinstance(column[0], str):
        for row, value in enumerate(column):
            is_list = isinstance(value, np.ndarray)
            column[row] = _with_own_lists(value.copy()) if is_list else copy.deepcopy(value)
    return column


def stream(
    task: str | Task,
    *,
    split: str = "train",
    batch_size: int = 512,
    seed: int | None = None,
    start: int = 0,
    workers: int = 1,
) -> Batches[Batch]:
    """Endless batches of fresh rows in the split's balance.

    A stream of `train` never has held-out rows. A stream of an evaluation split has only such
    rows. Row `i` depends on task, split, seed and `i` alone. Batch `n` has the rows
    `n * batch_size` to `(n + 1) * batch_size - 1`. Rows repeat if a split or bucket has few
    distinct rows.

    Args:
        task: a task, or the name of one with its defaults.
        split: name of the split.
        batch_size: rows of a batch.
        seed: of the draws, a whole number from 0. Default: the task's.
        start: number of the first batch: `start=n` skips the first `n` batches.
        workers: processes that make rows, 1 to 256. With 1, this process makes them. A forked child
            cannot use the worker processes of its parent. It needs a stream of its own.

    Returns:
        An endless iterator over batches, which can be indexed and pickled (see `Batches`). A batch
        is a dict of NumPy arrays by column, `id` first, whose first axis is `batch_size`. Text is
        an object array of `str`.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: the split is empty.

    Example:
        >>> import synthbench
        >>> batches = synthbench.stream("identity", batch_size=4, seed=7)
        >>> {name: column.shape for name, column in next(batches).items()}
        {'id': (4,), 'x': (4, 5), 'label': (4, 5)}
        >>> batches.start, batches[1000]["x"].shape
        (1, (4, 5))
    """
    task = as_task(task)
    rows = StreamRows(Mixture.of(task), split, seed)
    return Batches(rows, Columns(task), batch_size, start, workers)
