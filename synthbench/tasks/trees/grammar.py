"""Expression trees, a whole block at a time, in flat arrays.

All nodes of a level lie in one array, in the order of their trees, so the arguments of an operator
are a contiguous run of the next level. Python loops run over levels only, not over trees or nodes.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import mix

Number = TypeVar("Number", np.int64, np.uint64)

#: So many trees are not counted exactly.
MANY = 1 << 63


@dataclasses.dataclass(frozen=True)
class Grammar:
    """The trees that the proposal can give.

    Attributes:
        p_op: chance that an argument is an operator, where depth allows it.
        min_args: arguments of an operator, at least.
        max_args: arguments of an operator, at most. Their number is uniform.
        max_depth: operators on the longest path, at most.
        max_length: tokens of a tree, at most.
        operators: how many different operators there are.
        separators: tokens between two neighbouring arguments (an infix operator: 1).
        digits: how many different leaves there are.

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

    @property
    def arities(self) -> range:
        """The possible numbers of arguments."""
        return range(self.min_args, self.max_args + 1)

    @property
    def per_level(self) -> int:
        """Tokens that each level adds to the shortest tree."""
        return self.tokens(self.min_args) - 1

    def tokens(self, arity: int) -> int:
        """Tokens of an operator over `arity` digits."""
        return 2 + arity + self.separators * (arity - 1)

    def shortest(self, depth: int) -> int:
        """Tokens of the shortest tree of this depth (0: a digit, 1: one operator over digits)."""
        return 1 + depth * self.per_level

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - a grammar is a value, and few are ever made
    def count(self, depth: int) -> int | None:
        """Number of different trees with exactly this depth, within the length limit.

        None if there are `MANY` or more: exact numbers of deep trees take seconds.
        """
        # The shortest trees of this depth alone, if they are within the limit.
        chain = (self.operators * self.digits ** (self.min_args - 1)) ** depth
        if chain >= MANY and self.shortest(depth) <= self.max_length:
            return None
        longest = 1
        for _ in range(depth):
            longest = min(
                self.tokens(self.max_args) + self.max_args * (longest - 1), self.max_length
            )
        few = min(longest, self.shortest(depth) + 64)
        if self._count(depth, few) >= MANY:
            return None
        return self._count(depth, longest)

    def _count(self, depth: int, longest: int) -> int:
        """Number of trees with exactly this depth and at most so many tokens."""
        lengths = longest + 1
        # Trees of depth 1 to 1, 2, 3 ..., by length; Python's integers are unlimited.
        trees = shallower = np.zeros(lengths, object)
        for _ in range(depth):
            shallower, argument = trees, trees.copy()
            argument[1:2] += self.digits
            trees = np.zeros(lengths, object)
            run = np.array([1] + [0] * longest, object)  # of no argument
            for arity in range(1, self.max_args + 1):
                run = np.convolve(run, argument)[:lengths]
                if arity >= self.min_args:
                    own = min(self.tokens(arity) - arity, lengths)
                    trees[own:] += self.operators * run[: lengths - own]
        return int(sum(trees - shallower))


class Level(NamedTuple):
    """All nodes of one level, in the order of their trees. `level_of` makes it.

    Attributes:
        operators: which nodes are operators, int64 `(operators,)`, ascending.
        arity: number of arguments of each operator, int8 `(operators,)`.
        kinds: the index of each operator, uint8 `(operators,)`.
        symbol: each node's digit, uint8 `(nodes,)`. Any digit for operators.
        edges: the first argument of each operator in the next level, and that level's number of
            nodes, int64 `(operators + 1,)`.
        parents: the operator of each node of the next level, int64.
    """

    operators: NDArray[np.int64]
    arity: NDArray[np.int8]
    kinds: NDArray[np.uint8]
    symbol: NDArray[np.uint8]
    edges: NDArray[np.int64]
    parents: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.int64]:
        """The first argument of each operator in the next level, int64 `(operators,)`."""
        return self.edges[:-1]

    def running(self, below: NDArray[Number]) -> NDArray[Number]:
        """The sum of the values before each node of the next level, and of all, `(nodes + 1,)`.

        Sums of unsigned values wrap around.
        """
        running = np.zeros(1 + len(below), below.dtype)
        below.cumsum(out=running[1:])
        return running

    def sums(self, running: NDArray[Number]) -> NDArray[Number]:
        """The sum of each operator's arguments, `(operators,)`, from `running`."""
        reached = running.take(self.edges)
        return reached[1:] - reached[:-1]


