"""All trees of a depth, as a forest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.trees.grammar import Forest, Grammar, level_of


class _Listed(NamedTuple):
    """Trees whose arguments are listed before them.

    Attributes:
        symbol: each tree's digit, or the index of its operator, uint8 `(trees,)`.
        depth, tokens: of each, int64 `(trees,)`.
        arity: the number of its arguments, int8 `(trees,)`; 0 of a digit.
        first: the first of its arguments in `arguments`, int64 `(trees,)`.
        arguments: the number of every argument among the trees that are listed before, int64.
    """

    symbol: NDArray[np.uint8]
    depth: NDArray[np.int64]
    tokens: NDArray[np.int64]
    arity: NDArray[np.int8]
    first: NDArray[np.int64]
    arguments: NDArray[np.int64]


def every_tree(grammar: Grammar, depth: int) -> Forest:
    """Every tree of exactly this depth, at least 1, within the length limit."""
    leaves = np.zeros(grammar.digits, np.int64)
    arguments = _Listed(
        np.arange(grammar.digits, dtype=np.uint8), leaves, leaves + 1, leaves.astype(np.int8),
        leaves, leaves[:0],
    )  # fmt: skip
    digits, listed = arguments, []
    for height in range(1, depth + 1):
        trees = _operators(grammar, arguments, grammar.per_level * (depth - height))
        listed.append(arguments)
        arguments = _sorted(digits, trees)
    nodes = np.flatnonzero(trees.depth == depth)
    depths, levels = np.full(len(nodes), depth, np.int8), []
    for table in [trees, *reversed(listed)]:
        arity = table.arity.take(nodes)
        operators = np.flatnonzero(arity)
        arity = arity.take(operators)
        symbol = table.symbol.take(nodes)
        level = level_of(operators, arity, symbol.take(operators), symbol)
        levels.append(level)
        start = table.first.take(nodes.take(operators)) - level.first
        places = np.repeat(start, arity) + np.arange(arity.sum(dtype=np.int64))
        nodes = table.arguments.take(places)
    return Forest(grammar, tuple(levels), depths)


def _operators(grammar: Grammar, arguments: _Listed, above: int) -> _Listed:
    """The operators over these arguments that leave room for `above` tokens."""
    parts = []
    first = 0
    for arity in grammar.arities:
        own = grammar.tokens(arity) - arity
        runs = _runs(arguments.tokens, arity, grammar.max_length - above - own)
        count = len(runs) * grammar.operators
        symbol = np.tile(np.arange(grammar.operators, dtype=np.uint8), len(runs))
        depth = 1 + arguments.depth.take(runs).max(axis=1)
        tokens = own + arguments.tokens.take(runs).sum(axis=1)
        parts.append(
            _Listed(
                symbol,
                depth.repeat(grammar.operators),
                tokens.repeat(grammar.operators),
                np.full(count, arity, np.int8),
                first + np.arange(count) * arity,
                runs.repeat(grammar.operators, axis=0).reshape(-1),
            )
        )
        first += count * arity
    return _joined(parts)


def _runs(tokens: NDArray[np.int64], count: int, room: int) -> NDArray[np.int64]:
    """All sequences of `count` arguments with at most `room` tokens, int64 `(runs, count)`.

    Args:
        tokens: of the arguments, ascending.
        count: arguments of a sequence.
        room: the most tokens.
    """
    runs = np.zeros((1, 0), np.int64)
    left = np.array([room])
    for others in range(count - 1, -1, -1):
        fitting = tokens.searchsorted(left - others, side="right")
        ends = fitting.cumsum()
        last = np.arange(fitting.sum()) - (ends - fitting).repeat(fitting)
        runs = np.column_stack([runs.repeat(fitting, axis=0), last])
        left = left.repeat(fitting) - tokens.take(last)
    return runs


def _sorted(digits: _Listed, trees: _Listed) -> _Listed:
    """Digits and operators, the shortest first."""
    joined = _joined([digits, trees])
    order = np.argsort(joined.tokens, kind="stable")
    columns: list[Any] = [*(column.take(order) for column in joined[:-1]), joined.arguments]
    return _Listed(*columns)


def _joined(parts: list[_Listed]) -> _Listed:
    """All trees, in order. The numbers of their arguments stay."""
    rows: list[Any] = list(zip(*parts, strict=True))
    return _Listed(*map(np.concatenate, rows))
