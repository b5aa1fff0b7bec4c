"""Audit of rows that are trees of operators over digits.

The shortcuts look at a part of a tree: its root alone, its longest argument alone, its upper
levels alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from synthbench.tasks.audit_spec import AuditSpec, Claim, Columns, Levels, Shortcut, by_key, numbers
from synthbench.tasks.trees.expression import Deciding, Expression
from synthbench.tasks.trees.task import ExpressionTask

#: The value of a tree if cutting leaves nothing of it. Other values are not negative.
NOTHING = -1


class Look(NamedTuple):
    """The features of a tree that shortcuts read.

    Attributes:
        root: the number of the root's operator.
        longest: the value of the root's longest argument, the first of equally long arguments.
        cuts: the tree's values without the operators nested deeper than 1, 2 and so on.
        needed: the depth that is left when all arguments that do not decide are cut.
    """

    root: int
    longest: int
    cuts: tuple[int, ...]
    needed: int


def audit_spec(task: ExpressionTask) -> AuditSpec:
    """Shortcuts that look at a part of the tree, and depths that are not needed."""
    depth, trees = task.bucket_name, _Trees(task)
    return AuditSpec(
        shortcuts=(
            by_key(
                "root operator alone",
                "The most frequent label under the root's operator.",
                lambda columns: np.array([look.root for look in trees.looks(columns)]),
            ),
            by_key(
                "longest argument alone",
                "The most frequent label for the value of the root's longest argument.",
                lambda columns: np.array([look.longest for look in trees.looks(columns)]),
            ),
            *(_cut_below(levels, depth, trees) for levels in range(1, trees.deepest)),
        ),
        distributions={
            "operators": lambda columns: [operator.symbol for operator in trees.operators(columns)],
            "arguments of an operator": lambda columns: [
                len(operator.arguments) for operator in trees.operators(columns)
            ],
            "depth of deciding leaves": lambda columns: [
                depth for depth, _ in trees.leaves(columns)
            ],
            "place of deciding leaves among all, in tenths": lambda columns: [
                place for _, place in trees.leaves(columns)
            ],
        },
        near_duplicate_keys={
            "the same but for the order of arguments": lambda columns: task.problem(
                task.parse(columns)
            )
        },
        claims=(
            Claim(
                depth,
                f"Rows that need less depth than `{depth}` says (ties broken towards the "
                "shallowest argument).",
                lambda columns: np.array([look.needed for look in trees.looks(columns)]),
            ),
        ),
        levels=Levels(depth, lambda columns: numbers(columns[depth])),
    )


def _cut_below(levels: int, depth: str, trees: _Trees) -> Shortcut:
    return by_key(
        f"cut below level {levels}",
        "The most frequent label for the root's operator and the value of the tree without the "
        f"operators that are nested deeper than {levels}; in rows that claim to be deeper.",
        lambda columns: np.array(
            [(look.root, look.cuts[levels - 1]) for look in trees.looks(columns)]
        ),
        applies=lambda columns: numbers(columns[depth]) > levels,
    )


class _Trees:
    """The trees of rows, each read once: that takes most of an audit's time.

    Attributes:
        deepest: the largest depth that rows may have. Cuts are made above it.
    """

    def __init__(self, task: ExpressionTask) -> None:
        parameters = task.parameters
        self.deepest = max(
            parameters.train_depths + parameters.validation_depths + parameters.test_depths
        )
        self._deciding = task.deciding
        cached = functools.lru_cache(maxsize=1 << 16)
        self._read = cached(task.read)
        self._look = cached(lambda text: look(task, self.deepest, self._read(text)))

    def looks(self, columns: Columns) -> list[Look]:
        """The features of each row that shortcuts read."""
        return [self._look(text) for text in columns["text"].to_pylist()]

    def operators(self, columns: Columns) -> Iterator[Expression]:
        """All operators of all rows."""
        for text in columns["text"].to_pylist():
            yield from _operators(self._read(text))

    def leaves(self, columns: Columns) -> Iterator[tuple[int, int]]:
        """Depth and place of all leaves that decide."""
        for text in columns["text"].to_pylist():
            yield from deciding_leaves(self._deciding, self._read(text))


def look(task: ExpressionTask, deepest: int, tree: Expression) -> Look:
    """The features of one row's tree, with cuts below 1 to `deepest - 1` levels."""
    return Look(
        root=task.parameters.operators.index(tree.symbol),
        longest=max(tree.arguments, key=_tokens).value,
        cuts=tuple(cut_value(task, tree, levels) for levels in range(1, deepest)),
        needed=tree.dependency_depth,
    )


def _tokens(tree: Expression) -> int:
    """Tokens of the tree in prefix form, by which trees sort as in infix form."""
    if not tree.arguments:
        return 1
    return 2 + sum(map(_tokens, tree.arguments))


def cut_value(task: ExpressionTask, tree: Expression, levels: int) -> int:
    """The value of the tree without the operators below this many levels."""
    if tree.depth <= levels:
        return tree.value
    if levels == 0:
        return NOTHING
    values = [cut_value(task, argument, levels - 1) for argument in tree.arguments]
    left = [value for value in values if value != NOTHING]
    return task.apply(tree.symbol, left) if left else NOTHING


def _operators(tree: Expression) -> Iterator[Expression]:
    """The operators of a tree, the root first."""
    if tree.arguments:
        yield tree
        for argument in tree.arguments:
            yield from _operators(argument)


def deciding_leaves(deciding: Deciding, tree: Expression) -> Iterator[tuple[int, int]]:
    """Depth and place (0 to 9) of the leaves that decide the tree's value."""
    leaves = list(_leaves(deciding, tree, 0, True))
    for number, (depth, needed) in enumerate(leaves):
        if needed:
            yield depth, 10 * number // len(leaves)


def _leaves(
    deciding: Deciding, tree: Expression, depth: int, needed: bool
) -> Iterator[tuple[int, bool]]:
    """The depth of every leaf, from left to right, and whether it decides the value."""
    if not tree.arguments:
        yield depth, needed
        return
    kept = deciding(tree) if needed else []
    for argument in tree.arguments:
        yield from _leaves(deciding, argument, depth + 1, argument in kept)
