"""Rows of endless streams by their numbers, of one task or of several that take turns."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.engine.engine import Engine
from synthbench.errors import UsageError
from synthbench.streaming.rounds import RoundReader, Rounds
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.numeric import by_quotient

#: The largest number of a row, which fits in 64 bits.
_LAST = 2**63 - 1


class StreamRows:
    """A sequence of fresh rows: row `i` is a pure function of the arguments and `i`.

    Args:
        tasks: the tasks with their weights.
        split: as in `synthbench.stream`.
        seed: seed of the draws, as in `synthbench.stream`.

    Attributes:
        tasks: the tasks with their weights.
        rounds: the rounds of each task.

    Raises:
        UsageError: unknown split, or a seed that is not a whole number from 0.
        ParameterError: the split of a task is empty.

    Example:
        >>> import synthbench
        >>> from synthbench.streaming.rows import StreamRows
        >>> from synthbench.tasks.mixture import Mixture
        >>> rows = StreamRows(Mixture.of(synthbench.task("parity")), "train", seed=7)
        >>> task, row = rows[1_000_000]
        >>> row["text"]
        '1 10 5 4 ='
    """

    def __init__(self, tasks: Mixture[Task], split: str, seed: int | None = None) -> None:
        self.tasks = tasks
        self.rounds = tasks.map(lambda task: Rounds(task, split, seed))
        self._made = tasks, split, seed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made

    def __repr__(self) -> str:
        tasks, split, seed = self._made
        drawn = "" if seed is None else f", seed {seed}"
        return f"<rows of {', '.join(map(repr, tasks.parts))}, split {split}{drawn}>"

    def __getitem__(self, number: int) -> tuple[Task, dict[str, Any]]:
        """The task of a row, and the row with its `id` as plain Python values."""
        number = check_whole_number("Row", number, least=0)
        ((part, (table,)),) = self.pieces(numbers(number, 1), self._tables)[1].items()
        (row,) = table.to_pylist()
        return self.tasks.parts[part], row

    @functools.cached_property
    def _tables(self) -> list[Callable[[int], Any]]:
        return [RoundReader(rounds.table, Engine(None, 1)) for rounds in self.rounds.parts]

    def pieces(
        self, rows: NDArray[np.int64], readers: Sequence[Callable[[int], Any]]
    ) -> tuple[NDArray[np.int64], dict[int, list[Any]]]:
        """Read rows from the rounds that contain them.

        Args:
            rows: ascending row numbers, int64 `(rows,)`.
            readers: for each task, a function from the number of a round to its rows, which have
                a method `take`.

        Returns:
            The index of each row's task, int64 `(rows,)`, and by index the task's rows, in order,
            as a piece for each round.
        """
        parts, own = self.tasks.places(rows)
        pieces: dict[int, list[Any]] = {}
        for part, rounds in enumerate(self.rounds.parts):
            for number, indices in by_quotient(own[parts == part], rounds.size):
                pieces.setdefault(part, []).append(readers[part](number).take(indices))
        return parts, pieces

    @property
    def unit(self) -> int:
        """A number of consecutive rows that consist of whole rounds of every task."""
        pairs = zip(self.rounds.parts, self.tasks.weights, strict=True)
        turns = math.lcm(
            *(rounds.size // math.gcd(rounds.size, weight) for rounds, weight in pairs)
        )
        return turns * sum(self.tasks.weights)

    def to_dict(self) -> dict[str, Any]:
        """Everything that the rows depend on, as JSON values: by name, a list of each task's."""
        parts = [rounds.to_dict() for rounds in self.rounds.parts]
        listed = {name: [part[name] for part in parts] for name in parts[0]}
        return {**listed, "weight": list(self.tasks.weights)}


def numbers(first: int, count: int, rank: int = 0, world_size: int = 1) -> NDArray[np.int64]:
    """The stream's numbers of the rows `first` to `first + count - 1` of a share.

    Row `j` of share `rank` is row `j * world_size + rank` of the stream.

    Raises:
        UsageError: as `check_row`.
    """
    check_row((first + count) * world_size)
    return (first + np.arange(count)) * world_size + rank


def check_row(number: int) -> None:
    """Raise a UsageError if the number of a row needs more than 63 bits."""
    if number > _LAST:
        raise UsageError(f"Row {number:,}: the last row of a stream is {_LAST:,}.")
