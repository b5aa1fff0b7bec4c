"""Sudoku for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.sudoku.task import Sudoku
from synthbench.tasks.sudoku.written import lines


def draw_row(task: Sudoku, row: Mapping[str, Any]) -> str:
    """The puzzle with its solution beside it."""
    grids = (lines(str(row[name])).splitlines() for name in ("text", "label"))
    beside = ["     ".join(pair) for pair in zip(*grids, strict=True)]
    return "\n".join([*beside, f"{row['clues']} clues, {row['nodes']} search nodes"])
