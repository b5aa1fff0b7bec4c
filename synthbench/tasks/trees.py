"""Random expression trees, a whole block at a time, in flat arrays.

A tree is grown from the root level by level. All nodes of a level lie in one array, in the order
of their trees, so the arguments of an operator are one contiguous run of the next level, and
folding upwards is a gather. No Python loop runs over trees or nodes, only over levels.

The proposal is that of NDR, section C.2: the root is an operator, each argument is an operator
with a fixed probability, the number of arguments, operators and digits are uniform. Two shortcuts
leave the distribution of what is kept exactly as it was:

- `grow` can draw from the proposal *given* that a tree has at least some depth. Top-down this
  takes one small table: the chance that an operator with so many levels left reaches a depth.
- A tree is dropped as soon as the tokens that are already certain pass the length limit.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, cumulative_thresholds, threshold


@dataclasses.dataclass(frozen=True)
class Grammar:
    """Which trees may grow.

    Attributes:
        p_op: chance that an argument is an operator, where depth allows one.
        min_args: arguments of an operator, at least.
        max_args: arguments of an operator, at most; their number is uniform.
        max_depth: operators on the longest path, at most.
        max_length: tokens of a tree, at most.
        operators: number of different operators.
        separators: tokens between two neighbouring arguments (an infix operator: 1).
        digits: number of different leaves.

    An operator has one token before its arguments and one behind them.
    """

    p_op: float
    min_args: int
    max_args: int
    max_depth: int
    max_length: int
    operators: int
    separators: int = 0
    digits: int = 10

    def tokens(self, arity: int) -> int:
        """Tokens of an operator over `arity` digits."""
        return 2 + arity + self.separators * (arity - 1)

    def shortest(self, depth: int) -> int:
        """Tokens of the shortest tree of this depth (1: one operator over digits)."""
        smallest = self.tokens(self.min_args)
        return smallest + (depth - 1) * (smallest - 1)

    def count(self, depth: int) -> int:
        """How many different trees have exactly this depth, within the length limit."""
        return self.count_up_to(depth) - self.count_up_to(depth - 1)

    def count_up_to(self, depth: int) -> int:
        """How many different trees have depth 1 to `depth`, within the length limit."""
        trees = [0] * (self.max_length + 1)  # by length
        for _ in range(depth):
            argument = list(trees)
            argument[1] += self.digits
            trees = [0] * (self.max_length + 1)
            run = [1] + [0] * self.max_length
            for arity in range(1, self.max_args + 1):
                run = _convolve(run, argument)
                if arity >= self.min_args:
                    overhead = self.tokens(arity) - arity
                    for length in range(len(trees) - overhead):
                        trees[length + overhead] += self.operators * run[length]
        return sum(trees)


def _convolve(left: list[int], right: list[int]) -> list[int]:
    product = [0] * len(left)
    for i, a in enumerate(left):
        if a:
            for j in range(len(left) - i):
                product[i + j] += a * right[j]
    return product


class Level(NamedTuple):
    """All nodes of one level, in the order of their trees.

    Attributes:
        tree: number of the tree each node belongs to, int32 `(nodes,)`, ascending.
        operator: whether each node is an operator, bool `(nodes,)`.
        arity: number of arguments of each operator, int64 `(operators,)`.
        symbol: each node's digit, or the index of its operator, uint8 `(nodes,)`.
    """

    tree: NDArray[np.int32]
    operator: NDArray[np.bool_]
    arity: NDArray[np.int64]
    symbol: NDArray[np.uint8]

    def arguments(self, width: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where the operators' arguments lie in the next level.

        Returns:
            Indices int64 `(width, operators)`, and whether there is such an argument, bool of the
            same shape; an index beyond an operator's last argument points at its first.
        """
        first = np.cumsum(self.arity) - self.arity
        rank = np.arange(width)[:, None]
        exists = rank < self.arity
        return np.where(exists, first + rank, first), exists

    def sums(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sums over each operator's arguments, from the next level's `values` int64."""
        first = np.cumsum(self.arity) - self.arity
        return np.add.reduceat(values, first) if len(first) else np.zeros(0, np.int64)


@dataclasses.dataclass(frozen=True)
class Forest:
    """Many trees: `levels` from the roots down, the last of them without operators."""

    trees: int
    grammar: Grammar
    levels: tuple[Level, ...]

    def select(self, keep: NDArray[np.bool_]) -> Forest:
        """The trees for which `keep`, bool `(trees,)`, is true, numbered anew from 0."""
        number = (np.cumsum(keep) - 1).astype(np.int32)
        levels = []
        for level in self.levels:
            nodes = keep[level.tree]
            levels.append(
                Level(
                    tree=number[level.tree[nodes]],
                    operator=level.operator[nodes],
                    arity=level.arity[nodes[level.operator]],
                    symbol=level.symbol[nodes],
                )
            )
        return Forest(int(keep.sum()), self.grammar, tuple(levels))

    def depths(self) -> NDArray[np.int8]:
        """Operators on the longest path of each tree, int8 `(trees,)`."""
        depths = np.zeros(self.trees, np.int8)
        for depth, level in enumerate(self.levels, start=1):
            depths[level.tree[level.operator]] = depth
        return depths

    def lengths(self) -> list[NDArray[np.int64]]:
        """Tokens of every node's subtree, level by level."""
        lengths = [np.ones(len(self.levels[-1].tree), np.int64)]
        for level in reversed(self.levels[:-1]):
            own = np.ones(len(level.tree), np.int64)
            own[level.operator] = (
                2 + self.grammar.separators * (level.arity - 1) + level.sums(lengths[0])
            )
            lengths.insert(0, own)
        return lengths

    def starts(self, lengths: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """Position of every node's first token in its tree, level by level."""
        starts = [np.zeros(self.trees, np.int64)]
        for level, child_lengths in zip(self.levels, lengths[1:], strict=False):
            step = child_lengths + self.grammar.separators
            before = np.cumsum(step) - step
            first = np.cumsum(level.arity) - level.arity
            base = starts[-1][level.operator] + 1 - (before[first] if len(first) else 0)
            starts.append(before + np.repeat(base, level.arity))
        return starts


def grow(draws: Draws, n: int, grammar: Grammar, reach: int = 1) -> Forest:
    """Draw `n` trees given that their depth is at least `reach`; drop those that are too long.

    Args:
        draws: the only randomness used.
        n: number of trees drawn, at least 1.
        grammar: the proposal.
        reach: depth that every tree has at least, 1 to `grammar.max_depth`.

    Returns:
        The trees with at most `grammar.max_length` tokens: a proposal of `n` rows given `reach`,
        less those that are too long.

    Source: NDR, section C.2, sampled exactly.
    """
    tree = np.arange(n, dtype=np.int32)
    operator = np.ones(n, np.bool_)
    goal = np.full(n, reach if reach > 1 else 0, np.int8)
    length = np.full(n, grammar.shortest(reach), np.int64)  # tokens that are certain
    slack = grammar.tokens(grammar.min_args) - 1  # by how much an operator is longer than a digit
    shapes: list[tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]]]
    shapes = []
    for height in range(grammar.max_depth, 0, -1):
        chances = _chances(grammar, height)
        owner = tree[operator]
        arity, leader = _draw_arities(draws, grammar, chances, goal)
        extra = (1 + grammar.separators) * (arity - grammar.min_args)
        length += np.bincount(owner, extra, n).astype(np.int64)
        shapes.append((tree, operator, owner, arity))
        alive = length[owner] <= grammar.max_length
        owner, arity, goal, leader = owner[alive], arity[alive], goal[alive], leader[alive]

        tree = np.repeat(owner, arity)
        aim = _aims(goal, arity, leader)
        operator = draws.halves(len(tree)) < chances.operator[aim]
        certain = aim > 0
        length += np.bincount(tree, slack * (operator & ~certain), n).astype(np.int64)
        goal = np.where(aim == 1, 0, aim)[operator].astype(np.int8)
    shapes.append((tree, operator, tree[operator], np.zeros(0, np.int64)))

    keep = length <= grammar.max_length
    number = (np.cumsum(keep) - 1).astype(np.int32)
    levels = []
    for tree, operator, owner, arity in shapes:
        nodes = keep[tree]
        operator = operator[nodes]
        kinds = np.where(operator, np.uint64(grammar.operators), np.uint64(grammar.digits))
        symbol = (draws.halves(len(operator)) * kinds) >> np.uint64(32)
        levels.append(
            Level(number[tree[nodes]], operator, arity[keep[owner]], symbol.astype(np.uint8))
        )
    return Forest(int(keep.sum()), grammar, tuple(levels))


