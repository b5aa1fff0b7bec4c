"""Addition for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.addition.solver import SIGNS, read_numbers
from synthbench.tasks.addition.task import Addition


def draw_row(task: Addition, row: Mapping[str, Any]) -> str:
    """The calculation as at school: one number below the other, carries above, the result below."""
    a, b = read_numbers(task.variant, task.parameters.zero_padding, row["text"])
    label = row["label"].replace(" ", "")
    is_reversed = task.parameters.order == "reversed"
    result = label[::-1] if is_reversed else label
    sign = SIGNS[task.variant]
    width = max(map(len, (a, f"{sign} {b}", result)))
    lines = [a.rjust(width), sign + b.rjust(width - 1), "-" * width, result.rjust(width)]
    if task.variant == "addition" and "1" in (carried := _carries(a, b)):
        lines.insert(0, carried.rjust(width))
    if is_reversed:
        lines.append(f"answer, the least significant digit first: {label}")
    return "\n".join(line.rstrip() for line in lines)


def _carries(a: str, b: str) -> str:
    """A 1 above every place that a carry goes to, spaces above the others."""
    marks, carry = " ", 0
    width = max(len(a), len(b))
    for digit, other in zip(a.zfill(width)[::-1], b.zfill(width)[::-1], strict=True):
        carry = (int(digit) + int(other) + carry) // 10
        marks = (str(carry) if carry else " ") + marks
    return marks
