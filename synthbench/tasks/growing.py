"""Random trees of a wanted depth, drawn exactly as the proposal has them, without waiting.

The proposal is that of NDR, section C.2: the root is an operator, each argument is an operator
with a fixed probability, the number of arguments, operators and digits are uniform. What a bucket
asks of a tree (its depth, or its dependency depth) is rare there, so trees are not drawn and
thrown away but drawn given their bucket, exactly:

- Every node has a key, a small integer: its value and its depth (`Law`). The chances of all keys
  of an operator with so many levels below follow from those of its arguments, one level lower.
- From the root down, an operator whose key is settled needs arguments that give this key. Where
  there are few operators over arguments of given keys, they are listed, and one is chosen.
- Where there are many, they are served from a pool: arguments are drawn freely, given only that
  one of them is deep enough, the operators they make are looked at, and each goes to a node that
  needs its key. What a node gets is therefore drawn from the proposal, given the key.
- A tree is dropped as soon as the tokens that are already certain pass the length limit.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Choice, Draws
from synthbench.tasks.trees import Forest, Grammar, Level

#: A key is `value << DEPTH_BITS | depth`; the depth of a digit is 0.
DEPTH_BITS = 6
DEPTH_MASK = (1 << DEPTH_BITS) - 1
#: Operators of one pool, at most: rare keys must not fill the memory.
MOST_DRAWN = 1 << 20


class Law(abc.ABC):
    """How the key of an operator follows from the keys of its arguments.

    A law is a value: it can be hashed, and equal laws are the same law.

    Attributes:
        grammar: the proposal.
        listed: whether operators are chosen from the list of all (see the module).
    """

    grammar: Grammar
    listed: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def leaves(self) -> dict[int, float]:
        """The keys of digits with their chances."""

    @abc.abstractmethod
    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int64], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        """The keys of many operators.

        Args:
            kinds: the operators, uint8 `(operators,)`.
            arity: how many arguments each has, int64 `(operators,)`.
            arguments: keys of the arguments, int16 `(max_args, operators)`; 0 where there is none.
        """

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        """The chance of every key of an operator over `arity` independent arguments.

        Looks at all combinations; a law with many keys must find a shorter way. IEEE additions,
        multiplications and divisions in a fixed order only: the same bits everywhere.

        Args:
            kind: the operator.
            arity: number of arguments.
            arguments: the chance of every key of one argument.

        Returns:
            The possible keys with their chances.
        """
        made, chances = combinations(self, kind, arity, arguments)
        outcomes: dict[int, float] = {}
        for key, chance in zip(made.keys.tolist(), chances, strict=True):
            outcomes[key] = outcomes.get(key, 0.0) + chance
        return outcomes

    def argument(self, height: int) -> dict[int, float]:
        """The chance of every key of an argument with `height` levels left for operators."""
        p_op = self.grammar.p_op
        if height == 0 or p_op == 0.0:
            return self.leaves
        mixed = {key: (1.0 - p_op) * chance for key, chance in self.leaves.items()}
        for key, chance in _operator_chances(self, height).items():
            mixed[key] = p_op * chance
        return mixed


class Operators(NamedTuple):
    """Many operators with their arguments: see `Law.keys`."""

    keys: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    arity: NDArray[np.int64]
    arguments: NDArray[np.int16]

    def take(self, chosen: NDArray[np.int64]) -> Operators:
        """The operators at these indices, in this order."""
        return Operators(
            self.keys.take(chosen),
            self.kinds.take(chosen),
            self.arity.take(chosen),
            self.arguments.take(chosen, axis=1),
        )

    @staticmethod
    def concatenate(parts: list[Operators]) -> Operators:
        """All operators, in order."""
        keys, kinds, arity, arguments = zip(*parts, strict=True)
        return Operators(
            np.concatenate(keys),
            np.concatenate(kinds),
            np.concatenate(arity),
            np.concatenate(arguments, axis=1),
        )


def combinations(
    law: Law, kind: int, arity: int, arguments: dict[int, float]
) -> tuple[Operators, list[float]]:
    """All operators of one kind over `arity` arguments, with their chances."""
    made = list(itertools.product(sorted(arguments), repeat=arity))
    keys = np.zeros((law.grammar.max_args, len(made)), np.int16)
    keys[:arity] = np.array(made, np.int16).T
    kinds, arities = np.full(len(made), kind, np.uint8), np.full(len(made), arity, np.int64)
    chances = [math.prod(map(arguments.__getitem__, one)) for one in made]
    return Operators(law.keys(kinds, arities, keys), kinds, arities, keys), chances


@dataclasses.dataclass(frozen=True)
class _RootLaw(Law):
    """The law of an operator of one kind over arguments of another law.

    Attributes:
        grammar: as in that law, with a single operator.
        law: the other law.
        kind: the operator's number in it.
    """

    grammar: Grammar
    law: Law
    kind: int

    @property
    def leaves(self) -> dict[int, float]:
        return self.law.leaves

    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int64], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        return self.law.keys(np.full_like(kinds, self.kind), arity, arguments)

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        return self.law.chances(self.kind, arity, arguments)

    def argument(self, height: int) -> dict[int, float]:
        return self.law.argument(height)


def grow(
    draws: Draws,
    n: int,
    law: Law,
    depth: int,
    operator: int | None = None,
    value: int | None = None,
) -> tuple[Forest, NDArray[np.int16]]:
    """Draw `n` trees given the depth in their key, and drop those that are too long.

    Args:
        draws: the only randomness used.
        n: number of trees drawn, at least 1.
        law: the proposal and its keys.
        depth: the depth that every tree's key has, 1 to `law.grammar.max_depth`.
        operator: the number of the root's operator, None for any.
        value: the value in every tree's key, None for any; some tree must have it.

    Returns:
        The trees with at most `grammar.max_length` tokens, and their keys, int16 `(trees,)`.
        Symbols of digits are the values of their keys.
    """
    grammar = law.grammar
    tree = np.arange(n, dtype=np.int32)
    length = np.full(n, grammar.shortest(depth), np.int64)  # tokens that are certain
    keys = roots = np.full(n, depth | (value or 0) << DEPTH_BITS, np.int16)
    root_law = law
    if operator is not None:
        root_law = _RootLaw(dataclasses.replace(grammar, operators=1), law, operator)
    levels: list[Level] = []
    for height in range(grammar.max_depth, -1, -1):
        operators = np.flatnonzero(keys & DEPTH_MASK)
        symbol = (keys >> DEPTH_BITS).astype(np.uint8)
        if not len(operators):
            levels.append(Level(tree, operators, operators, symbol))
            break
        owner, wanted = tree.take(operators), keys.take(operators)
        if levels:
            made = _settle(draws, law, height, wanted, any_value=False)
        else:
            made = _settle(draws, root_law, height, wanted, any_value=value is None)
            made = made._replace(kinds=np.uint8(operator or 0) + made.kinds)
            roots = made.keys
        symbol[operators] = made.kinds
        levels.append(Level(tree, operators, made.arity, symbol))
        length += np.bincount(owner, _more_tokens(grammar, wanted, made), n).astype(np.int64)
        alive = np.flatnonzero(length.take(owner) <= grammar.max_length)
        arity = made.arity.take(alive)
        keys = _run(made.arguments.take(alive, axis=1), arity)
        tree = np.repeat(owner.take(alive), arity)

    kept = length <= grammar.max_length
    return Forest(int(kept.sum()), grammar, tuple(_keep(levels, kept))), roots[kept]


def _more_tokens(grammar: Grammar, wanted: NDArray[np.int16], made: Operators) -> NDArray[np.int64]:
    """Tokens that are certain of each operator now, beyond those that its wanted key needs."""
    below = (made.arguments & DEPTH_MASK).sum(axis=0, dtype=np.int64)
    own = 1 + made.arity + grammar.separators * (made.arity - 1)
    more: NDArray[np.int64] = own + grammar.per_level * (below - (wanted & DEPTH_MASK))
    return more


def _run(arguments: NDArray[np.int16], arity: NDArray[np.int64]) -> NDArray[np.int16]:
    """The arguments of all operators one after another, from `(max_args, operators)`."""
    rank = np.arange(len(arguments), dtype=np.int8)
    exists = rank < arity.astype(np.int8)[:, None]
    return arguments.T.ravel().take(np.flatnonzero(exists))


def _keep(levels: list[Level], kept: NDArray[np.bool_]) -> Iterator[Level]:
    """The levels without the trees that are not kept."""
    number = (np.cumsum(kept) - 1).astype(np.int32)
    for level in levels:
        nodes = np.flatnonzero(kept.take(level.tree))
        inner = np.flatnonzero(kept.take(level.tree.take(level.operators)))
        place = np.zeros(len(level.tree), np.int64)
        place[nodes] = np.arange(len(nodes))
        yield Level(
            tree=number.take(level.tree.take(nodes)),
            operators=place.take(level.operators.take(inner)),
            arity=level.arity.take(inner),
            symbol=level.symbol.take(nodes),
        )


def _settle(
    draws: Draws, law: Law, height: int, wanted: NDArray[np.int16], any_value: bool
) -> Operators:
    """For each wanted key an operator drawn from the proposal, given that it has this key.

    Args:
        draws: the only randomness used.
        law: the proposal and its keys.
        height: levels left for operators, these included.
        wanted: keys, int16 `(operators,)`.
        any_value: whether only the depth in the key counts.
    """
    choose = _choose if law.listed else _draw
    return choose(draws, law, height, wanted, any_value)


# Where operators are few: choose among all.


def _choose(
    draws: Draws, law: Law, height: int, wanted: NDArray[np.int16], any_value: bool
) -> Operators:
    every, tables = _listing(law, height, any_value)
    chosen = np.zeros(len(wanted), np.int64)
    for key, table in tables.items():
        nodes = np.flatnonzero(wanted == key)
        chosen[nodes] = table.draw(draws, len(nodes))
    return every.take(chosen)


@functools.lru_cache(maxsize=1024)
def _listing(law: Law, height: int, any_value: bool) -> tuple[Operators, dict[int, Choice]]:
    """All operators with `height` levels left, and by wanted key the choice among them."""
    argument = law.argument(height - 1)
    grammar = law.grammar
    parts, chances = [], []
    for kind, arity in itertools.product(range(grammar.operators), grammar.arities):
        part, chance = combinations(law, kind, arity, argument)
        parts.append(part)
        chances += chance
    every = Operators.concatenate(parts)
    sought = every.keys & DEPTH_MASK if any_value else every.keys
    tables = {}
    for key in np.unique(sought).tolist():
        places = np.flatnonzero(sought == key)
        tables[key] = Choice(places, [chances[place] for place in places.tolist()])
    return every, tables


# Where they are many: draw pools of them, and give each to a node that needs its key.


def _draw(
    draws: Draws, law: Law, height: int, wanted: NDArray[np.int16], any_value: bool
) -> Operators:
    depths = wanted & DEPTH_MASK
    pools: list[Operators] = []
    source = np.zeros(len(wanted), np.int64)
    before = 0  # operators in the pools so far
    for depth in range(1, height + 1):
        missing = np.flatnonzero(depths == depth)
        chances = _pool_chances(law, height, depth, any_value)
        first = True
        while len(missing):
            asked = wanted.take(missing)
            size = _pool_size(np.bincount(asked, minlength=len(chances)), chances, first)
            pool = _draw_pool(draws, law, height, depth, size)
            sought = pool.keys & DEPTH_MASK if any_value else pool.keys
            nodes, drawn = _match(asked, sought, len(chances))
            source[missing.take(nodes)] = before + drawn
            pools.append(pool)
            before += size
            missing = np.delete(missing, nodes)
            first = False
    return Operators.concatenate(pools).take(source)


def _pool_size(counts: NDArray[np.int64], chances: NDArray[np.float64], first: bool) -> int:
    """How many operators to draw for the wanted keys: so many that few are missing afterwards."""
    asked = np.flatnonzero(counts)
    most = float((counts[asked] / chances[asked]).max())
    if first:  # the rarest key must not drive the size of the first pool
        most = min(most, 2.0 * float(counts.sum()) / float(chances.max() * len(asked)))
    return int(1.1 * min(most, MOST_DRAWN)) + 32


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
    found = _deep(law, height, depth)
    return _PoolTables(
        arity=Choice(np.array(grammar.arities), [found[arity] for arity in grammar.arities]),
        leader=np.array(found[1:]),
        free=_keys(argument),
        deep=_keys(deep),
        other=_keys(other or deep),  # with no other depth, nothing stands before the leader
    )


def _deep(law: Law, height: int, depth: int) -> list[float]:
    """By number of arguments, the chance that one of them has depth `depth - 1`."""
    deep = sum(
        chance for key, chance in law.argument(height - 1).items() if key & DEPTH_MASK == depth - 1
    )
    found = [0.0]
    for _ in range(law.grammar.max_args):
        found.append(found[-1] + (1.0 - found[-1]) * deep)
    return found


def _keys(chances: dict[int, float]) -> Choice:
    keys = sorted(chances)
    return Choice(np.array(keys, np.int16), [chances[key] for key in keys])


def _draw_pool(draws: Draws, law: Law, height: int, depth: int, size: int) -> Operators:
    """Operators with `height` levels left, given that an argument has depth `depth - 1`.

    That argument is found by the first of them, the leader: those before it have another depth,
    those behind it any.
    """
    grammar = law.grammar
    tables = _pool_tables(law, height, depth)
    arity = tables.arity.draw(draws, size).astype(np.int64)
    uniform = draws.floats(size) * tables.leader.take(arity - 1)
    leader = (uniform >= tables.leader[:, None]).sum(axis=0, dtype=np.int8)
    leader = np.minimum(leader, arity.astype(np.int8) - np.int8(1))
    rank = np.arange(grammar.max_args, dtype=np.int8)[:, None]
    before = np.flatnonzero(rank < leader)
    behind = np.flatnonzero((rank < arity.astype(np.int8)) & (rank > leader))
    drawn = np.zeros(grammar.max_args * size, np.int16)
    drawn[before] = tables.other.draw(draws, len(before))
    drawn[behind] = tables.free.draw(draws, len(behind))
    drawn[np.multiply(leader, size, dtype=np.int64) + np.arange(size)] = tables.deep.draw(
        draws, size
    )
    arguments = drawn.reshape(grammar.max_args, size)
    kinds = draws.integers(grammar.operators, size).astype(np.uint8)
    return Operators(law.keys(kinds, arity, arguments), kinds, arity, arguments)


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
    found = _deep(law, height, depth)
    grammar = law.grammar
    given = sum(found[arity] for arity in grammar.arities) / len(grammar.arities)
    chances = _operator_chances(law, height)
    by_key = np.zeros(max(chances) + 1)
    for key, chance in chances.items():
        if key & DEPTH_MASK == depth:
            by_key[depth if any_value else key] += chance / given
    return by_key
