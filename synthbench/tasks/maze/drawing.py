"""Mazes for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.maze.solver import read
from synthbench.tasks.maze.task import MazeTask
from synthbench.tasks.maze.written import walked

_CELLS = {"#": "\u2588\u2588", ".": "  ", "S": "S ", "G": "G ", "*": "\u00b7 "}


def draw_row(task: MazeTask, row: Mapping[str, Any]) -> str:
    """The maze with its path as points, and the moves."""
    words, size = row["label"].split(" "), len(read(row["text"]))
    lines = [words[first : first + size] for first in range(0, len(words), size)]
    drawn = ["".join(map(_CELLS.__getitem__, line)) for line in lines]
    return "\n".join([*drawn, f"{row['steps']} steps: {walked(row['label'])}"])
