"""Copying for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.copying.solver import NOT_ASKED
from synthbench.tasks.copying.task import Copying

_WIDTH = 72


def draw_row(task: Copying, row: Mapping[str, Any]) -> str:
    """The tokens, and below each of them what is asked there."""
    words = row["text"].split()
    answers = ["" if symbol == NOT_ASKED else symbol for symbol in task.solve(row["text"])]
    width = max(map(len, words))
    count = max(1, _WIDTH // (width + 1))
    lines = []
    for first in range(0, len(words), count):
        for name, shown in (("row     ", words), ("answers ", answers)):
            part = " ".join(word.rjust(width) for word in shown[first : first + count])
            lines.append(f"{name} {part}".rstrip())
        lines.append("")
    return "\n".join(lines[:-1])
