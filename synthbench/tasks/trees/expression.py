"""Expressions as the reference solvers read them: trees of operators over digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence


@dataclasses.dataclass(slots=True, eq=False)
class Expression:
    """A digit (no arguments) or an operator with its arguments. Equal to itself alone.

    Attributes:
        symbol: the digit or the operator.
        arguments: the arguments, in order.
        value: its value.
        depth: how many operators are nested, 0 for a digit.
        dependency_depth: the depth that is left when all arguments that do not decide are cut.
    """

    symbol: str
    arguments: list[Expression]
    value: int = 0
    depth: int = 0
    dependency_depth: int = 0


#: The arguments that decide an operator's value.
Deciding = Callable[[Expression], Sequence[Expression]]
