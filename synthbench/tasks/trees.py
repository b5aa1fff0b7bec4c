"""Random expression trees, a whole block at a time, in flat arrays.

The proposal is that of NDR, section C.2: the root is an operator, each argument is an operator
with a fixed probability, the number of arguments, operators and digits are uniform. What a bucket
asks of a tree (its depth, or its dependency depth) is rare there, so trees are not drawn and
thrown away but drawn given their bucket, exactly:

- Every node has a key, a small integer: its value and its depth (`Law`). The chances of all keys
  of an operator with so many levels below follow from those of its arguments, one level lower.
- From the root down, an operator whose key is settled needs arguments that give this key. Many
  such operators are served from one pool: arguments are drawn freely, given only that one of
  them is deep enough, the operators they make are looked at, and each goes to a node that needs
  its key. What a node gets is therefore drawn from the proposal, given the key.
- A tree is dropped as soon as the tokens that are already certain pass the length limit.

All nodes of a level lie in one array, in the order of their trees, so the arguments of an
operator are one contiguous run of the next level. No Python loop runs over trees or nodes, only
over levels and depths.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Choice, Draws

#: A key is `value << DEPTH_BITS | depth`; the depth of a digit is 0.
DEPTH_BITS = 6
DEPTH_MASK = (1 << DEPTH_BITS) - 1


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

    @property
    def arities(self) -> range:
        """The possible numbers of arguments."""
        return range(self.min_args, self.max_args + 1)

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


class Law(abc.ABC):
    """How the key of an operator follows from the keys of its arguments.

    Two forms of the same rule: chances of keys, and keys of many operators at once.

    Attributes:
        grammar: the proposal.
        leaves: the keys of digits with their chances.
    """

    grammar: Grammar
    leaves: dict[int, float]

    @abc.abstractmethod
    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        """The chance of every key of an operator over `arity` independent arguments.

        Args:
            kind: the operator.
            arity: number of arguments.
            arguments: the chance of every key of one argument.

        Returns:
            The possible keys with their chances; computed with IEEE additions, multiplications
            and divisions in a fixed order only, so that they are the same everywhere.
        """

    @abc.abstractmethod
    def keys(
        self, kinds: NDArray[np.uint8], arguments: NDArray[np.int16], exists: NDArray[np.bool_]
    ) -> NDArray[np.int16]:
        """The keys of many operators.

        Args:
            kinds: the operators, uint8 `(operators,)`.
            arguments: keys of their arguments, int16 `(max_args, operators)`.
            exists: which arguments there are, bool of the same shape.
        """

    def argument(self, height: int) -> dict[int, float]:
        """The chance of every key of an argument with `height` levels left for operators."""
        if height == 0:
            return self.leaves
        p_op = self.grammar.p_op
        mixed = {key: (1.0 - p_op) * chance for key, chance in self.leaves.items()}
        for key, chance in _operator_chances(self, height).items():
            mixed[key] = p_op * chance
        return mixed


def grow(draws: Draws, n: int, law: Law, depth: int) -> tuple[Forest, NDArray[np.int16]]:
    """Draw `n` trees given the depth in their key, and drop those that are too long.

    Args:
        draws: the only randomness used.
        n: number of trees drawn, at least 1.
        law: the proposal and its keys.
        depth: the depth that every tree's key has, 1 to `law.grammar.max_depth`.

    Returns:
        The trees with at most `grammar.max_length` tokens, and their keys, int16 `(trees,)`.
        Symbols of digits are the values of their keys.
    """
    grammar = law.grammar
    shortest = np.array([1] + [grammar.shortest(d) for d in range(1, grammar.max_depth + 1)])
    tokens = np.array([grammar.tokens(arity) for arity in range(grammar.max_args + 1)])
    tree = np.arange(n, dtype=np.int32)
    length = np.full(n, shortest[depth])  # tokens that are certain
    keys = np.full(n, depth, np.int16)
    roots = keys
    shapes: list[tuple[Level, NDArray[np.int32]]] = []
    for height in range(grammar.max_depth, -1, -1):
        operator = (keys & DEPTH_MASK) > 0
        owner = tree[operator]
        wanted = keys[operator]
        symbol = (keys >> DEPTH_BITS).astype(np.uint8)
        if not len(owner):
            shapes.append((Level(tree, operator, np.zeros(0, np.int64), symbol), owner))
            break
        made = _settle(draws, law, height, wanted, any_value=not shapes)
        if not shapes:
            roots = made.keys
        symbol[operator] = made.kinds
        depths = made.arguments & DEPTH_MASK
        extra = np.where(made.exists, shortest[depths] - 1, 0).sum(axis=0)
        extra += tokens[made.arity] - shortest[wanted & DEPTH_MASK]
        length = length + np.bincount(owner, extra, n).astype(np.int64)
        shapes.append((Level(tree, operator, made.arity, symbol), owner))
        alive = length[owner] <= grammar.max_length
        keys = made.arguments.T[alive][made.exists.T[alive]]
        tree = np.repeat(owner[alive], made.arity[alive])

    keep = length <= grammar.max_length
    number = (np.cumsum(keep) - 1).astype(np.int32)
    levels = []
    for level, owner in shapes:
        nodes = keep[level.tree]
        levels.append(
            Level(
                tree=number[level.tree[nodes]],
                operator=level.operator[nodes],
                arity=level.arity[keep[owner]],
                symbol=level.symbol[nodes],
            )
        )
    return Forest(int(keep.sum()), grammar, tuple(levels)), roots[keep]


class _Operators(NamedTuple):
    """Many operators with their arguments: see `Law.keys`; `arity` is int64 `(operators,)`."""

    keys: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    arity: NDArray[np.int64]
    arguments: NDArray[np.int16]
    exists: NDArray[np.bool_]


def _settle(
    draws: Draws, law: Law, height: int, wanted: NDArray[np.int16], any_value: bool
) -> _Operators:
    """For each wanted key an operator drawn from the proposal, given that it has this key.

    Args:
        draws: the only randomness used.
        law: the proposal and its keys.
        height: levels left for operators, these included.
        wanted: keys, int16 `(operators,)`.
        any_value: whether only the depth in the key counts.
    """
    width = law.grammar.max_args
    made = _Operators(
        keys=wanted.copy(),
        kinds=np.zeros(len(wanted), np.uint8),
        arity=np.zeros(len(wanted), np.int64),
        arguments=np.zeros((width, len(wanted)), np.int16),
        exists=np.zeros((width, len(wanted)), np.bool_),
    )
    depths = wanted & DEPTH_MASK
    for depth in range(1, height + 1):
        missing = np.flatnonzero(depths == depth)
        chances = _pool_chances(law, height, depth, any_value)
        first = True
        while len(missing):
            counts = np.bincount(wanted[missing], minlength=len(chances))
            pool = _draw_pool(draws, law, height, depth, _pool_size(counts, chances, first))
            sought = pool.keys & DEPTH_MASK if any_value else pool.keys
            nodes, drawn = _match(wanted[missing], sought, len(chances))
            places = missing[nodes]
            made.keys[places] = pool.keys[drawn]
            made.kinds[places] = pool.kinds[drawn]
            made.arity[places] = pool.arity[drawn]
            made.arguments[:, places] = pool.arguments[:, drawn]
            made.exists[:, places] = pool.exists[:, drawn]
            missing = np.delete(missing, nodes)
            first = False
    return made


def _pool_size(counts: NDArray[np.int64], chances: NDArray[np.float64], first: bool) -> int:
    """How many operators to draw for the wanted keys: so many that few are missing afterwards."""
    asked = np.flatnonzero(counts)
    most = float((counts[asked] / chances[asked]).max())
    if first:  # the rarest key must not drive the size of the first pool
        most = min(most, 2.0 * float(counts.sum()) / float(chances.max() * len(asked)))
    return int(1.1 * most) + 32


def _match(
    wanted: NDArray[np.int16], drawn: NDArray[np.int16], bound: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of indices into `wanted` and `drawn` with equal keys, in order, each used once."""
    counts = np.bincount(wanted, minlength=bound), np.bincount(drawn, minlength=bound)
    pairs = np.minimum(*counts)
    chosen = []
    for keys, count in zip((wanted, drawn), counts, strict=True):
        order = np.argsort(keys, kind="stable")
        start = np.cumsum(count) - count
        rank = np.arange(len(keys)) - np.repeat(start, count)
        chosen.append(order[rank < np.repeat(pairs, count)])
    return chosen[0], chosen[1]


