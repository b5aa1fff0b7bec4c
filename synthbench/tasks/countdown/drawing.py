"""Countdown for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.countdown.reading import calculations
from synthbench.tasks.countdown.task import Countdown


def draw_row(task: Countdown, row: Mapping[str, Any]) -> str:
    """The numbers and the target, then the label with a line for each of its calculations."""
    numbers = " ".join(f"[{number}]" for number in row["numbers"])
    lines = [f"{numbers} -> {row['target']}", f"{row['label']} = {row['target']}"]
    lines += (f"    {a} {sign} {b} = {c}" for a, sign, b, c in calculations(row["label"]))
    return "\n".join(lines)
