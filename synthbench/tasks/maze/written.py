"""Mazes and paths as people and models write them."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from synthbench.tasks.maze.solver import MOVES
from synthbench.tasks.scalar import Text
from synthbench.tasks.sequences import Sequence

#: Longer texts are not read: a grid of the largest size has 1,681 cells.
_LONGEST = 10_000
_ARROWS = str.maketrans({"↑": "U", "→": "R", "↓": "D", "←": "L", "⬆": "U", "➡": "R", "⬇": "D",
                         "⬅": "L", "\ufe0f": None})  # fmt: skip
_WORDS = re.compile(r"\b(?:up|right|down|left)\b", re.IGNORECASE)


def lines(text: str) -> str:
    """A grid with each of its rows on a line."""
    words = text.split(" ")
    size = math.isqrt(len(words))
    rows = (words[first : first + size] for first in range(0, len(words), size))
    return "\n".join(map(" ".join, rows))


@dataclasses.dataclass(frozen=True)
class Maze(Text):
    """The cells of a maze, whose rows people see on lines."""

    def show(self, value: Any) -> str:
        return lines(str(value))


@dataclasses.dataclass(frozen=True)
class MarkedMaze(Sequence):
    """A maze with its path marked. As an answer of a language model, the moves of the path."""

    tokens: tuple[str, ...] = ("#", ".", "S", "G", "*")

    @property
    def expected(self) -> str:
        return "the maze with * on the path, or its moves such as R R D L"

    @property
    def wanted(self) -> str:
        return "the moves, separated by spaces,"

    def show(self, value: Any) -> str:
        return lines(str(value))

    def format_answer(self, value: Any) -> str:
        return walked(str(value))


def walked(label: str) -> str:
    """The moves along the path that is marked in a label. Any other text stays as it is."""
    words = label.split(" ")
    size, goes_on = math.isqrt(len(words)), "S" in words
    place, last = words.index("S") if goes_on else 0, -1
    path: list[str] = []
    while goes_on and len(path) < len(words):
        near = {name: place + down * size + right for name, (down, right) in MOVES.items()}
        moves = [
            name
            for name, there in near.items()
            if there != last and 0 <= there < len(words) and words[there] in ("*", "G")
        ]
        goes_on = bool(moves)
        if goes_on:
            path.append(moves[0])
            last, place = place, near[moves[0]]
            if words[place] == "G":
                return " ".join(path)
    return label


def mark_moves(grid: list[list[str]], path: str) -> str:
    """The grid with `*` on the free cells that moves reach before a wall.

    A path that is a grid itself, as `read_path` gives it, stays as it is.
    """
    steps = path.split(" ")
    if not set(steps) <= set(MOVES):
        return path
    cells = [list(row) for row in grid]
    row = next(row for row, line in enumerate(grid) if "S" in line)
    column = grid[row].index("S")
    for step in steps:
        down, right = MOVES[step]
        row, column = row + down, column + right
        if grid[row][column] == "#":  # as all cells of the border
            break
        if cells[row][column] == ".":
            cells[row][column] = "*"
    return " ".join(cell for line in cells for cell in line)


def read_path(text: str) -> str | None:
    r"""A grid or moves, with a space between two; None for any other text.

    Example:
        >>> from synthbench.tasks.maze.written import read_path
        >>> read_path("RR, d"), read_path("→ ↓"), read_path("Up, left"), read_path("right of it")
        ('R R D', 'R D', 'U L', None)
        >>> read_path("#S*\n.G#")
        '# S * . G #'
    """
    if len(text) > _LONGEST:
        return None
    text = _WORDS.sub(lambda word: word[0][0], text)
    if any(letter in text.upper() for letter in MOVES):  # arrows are between the moves
        text = re.sub("-*>|[→⇒]", " ", text)
    signs = "".join(text.translate(_ARROWS).split())
    if signs and set(signs) <= set("#.SG*"):
        return " ".join(signs)
    steps = re.sub(r"[,;\-]", "", signs).upper().removesuffix(".")
    return " ".join(steps) if steps and set(steps) <= set(MOVES) else None
