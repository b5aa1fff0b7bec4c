"""Grids for people: in the colours of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.grid_count.task import GridCount

# The colours of ARC, whose puzzles are the reason for counting, among a terminal's 256.
_TERMINAL_COLORS = (16, 27, 160, 34, 220, 245, 164, 208, 117, 88)
_LIGHT = (4, 5, 7, 8)


def draw_row(task: GridCount, row: Mapping[str, Any]) -> str:
    """The grid, and beside it the count of each cell's colour."""
    width = 1 + max(len(str(count)) for line in row["label"] for count in line)
    lines = [f"{row['size']}x{row['size']} grid, and how often each cell's colour occurs:"]
    for colors, counts in zip(row["grid"], row["label"], strict=True):
        grid = [paint(color, f" {color or '.'}") for color in colors]
        label = [
            paint(color, f"{count:{width}}") for color, count in zip(colors, counts, strict=True)
        ]
        lines.append("".join(grid) + "    " + "".join(label))
    return "\n".join(lines)


def paint(color: int, text: str) -> str:
    """The text on a background of this colour; without the escape codes it is plain text."""
    ink = 30 if color in _LIGHT else 97
    return f"\x1b[{ink};48;5;{_TERMINAL_COLORS[color]}m{text}\x1b[0m"