def level_of(
    operators: NDArray[np.int64],
    arity: NDArray[np.int8],
    kinds: NDArray[np.uint8],
    symbol: NDArray[np.uint8],
) -> Level:
    """The level with these operators and symbols."""
    edges = np.zeros(1 + len(arity), np.int64)
    arity.cumsum(out=edges[1:])
    parents = np.bincount(edges[1:]).cumsum()[:-1]  # as `repeat`, but faster
    return Level(operators, arity, kinds, symbol, edges, parents)


class Layout(NamedTuple):
    """The places of the tokens of trees. Each node has room for its tokens and a separator.

    Attributes:
        lengths: tokens of each tree, int64 `(trees,)`.
        before: for each level with operators, `Level.running` of the rooms.
        inside: for each level with operators, the room of each operator's arguments, int64
            `(operators,)`.
    """

    lengths: NDArray[np.int64]
    before: list[NDArray[np.int64]]
    inside: list[NDArray[np.int64]]


@dataclasses.dataclass(frozen=True)
class Forest:
    """Many trees.

    Attributes:
        grammar: the proposal.
        levels: all nodes, from the roots down. The last level lacks operators.
        depths: operators on the longest path of each tree, int8 `(trees,)`.
    """

    grammar: Grammar
    levels: tuple[Level, ...]
    depths: NDArray[np.int8]

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.depths)

    def take(self, kept: NDArray[np.bool_]) -> Forest:
        """The trees for which the mask, bool `(trees,)`, is true, in order."""
        if kept.all():
            return self
        levels = []
        left = kept  # which nodes of the level are left
        for level in self.levels:
            operators_left = left.take(level.operators)
            (inner,) = operators_left.nonzero()
            levels.append(
                level_of(
                    operators=left.cumsum().take(level.operators.take(inner)) - 1,
                    arity=level.arity.take(inner),
                    kinds=level.kinds.take(inner),
                    symbol=level.symbol.compress(left),
                )
            )
            left = operators_left.take(level.parents)
        return Forest(self.grammar, tuple(levels), self.depths[kept])

    def layout(self) -> Layout:
        """The places of the tokens, from the lengths of the nodes."""
        separators = self.grammar.separators
        rooms = np.full(len(self.levels[-1].symbol), 1 + separators)
        before, inside = [], []
        for level in reversed(self.levels[:-1]):
            before.append(level.running(rooms))
            inside.append(level.sums(before[-1]))
            rooms = np.full(len(level.symbol), 1 + separators)
            rooms[level.operators] = 2 + inside[-1]
        return Layout(rooms - separators, before[::-1], inside[::-1])

    def write(
        self,
        layout: Layout,
        zero: int,
        opening: NDArray[np.uint8],
        closing: int,
        infix: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """The trees as token ids, uint8 `(trees, longest)`, padded with 0.

        Args:
            layout: see `layout`.
            zero: the id of the digit 0. The other digits follow it.
            opening: the id of the token before each operator's arguments, uint8 `(operators,)`.
            closing: the id of the token behind them.
            infix: the id of the token between an operator's two arguments, uint8 `(operators,)`.
        """
        width = int(layout.lengths.max(initial=1))
        tokens = np.zeros(self.trees * width, np.uint8)
        place = np.arange(0, len(tokens), width)
        tokens[place] = self.levels[0].symbol + np.uint8(zero)
        for level, below, before, inside in zip(
            self.levels, self.levels[1:], layout.before, layout.inside, strict=False
        ):
            begin = place.take(level.operators) + 1
            tokens[begin - 1] = opening.take(level.kinds)
            tokens[begin + inside - self.grammar.separators] = closing
            place = (begin - before.take(level.first)).take(level.parents)
            place += before[:-1]
            tokens[place] = below.symbol + np.uint8(zero)
            if infix is not None:
                tokens[place[1::2] - 1] = infix.take(level.kinds)
        return tokens.reshape(self.trees, width)

    def problems(
        self, digits: NDArray[np.uint64], operators: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """The problem key of each tree, uint64 `(trees,)`. See `synthbench.tasks.trees.problems`.

        Args:
            digits: the code of each digit, uint64 `(digits,)`.
            operators: the code of each operator, uint64 `(operators,)`.
        """
        keys = digits.take(self.levels[-1].symbol)
        for level in reversed(self.levels[:-1]):
            own = digits.take(level.symbol)  # operators get their keys next
            sums = level.sums(level.running(keys))
            own[level.operators] = mix(operators.take(level.kinds) + sums)
            keys = own
        return keys