class _PoolTables(NamedTuple):
    """Tables for drawing operators of which at least one argument has a given depth.

    Attributes:
        arity: the number of arguments.
        leader: the chance that one of the first `i + 1` arguments is deep, float64 `(max_args,)`.
        free, deep, other: the key of an argument of any depth, of the given depth, and of any
            other depth.
    """

    arity: Choice
    leader: NDArray[np.float64]
    free: Choice
    deep: Choice
    other: Choice


@functools.lru_cache(maxsize=1024)
def _pool_tables(law: Law, height: int, depth: int) -> _PoolTables:
    argument = law.argument(height - 1)
    deep = {key: chance for key, chance in argument.items() if key & DEPTH_MASK == depth - 1}
    other = {key: chance for key, chance in argument.items() if key & DEPTH_MASK != depth - 1}
    grammar = law.grammar
    none = _none(law, height, depth)
    return _PoolTables(
        arity=Choice(np.array(grammar.arities), [1.0 - none[arity] for arity in grammar.arities]),
        leader=np.array([1.0 - chance for chance in none[1:]]),
        free=_keys(argument),
        deep=_keys(deep),
        other=_keys(other or deep),  # with no other depth, nothing stands before the leader
    )


def _none(law: Law, height: int, depth: int) -> list[float]:
    """By number of arguments, the chance that none of them has depth `depth - 1`."""
    miss = 1.0 - sum(
        chance for key, chance in law.argument(height - 1).items() if key & DEPTH_MASK == depth - 1
    )
    none = [1.0]
    for _ in range(law.grammar.max_args):
        none.append(none[-1] * max(0.0, miss))
    return none


