"""Expressions for people: trees drawn line by line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.trees.expression import Deciding, Expression
from synthbench.tasks.trees.task import ExpressionTask


def draw_row(task: ExpressionTask, row: Mapping[str, Any]) -> str:
    """The row's text and its tree."""
    return f"{row['text']}\n{draw_expression(task.read(row['text']), task.deciding)}"


def draw_expression(root: Expression, deciding: Deciding) -> str:
    """A tree, one node and its value a line; nodes that do not decide stand in brackets."""
    return "\n".join(_lines(root, deciding, True, "", ""))


def _lines(node: Expression, deciding: Deciding, needed: bool, first: str, rest: str) -> list[str]:
    label = node.symbol if node.symbol == str(node.value) else f"{node.symbol} = {node.value}"
    if not needed:
        label = f"({label}) not needed" if node.arguments else f"({label})"
    lines, kept = [first + label], deciding(node)
    for number, argument in enumerate(node.arguments, start=1):
        last = number == len(node.arguments)
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        lines += _lines(
            argument, deciding, needed and argument in kept, rest + branch, rest + below
        )
    return lines
