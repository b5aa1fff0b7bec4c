"""Parity for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.parity.solver import asks_for_c, read_equation
from synthbench.tasks.parity.task import Parity


def draw_row(task: Parity, row: Mapping[str, Any]) -> str:
    """The equation with its answer, and which of a and b are odd."""
    a, b, c, d = read_equation(row["text"], task.parameters.n_values)
    letter, answer = ("c", c) if asks_for_c(a, b) else ("d", d)
    kinds = ["odd" if number % 2 else "even" for number in (a, b)]
    return f"{row['text']}  ->  {answer}\na is {kinds[0]}, b is {kinds[1]}: the answer is {letter}"
