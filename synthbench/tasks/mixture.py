"""Several tasks that take turns, row by row, in proportion to their weights.

    weights          listops 2, parity 1
    row              0        1       2        3        4       5
    task             listops  parity  listops  listops  parity  listops
    its own row      0        0       1        2        1       3

The turns repeat after as many rows as the weights add up to. So row `i` depends on the weights and
on `i` alone, fewer rows are the first rows of more, and the rows of every task keep their order.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.errors import UsageError
from synthbench.tasks.base import Task
from synthbench.text.lines import short

T = TypeVar("T")
S = TypeVar("S")

#: What can be mixed: tasks, names of tasks, and dataset directories.
Source = str | Task | PathLike[str]
#: One source, several that share the rows equally, or weights by source.
Sources = Source | Sequence[Source] | Mapping[Source, int]
#: The largest weight.
_HEAVIEST = 10_000


@dataclasses.dataclass(frozen=True)
class Mixture(Generic[T]):
    """A mixture: parts that take turns by weight.

    Attributes:
        parts: the tasks, or anything that stands for them.
        weights: how many rows each of them has among `sum(weights)` rows.
    """

    parts: tuple[T, ...]
    weights: tuple[int, ...]

    @staticmethod
    def of(sources: Any) -> Mixture[Any]:
        """The user's `Sources` as a mixture. A single source is a mixture of one part.

        Raises:
            UsageError: nothing is given, a source comes twice, or a weight is not a whole number
                from 1.
        """
        if not isinstance(sources, Mapping | list | tuple):
            return Mixture((sources,), (1,))  # the caller checks the type
        for part in sources:
            if not isinstance(part, str | Task | PathLike):
                raise UsageError(
                    f"Tasks {short(sources)}: expected tasks, their names or dataset directories; "
                    f"{short(part)} is none of these."
                )
        if not isinstance(sources, Mapping):
            parts = tuple(sources)
            if len(set(parts)) < len(parts):
                raise UsageError(
                    f"Tasks {short(list(parts))}: each may be there once. For more of its rows "
                    "give weights, such as {'listops': 2, 'parity': 1}."
                )
            sources = dict.fromkeys(parts, 1)
        if not sources:
            raise UsageError("No task is given.")
        weights = [_weight(part, weight) for part, weight in sources.items()]
        shared = math.gcd(*weights)
        return Mixture(tuple(sources), tuple(weight // shared for weight in weights))

    @property
    def is_single(self) -> bool:
        """True if there is one part, which has all rows."""
        return len(self.parts) == 1

    def map(self, make: Callable[[T], S]) -> Mixture[S]:
        """The mixture of the results for the parts."""
        return Mixture(tuple(map(make, self.parts)), self.weights)

    @functools.cached_property
    def turns(self) -> tuple[int, ...]:
        """The number of the part of each row. Repeated for the rows that follow.

        A row goes to the part that lacks most of its share.
        """
        total, taken, turns = sum(self.weights), [0] * len(self.parts), []
        for row in range(1, total + 1):
            lacks = [
                row * weight - total * so_far
                for weight, so_far in zip(self.weights, taken, strict=True)
            ]
            turns.append(lacks.index(max(lacks)))
            taken[turns[-1]] += 1
        return tuple(turns)

    def counts(self, rows: int) -> list[int]:
        """Number of each part's rows among the first rows."""
        periods, rest = divmod(rows, len(self.turns))
        return [
            periods * weight + self.turns[:rest].count(part)
            for part, weight in enumerate(self.weights)
        ]

    def places(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of each row's part, and the number of the row among the part's own rows."""
        parts, earlier = self._turn_arrays
        periods, turns = np.divmod(rows, len(parts))
        return parts[turns], periods * np.array(self.weights)[parts[turns]] + earlier[turns]

    @functools.cached_property
    def _turn_arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The turns, and how many earlier turns the same part has had, int64 `(turns,)`."""
        turns = np.array(self.turns, np.int64)
        earlier = np.zeros_like(turns)
        for part, weight in enumerate(self.weights):
            earlier[turns == part] = np.arange(weight)
        return turns, earlier

    def whole_rows(self, sizes: Sequence[int]) -> int:
        """The most rows in which the weights hold exactly, if parts have so many rows."""
        periods = min(size // weight for size, weight in zip(sizes, self.weights, strict=True))
        return periods * len(self.turns)

    def interleave(self, rows: Sequence[Iterable[S]]) -> Iterator[S]:
        """The rows of the mixture from the rows of its parts, until a part runs out."""
        left = [iter(each) for each in rows]
        while True:
            for part in self.turns:
                try:
                    row = next(left[part])
                except StopIteration:
                    return
                yield row


def _weight(part: Any, weight: Any) -> int:
    return check_whole_number(f"Weight of {part}", weight, least=1, most=_HEAVIEST)
