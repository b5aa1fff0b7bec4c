"""What `audit` looks for in rows that are trees of operators over digits.

The shortcuts look at a part of a tree: its root alone, its longest argument alone, its upper
levels alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import (
    AuditSpec,
    Claim,
    Columns,
    Levels,
    Shortcut,
    by_key,
    numbers,
)
from synthbench.tasks.trees.expression import Deciding, Expression
from synthbench.tasks.trees.task import ExpressionTask

#: The value of a tree of which nothing is left after cutting; no other value is negative.
NOTHING = -1
#: Looks that are cached: several shortcuts look at the same rows.
_KEPT = 1 << 16


@dataclasses.dataclass(frozen=True)
class Reader:
    """How an audit reads a task's trees.

    Attributes:
        read: from a row's text to its tree.
        apply: the value of an operator over some values, one or more.
        deciding: the arguments that decide an operator's value.
        operators: the operators that are drawn.
    """

    read: Callable[[str], Expression]
    apply: Callable[[str, list[int]], int]
    deciding: Deciding
    operators: tuple[str, ...]

    def gather(self, columns: Columns, look: Callable[[Expression], Iterator[Any]]) -> list[Any]:
        """What `look` finds in each row's tree, all rows in one list."""
        return [found for text in columns["text"].to_pylist() for found in look(self.read(text))]


class Look(NamedTuple):
    """What can be seen in parts of a tree.

    Attributes:
        root: number of the root's operator.
        longest: value of the root's longest argument; of equally long ones the first.
        cuts: value of the tree without the operators nested deeper than 1, 2 and so on.
        needed: the depth that is left when every argument that does not decide is cut.
    """

    root: int
    longest: int
    cuts: tuple[int, ...]
    needed: int


#: From columns to what can be seen in each row's tree.
Looks = Callable[[Columns], list[Look]]


def tree_audit_spec(task: ExpressionTask, reader: Reader) -> AuditSpec:
    """What to look for in rows of trees.

    Args:
        task: the task; its `bucket_name` is the column that says how deep a row is.
        reader: how the trees are read.
    """
    chosen, depth = task.parameters, task.bucket_name
    deepest = max(chosen.train_depths + chosen.validation_depths + chosen.test_depths)
    look = functools.lru_cache(maxsize=_KEPT)(functools.partial(_look, reader, deepest))

    def looks(columns: Columns) -> list[Look]:
        return [look(text) for text in columns["text"].to_pylist()]

    def claimed(columns: Columns) -> NDArray[np.int64]:
        return numbers(columns[depth])

    def without_order(columns: Columns) -> NDArray[np.uint64]:
        return task.problem(task.parse(columns))

    claim = Claim(
        depth,
        f"Rows whose value is settled at a smaller depth than `{depth}` says, when of arguments "
        "that decide alike the shallowest is taken.",
        lambda columns: (claimed(columns), np.array([one.needed for one in looks(columns)])),
    )
    cuts = (_cut_shortcut(looks, claimed, levels) for levels in range(1, deepest))
    return AuditSpec(
        shortcuts=(*_root_shortcuts(looks), *cuts),
        distributions=_distributions(reader),
        near_duplicate_keys={"the same but for the order of arguments": without_order},
        claims=(claim,),
        levels=Levels(depth, claimed),
    )


def _root_shortcuts(looks: Looks) -> tuple[Shortcut, ...]:
    return (
        by_key(
            "root operator alone",
            "The most frequent label under the root's operator.",
            lambda columns: np.array([one.root for one in looks(columns)]),
        ),
        by_key(
            "longest argument alone",
            "The most frequent label for the value of the root's longest argument.",
            lambda columns: np.array([one.longest for one in looks(columns)]),
        ),
    )


def _cut_shortcut(
    looks: Looks, claimed: Callable[[Columns], NDArray[np.int64]], levels: int
) -> Shortcut:
    return by_key(
        f"cut below level {levels}",
        "The most frequent label for the root's operator and the value of the tree without the "
        f"operators that are nested deeper than {levels}; in rows that claim to be deeper.",
        lambda columns: np.array([(one.root, one.cuts[levels - 1]) for one in looks(columns)]),
        applies=lambda columns: claimed(columns) > levels,
    )


def _distributions(reader: Reader) -> dict[str, Callable[[Columns], list[Any]]]:
    return {
        "operators": lambda columns: reader.gather(columns, _operators),
        "arguments of an operator": lambda columns: reader.gather(columns, _arities),
        "depth of deciding leaves": lambda columns: reader.gather(
            columns, lambda tree: (depth for depth, _ in _deciding_leaves(reader, tree))
        ),
        "place of deciding leaves among all, in tenths": lambda columns: reader.gather(
            columns, lambda tree: (place for _, place in _deciding_leaves(reader, tree))
        ),
    }


# What can be seen in one tree.


def _look(reader: Reader, deepest: int, text: str) -> Look:
    tree = reader.read(text)
    longest = max(tree.arguments, key=_tokens)
    return Look(
        root=reader.operators.index(tree.symbol),
        longest=longest.value,
        cuts=tuple(_cut_value(reader, tree, levels) for levels in range(1, deepest)),
        needed=_needed(reader, tree),
    )


def _tokens(tree: Expression) -> int:
    """Tokens of the tree in prefix form; infix form sorts trees in the same order."""
    if not tree.arguments:
        return 1
    return 2 + sum(_tokens(argument) for argument in tree.arguments)


def _cut_value(reader: Reader, tree: Expression, levels: int) -> int:
    """The value of the tree without the operators below so many levels."""
    if not tree.arguments:
        return tree.value
    if levels == 0:
        return NOTHING
    left = [_cut_value(reader, argument, levels - 1) for argument in tree.arguments]
    left = [value for value in left if value != NOTHING]
    return reader.apply(tree.symbol, left) if left else NOTHING


def _needed(reader: Reader, tree: Expression) -> int:
    """The depth that is left when every argument that does not decide is cut."""
    if not tree.arguments:
        return 0
    return 1 + max(_needed(reader, argument) for argument in reader.deciding(tree))


def _inner(tree: Expression) -> Iterator[Expression]:
    """The operators of a tree, the root first."""
    if tree.arguments:
        yield tree
        for argument in tree.arguments:
            yield from _inner(argument)


def _operators(tree: Expression) -> Iterator[str]:
    return (node.symbol for node in _inner(tree))


def _arities(tree: Expression) -> Iterator[int]:
    return (len(node.arguments) for node in _inner(tree))


def _deciding_leaves(reader: Reader, tree: Expression) -> Iterator[tuple[int, int]]:
    """Depth and place (0 to 9) of the leaves that decide the tree's value."""
    leaves = list(_leaves(reader, tree, 0, True))
    for number, (depth, needed) in enumerate(leaves):
        if needed:
            yield depth, 10 * number // len(leaves)


def _leaves(
    reader: Reader, tree: Expression, depth: int, needed: bool
) -> Iterator[tuple[int, bool]]:
    """Depth of every leaf from left to right, and whether it decides."""
    if not tree.arguments:
        yield depth, needed
        return
    kept = reader.deciding(tree) if needed else []
    for argument in tree.arguments:
        yield from _leaves(reader, argument, depth + 1, argument in kept)
