"""State tracking for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synthbench.tasks.state_tracking.solver import running_products
from synthbench.tasks.state_tracking.task import StateTracking

_WIDTH = 72


def draw_row(task: StateTracking, row: Mapping[str, Any]) -> str:
    """The elements, and below each of them the product so far."""
    elements = row["text"].split()
    products = running_products(task.rule, row["text"])
    return "\n\n".join(_lines(elements, products))


def _lines(elements: list[str], products: list[str]) -> Iterator[str]:
    width = max(map(len, [*elements, *products]))
    count = max(1, _WIDTH // (width + 1))
    for first in range(0, len(elements), count):
        above, below = (
            " ".join(word.rjust(width) for word in words[first : first + count])
            for words in (elements, products)
        )
        yield f"elements  {above}\nproducts  {below}"
