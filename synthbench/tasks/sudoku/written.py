"""Grids as people and models write them."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from synthbench.tasks.scalar import Text
from synthbench.tasks.sequences import Sequence
from synthbench.tasks.sudoku.solver import BOXES

#: Longer texts are not read: a grid with borders has about 300 characters.
_LONGEST = 2_000
#: Signs between digits: spaces, lists, tables and borders.
_BETWEEN = re.compile(r"[\s,;\[\]()|+\-_=:\u2500-\u257f]*")


def lines(text: str) -> str:
    """A grid with each row on a line, and lines between its boxes.

    Example:
        >>> from synthbench.tasks.sudoku.written import lines
        >>> print(lines("1 . . 4 . . 1 . . 1 . . 4 . . 1"))
        1 . | . 4
        . . | 1 .
        ----+----
        . 1 | . .
        4 . | . 1
    """
    words = text.split(" ")
    if len(words) not in BOXES:
        return text
    (high, wide), size = BOXES[len(words)], math.isqrt(len(words))
    shown = []
    for row in range(size):
        if row and row % high == 0:
            shown.append("+".join("-" * (2 * wide + (0 < box < high - 1)) for box in range(high)))
        parts = [words[first : first + wide] for first in range(row * size, (row + 1) * size, wide)]
        shown.append(" | ".join(map(" ".join, parts)))
    return "\n".join(shown)


def read_grid(text: str, size: int) -> str | None:
    r"""The digits of a grid, separated by spaces. None for a text with any other sign.

    Example:
        >>> from synthbench.tasks.sudoku.written import read_grid
        >>> read_grid("12 | 34\n---+---\n[3, 4, 1, 2]", 4), read_grid("1 2 3 5", 4)
        ('1 2 3 4 3 4 1 2', None)
    """
    if len(text) > _LONGEST:
        return None
    digits = _BETWEEN.sub("", text)
    return " ".join(digits) if digits and set(digits) <= set("123456789"[:size]) else None


@dataclasses.dataclass(frozen=True)
class Grid(Text):
    """The cells of a puzzle, whose rows people see on lines."""

    def show(self, value: Any) -> str:
        return lines(str(value))


@dataclasses.dataclass(frozen=True)
class FilledGrid(Sequence):
    """A solved grid."""

    @property
    def expected(self) -> str:
        return "the digits of the filled grid, row by row"

    @property
    def wanted(self) -> str:
        return "the digits of the filled grid, row by row,"

    def show(self, value: Any) -> str:
        return lines(str(value))

    def read(self, prediction: Any, label: Any) -> str | None:
        """The grid as text, as lists of rows, or as a list or array of all digits."""
        if isinstance(prediction, str):
            return read_grid(prediction, len(self.tokens))
        if hasattr(prediction, "tolist"):
            prediction = prediction.tolist()
        if isinstance(prediction, list | tuple) and len(prediction) == len(self.tokens):
            if all(isinstance(row, list | tuple) for row in prediction):
                prediction = [cell for row in prediction for cell in row[: len(self.tokens) + 1]]
            elif all(isinstance(row, str) for row in prediction):
                return read_grid(" ".join(prediction), len(self.tokens))
        return super().read(prediction, label)
