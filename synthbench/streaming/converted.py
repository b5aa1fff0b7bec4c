"""Rows of a round that are converted in parts, so that its first rows come soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.sampling.blocks import KeyedRows
from synthbench.tasks.base import Block
from synthbench.tasks.numeric import by_quotient

#: Rows that are converted together.
_TOGETHER = 4_096

R = TypeVar("R", Block, KeyedRows)


class ConvertedRows(Generic[R]):
    """Rows of a round, each converted with its part of the round when it is first read.

    A pickled copy is a block of all rows: a worker process converts what it sends.

    Args:
        rows: the rows as they were drawn.
        convert: a function of some of them, which gives each row the same in every selection.
    """

    def __init__(self, rows: R, convert: Callable[[R], Block]) -> None:
        self._rows: R = rows
        self._convert: Callable[[R], Block] = convert
        self._parts: dict[int, Block] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self._convert(self._rows).columns,)

    def take(self, indices: NDArray[np.int64]) -> Block:
        """Some of the rows, by their ascending indices."""
        blocks = [self._part(part).take(places) for part, places in by_quotient(indices, _TOGETHER)]
        return blocks[0] if len(blocks) == 1 else Block.concatenate(blocks)

    def _part(self, part: int) -> Block:
        if part not in self._parts:
            rows = self._rows.take(slice(part * _TOGETHER, (part + 1) * _TOGETHER))
            self._parts[part] = self._convert(rows)
        return self._parts[part]
