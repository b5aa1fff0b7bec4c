"""Grids for people: in the colours of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from synthbench.tasks.grid_count.task import GridCount

# The colours of ARC, whose puzzles the task comes from, among the 256 of a terminal.
_TERMINAL_COLORS = (16, 27, 160, 34, 220, 245, 164, 208, 117, 88)
_LIGHT = (4, 5, 7, 8)


def draw_row(task: GridCount, row: Mapping[str, Any]) -> Text:
    """The grid, and beside it the count of each cell's colour, or the commonest colour."""
    width = 1 + max(len(str(count)) for line in row["label"] for count in line)
    question = (
        "the commonest colour" if task.asks_commonest else "how often each cell's colour occurs"
    )
    drawn = Text(f"{row['size']}x{row['size']} grid, and {question}:")
    for colors, counts in zip(row["grid"], row["label"], strict=True):
        drawn.append("\n")
        for color in colors:
            drawn.append(f" {color or '.'}", _style(color))
        drawn.append("    ")
        for color, count in zip(colors, counts, strict=True):
            drawn.append(f"{count:{width}}", _style(count if task.asks_commonest else color))
    return drawn


def _style(color: int) -> str:
    """A style whose letters can be read on a background of this colour."""
    ink = "black" if color in _LIGHT else "bright_white"
    return f"{ink} on color({_TERMINAL_COLORS[color]})"
