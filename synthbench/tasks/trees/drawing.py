"""Expressions for people: trees drawn line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from synthbench.tasks.trees.expression import Deciding, Expression
from synthbench.tasks.trees.task import ExpressionTask

#: The styles of nodes that decide the value, and of those that do not.
_KEPT, _CUT = "green", "dim"


def draw_row(task: ExpressionTask, row: Mapping[str, Any]) -> Text:
    """The row's text and its tree, one node a line. Nodes that do not decide are in brackets."""
    tree = _lines(task.read(row["text"]), task.deciding, True, "", "")
    return Text("\n").join([Text(row["text"]), *tree])


def _lines(
    node: Expression, deciding: Deciding, needed: bool, first: str, rest: str
) -> Iterator[Text]:
    label = node.symbol if node.symbol == str(node.value) else f"{node.symbol} = {node.value}"
    if not needed:
        label = f"({label}) not needed" if node.arguments else f"({label})"
    yield Text.assemble(first, (label, _KEPT if needed else _CUT))
    kept = deciding(node)
    for number, argument in enumerate(node.arguments, start=1):
        branch, below = ("└─ ", "   ") if number == len(node.arguments) else ("├─ ", "│  ")
        decides = needed and argument in kept
        yield from _lines(argument, deciding, decides, rest + branch, rest + below)