class _Chances(NamedTuple):
    """Tables for the operators that have a given number of levels left, themselves included.

    Indexed by an aim: 0 is an argument or operator drawn freely, `j > 0` an operator that reaches
    depth `j`, `-j` an argument that is not an operator of depth `j` or more (so -1 is a digit).

    Attributes:
        operator: thresholds for "this argument is an operator", uint64, by aim.
        arity: thresholds for the number of arguments, uint64 `(aims, max_args - min_args)`.
        leader: chance that one of the first `i + 1` arguments of an operator that reaches depth
            `j` is an operator that reaches depth `j - 1`, float64 `(max_depth + 1, max_args)`.
    """

    operator: NDArray[np.uint64]
    arity: NDArray[np.uint64]
    leader: NDArray[np.float64]


@functools.lru_cache(maxsize=256)
def _chances(grammar: Grammar, height: int) -> _Chances:
    depths = range(1, grammar.max_depth + 1)
    arities = range(grammar.min_args, grammar.max_args + 1)
    p_op = grammar.p_op if height > 1 else 0.0
    reach = _reach(grammar, height - 1)

    # Negative aims use Python's (and NumPy's) indexing from the end.
    operator = np.zeros(2 * grammar.max_depth + 1, np.uint64)
    arity = np.zeros((2 * grammar.max_depth + 1, len(arities) - 1), np.uint64)
    leader = np.zeros((grammar.max_depth + 1, grammar.max_args))
    operator[0] = threshold(p_op)
    arity[0] = cumulative_thresholds([1.0] * len(arities))
    for depth in depths:
        child = p_op * reach[depth]
        operator[depth] = threshold(1.0)
        operator[-depth] = threshold((p_op - child) / (1.0 - child)) if child < 1.0 else 0
        if depth > 1:
            child = p_op * reach[depth - 1]
            none = [_power(1.0 - child, count) for count in range(grammar.max_args + 1)]
            leader[depth] = [1.0 - none[rank + 1] for rank in range(grammar.max_args)]
            if child > 0.0:
                arity[depth] = cumulative_thresholds([1.0 - none[count] for count in arities])
            if child < 1.0:
                arity[-depth] = cumulative_thresholds([none[count] for count in arities])
    return _Chances(operator, arity, leader)


