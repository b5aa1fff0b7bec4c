"""Nested brackets of many rows at once, the innermost first.

    [SM 3 [MIN 0 [MAX 1 2 ] ] ]        [MAX: 1 2      [MIN: 0 [MAX      [SM: 3 [MIN

All rows are one long array of tokens, in which a bracket is the place of the token that opens it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.trees.problems import brackets

Places = NDArray[np.intp]


@dataclasses.dataclass(frozen=True)
class Nesting:
    """The tokens of rows, of which each is one bracket or one other token.

    Attributes:
        tokens: the ids of all tokens, one row after another.
        roots: the place of each row's first token, `(rows,)`.
        levels: for each level of nesting the places of its tokens, without closing brackets.
        opening: which of the tokens open a bracket.
    """

    tokens: NDArray[np.integer[Any]]
    roots: Places
    levels: list[Places]
    opening: NDArray[np.bool_]

    @classmethod
    def read(cls, ids: NDArray[np.integer[Any]], tokens: Sequence[str]) -> Nesting:
        """The nesting of rows, ids `(rows, width)` of `tokens`, padded with 0.

        Raises:
            ValueError: a row is more or less than one whole bracket or token.
        """
        used = ids > 0
        flat, lengths = ids[used], used.sum(axis=1)
        opens, closes = (bracket.take(flat) for bracket in brackets(tokens))
        roots = np.cumsum(lengths) - lengths
        after = np.cumsum(opens.astype(np.int8) - closes, dtype=np.int32)
        inside = np.flatnonzero(~closes)
        level = (after - opens)[inside]
        if after[-1:].any() or after.min(initial=0) < 0:
            raise ValueError("brackets do not match")
        order = np.argsort(level.astype(np.int16), kind="stable")
        ends = np.cumsum(np.bincount(level))
        levels = np.split(inside[order], ends[:-1])
        if not np.array_equal(levels[0], roots):
            raise ValueError("a row is not one expression")
        return cls(flat, roots, levels, opens)

    def from_inside(self) -> Iterator[tuple[Places, Places]]:
        """Brackets that have the same level and as many parts, deeper brackets first.

        Yields:
            The places of some brackets, `(brackets,)`, and of their parts, `(brackets, parts)`.

        Raises:
            ValueError: a bracket is empty.
        """
        for outer, parts in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True):
            around = outer[self.opening[outer]]
            first = np.searchsorted(parts, around)
            counts = np.diff(first, append=len(parts))
            for count in np.unique(counts).tolist():
                if not count:
                    raise ValueError("an empty bracket")
                alike = counts == count
                yield around[alike], parts[first[alike][:, None] + np.arange(count)]
