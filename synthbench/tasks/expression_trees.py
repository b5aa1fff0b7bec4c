"""Expressions as the reference solvers read them: trees of operators over digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence


@dataclasses.dataclass(slots=True, eq=False)
class Expression:
    """A digit (no arguments) or an operator with its arguments; equal to itself alone.

    Attributes:
        symbol: the digit or the operator.
        arguments: the arguments, in order.
        value: what it evaluates to.
        depth: how many operators are nested, 0 for a digit.
        dependency_depth: the depth that is left when every argument that does not decide is cut.
    """

    symbol: str
    arguments: list[Expression]
    value: int = 0
    depth: int = 0
    dependency_depth: int = 0


#: The arguments that decide an operator's value.
Deciding = Callable[[Expression], Sequence[Expression]]


def draw_expression(root: Expression, deciding: Deciding) -> str:
    """The tree, one node and its value a line, branches drawn; in brackets what is not needed."""
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