@functools.lru_cache(maxsize=256)
def _reach(grammar: Grammar, height: int) -> tuple[float, ...]:
    """The chance that an operator with `height` levels left has depth `j` or more, by `j`."""
    if height == 0:
        return (1.0,) + (0.0,) * grammar.max_depth
    below = _reach(grammar, height - 1)
    p_op = grammar.p_op if height > 1 else 0.0
    arities = range(grammar.min_args, grammar.max_args + 1)
    chances = [1.0, 1.0]
    for depth in range(2, grammar.max_depth + 1):
        miss = sum(_power(1.0 - p_op * below[depth - 1], arity) for arity in arities)
        chances.append(1.0 - miss / len(arities))
    return tuple(chances)


def _power(base: float, exponent: int) -> float:
    """`base ** exponent` by multiplication: the same bits with every C library."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


def _draw_arities(
    draws: Draws, grammar: Grammar, chances: _Chances, goal: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The operators' numbers of arguments and, where one must be deep, the first that is.

    Returns:
        `arity` int64 and `leader` int64, both `(operators,)`; `leader` counts from 0 and is 0
        where the goal asks for none.
    """
    uniform = draws.halves(len(goal)).astype(np.uint64)
    arity = np.full(len(goal), grammar.min_args, np.int64)
    for thresholds in chances.arity.T:
        arity += uniform >= thresholds[goal]
    leader = np.zeros(len(goal), np.int64)
    deep = np.flatnonzero(goal > 0)
    if len(deep):
        until = chances.leader[goal[deep]]
        drawn = draws.floats(len(deep)) * until[np.arange(len(deep)), arity[deep] - 1]
        rank = (drawn[:, None] >= until).sum(axis=1)
        leader[deep] = np.minimum(rank, arity[deep] - 1)
    return arity, leader


def _aims(
    goal: NDArray[np.int8], arity: NDArray[np.int64], leader: NDArray[np.int64]
) -> NDArray[np.int8]:
    """What each argument must be, int8 `(arguments,)`: see `_Chances`.

    The leader of an operator that must reach depth `j` reaches `j - 1`, those before it do not,
    those behind it are free.
    """
    first = np.cumsum(arity) - arity
    aims = np.repeat(np.minimum(goal + 1, 0).astype(np.int8), arity)
    deep = np.flatnonzero(goal > 0)
    if len(deep):
        rank = np.arange(int(leader[deep].max()))
        before = rank < leader[deep, None]
        position = (first[deep, None] + rank)[before]
        aims[position] = np.broadcast_to(1 - goal[deep, None], before.shape)[before]
        aims[first[deep] + leader[deep]] = goal[deep] - 1
    return aims
