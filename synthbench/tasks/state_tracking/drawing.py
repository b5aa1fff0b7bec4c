"""State tracking for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.state_tracking.solver import running_products
from synthbench.tasks.state_tracking.task import StateTracking
from synthbench.text.lines import beside


def draw_row(task: StateTracking, row: Mapping[str, Any]) -> str:
    """The elements, and below each of them the product so far."""
    products = running_products(task.rule, row["text"])
    return beside({"elements": row["text"].split(), "products": products})