def _keys(chances: dict[int, float]) -> Choice:
    keys = sorted(chances)
    return Choice(np.array(keys, np.int16), [chances[key] for key in keys])


def _draw_pool(draws: Draws, law: Law, height: int, depth: int, size: int) -> _Operators:
    """Operators with `height` levels left, given that an argument has depth `depth - 1`.

    That argument is found by the first of them, the leader: those before it have another depth,
    those behind it any.
    """
    grammar = law.grammar
    tables = _pool_tables(law, height, depth)
    arity = tables.arity.draw(draws, size)
    uniform = draws.floats(size) * tables.leader[arity - 1]
    leader = np.minimum(np.searchsorted(tables.leader, uniform, side="right"), arity - 1)
    rank = np.arange(grammar.max_args)[:, None]
    exists = rank < arity
    arguments = np.zeros((grammar.max_args, size), np.int16)
    before, behind = rank < leader, exists & (rank > leader)
    arguments[before] = tables.other.draw(draws, int(before.sum()))
    arguments[behind] = tables.free.draw(draws, int(behind.sum()))
    arguments[leader, np.arange(size)] = tables.deep.draw(draws, size)
    kinds = draws.integers(grammar.operators, size).astype(np.uint8)
    keys = law.keys(kinds, arguments, exists)
    return _Operators(keys, kinds, arity, arguments, exists)


@functools.lru_cache(maxsize=1024)
def _operator_chances(law: Law, height: int) -> dict[int, float]:
    """The chance of every key of an operator with `height` levels left, itself included."""
    argument = law.argument(height - 1)
    grammar = law.grammar
    share = 1.0 / (grammar.operators * len(grammar.arities))
    chances: dict[int, float] = {}
    for kind in range(grammar.operators):
        for arity in grammar.arities:
            for key, chance in law.chances(kind, arity, argument).items():
                if chance > 0.0:
                    chances[key] = chances.get(key, 0.0) + share * chance
    return chances


@functools.lru_cache(maxsize=1024)
def _pool_chances(law: Law, height: int, depth: int, any_value: bool) -> NDArray[np.float64]:
    """The chance of every key of this depth in a pool; float64, by key (or by depth alone)."""
    none = _none(law, height, depth)
    grammar = law.grammar
    given = 1.0 - sum(none[arity] for arity in grammar.arities) / len(grammar.arities)
    chances = _operator_chances(law, height)
    by_key = np.zeros(max(chances) + 1)
    for key, chance in chances.items():
        if key & DEPTH_MASK == depth:
            by_key[depth if any_value else key] += chance / given
    return by_key
