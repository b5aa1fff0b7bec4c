"""Identity for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.identity.task import Identity


def draw_row(task: Identity, row: Mapping[str, Any]) -> str:
    """Both vectors, number under number."""

    def line(numbers: list[float]) -> str:
        return "  ".join(f"{number:+.7f}" for number in numbers)

    return f"x      {line(row['x'])}\nlabel  {line(row['label'])}"
