"""Rounds of fresh rows: the unit in which a stream is made.

    round      0                1                2
    row        0 .. 65,535      65,536 ..        131,072 ..
    batch 3 of 30,000 rows      ^ rows 90,000 .. 119,999

Every round of a stream has the same number of rows, and is a pure function of task, split, seed and
its number. So row `i` does not depend on the batch size, on workers or on the rows before it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from synthbench.checks import check_whole_number
from synthbench.engine.engine import Engine
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.plan import Plan, divide
from synthbench.sampling.splits import SplitSampler
from synthbench.seeding import Draws
from synthbench.tasks.base import Task
from synthbench.tasks.row_ids import rows_table

if TYPE_CHECKING:
    import pyarrow as pa

#: The most rows of a round. A task with large rows makes smaller rounds. Rounds of evaluation
#: splits are smaller, because their rows are costly and the first rows should come soon.
ROUND_ROWS, EVALUATION_ROUND_ROWS = 65_536, 2_048
#: Bytes of an array that is freed before a round, untouched. From then on the GNU C library keeps
#: freed memory up to twice this size for the next arrays. New pages take a tenth of the time.
_FREED = 31 << 20

T = TypeVar("T")


class Rounds:
    """The rounds of a stream, each a pure function of its number.

    A round has the split's balance, and its rows are those that the split may have: held out for an
    evaluation split, not held out for train. Streams of splits that share buckets (iid and
    validation) divide the rows among themselves. No row occurs twice in a round, unless the split
    has fewer rows than a round. Then all occur before one repeats. A bucket with fewer rows than
    its share gives what it has, and other buckets fill the round.

    Args:
        task: the task.
        split: name of the split.
        seed: of the draws. Default: the task's.

    Attributes:
        task: the task.
        split: name of the split.
        seed: of the draws.
        size: rows of every round.

    Raises:
        UsageError: an unknown split, or a seed that is not a whole number from 0.
        ParameterError: the split is empty.
    """

    def __init__(self, task: Task, split: str, seed: int | None = None) -> None:
        task_split = task.split(split)
        self.task, self.split = task, split
        self.seed = task.seed if seed is None else check_whole_number("Seed", seed, least=0)
        self._split = task_split
        most = EVALUATION_ROUND_ROWS if task_split.evaluation else ROUND_ROWS
        self.size = min(most, task.stream_round_rows(task_split))
        self._plan = Plan({split: divide(task, task_split, self.size)})
        if not self._plan.rows(split):
            held_out = "are held out" if task_split.evaluation else "are not held out"
            raise ParameterError(f"Split {split} of {task.name}: no rows exist that {held_out}.")

    def rows(self, number: int) -> KeyedRows:
        """All rows of one round.

        Raises:
            ParameterError: no row was found that the split may have.
        """
        np.empty(_FREED, np.uint8)
        purpose = {"stream": number, "seed": self.seed}
        sampler = SplitSampler(
            self.task, self._split, self._plan, Engine(None, 1), purpose, recurring=True
        )
        parts = [drawn.rows() for drawn in sampler.rounds()]
        if not parts:
            raise ParameterError(
                f"Split {self.split} of {self.task.name}: no row was found that it may have."
            )
        rows = KeyedRows.concatenate(parts)
        if len(parts) == 1 and len(rows) == self.size:
            return rows
        # Fewer rows than a round exist: they repeat, in another order each time.
        again = {**self.task.stream, **purpose, "split": self.split, "again": True}
        epochs = -(-self.size // len(rows))
        orders = [Draws(again, epoch).permutation(len(rows)) for epoch in range(epochs)]
        return rows.take(np.concatenate(orders)[: self.size])

    def table(self, number: int) -> pa.Table:
        """All rows of one round, as a shard has them."""
        rows = self.rows(number)
        return rows_table(self.task, rows.block, rows.fingerprints)

    @contextlib.contextmanager
    def tables(self, workers: int = 1) -> Iterator[Callable[[int], pa.Table]]:
        """`table` for the length of a `with` block; `workers` processes make rounds ahead."""
        with open_engine(workers=workers) as engine:
            yield RoundReader(self.table, engine)

    def slices(self, first: int, count: int) -> Iterator[tuple[int, slice]]:
        """Slices of `count` rows from row `first` on: the number of each round, and its rows."""
        while count > 0:
            number, index = divmod(first, self.size)
            taken = min(count, self.size - index)
            yield number, slice(index, index + taken)
            first, count = first + taken, count - taken

    def to_dict(self) -> dict[str, Any]:
        """Everything that the rows depend on, as JSON values."""
        return {
            "task": self.task.name,
            "variant": self.task.variant,
            "parameters": self.task.parameters.to_dict(),
            "task_seed": self.task.seed,
            "split": self.split,
            "seed": self.seed,
        }


def _as_made(rows: Any) -> Any:
    return rows


class RoundReader(Generic[T]):
    """Rounds that an engine makes ahead of time. The last is kept.

    Args:
        make: gives a round by its number: a pure function.
        engine: makes the rounds.
        show: a function of a round whose result is kept. It runs in this process.
    """

    def __init__(
        self, make: Callable[[int], Any], engine: Engine, show: Callable[[Any], T] = _as_made
    ) -> None:
        self._make, self._engine, self._show = make, engine, show
        self._asked: dict[int, Future[Any]] = {}
        self._kept: tuple[int, T] | None = None

    def __call__(self, number: int) -> T:
        """The round of this number."""
        if self._kept is not None and self._kept[0] == number:
            return self._kept[1]
        self._kept = None
        window = range(number, number + self._engine.ahead + 1)
        for other in [pending for pending in self._asked if pending not in window]:
            self._asked.pop(other).cancel()
        for ahead in window:
            if ahead not in self._asked:
                self._asked[ahead] = self._engine.submit(self._make, ahead)
        shown = self._show(self._asked.pop(number).result())
        self._kept = number, shown
        return shown
