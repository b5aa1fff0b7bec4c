"""Random trees of a wanted depth, distributed as in the proposal, level by level from the root.

The proposal is that of NDR, section C.2. The depth (or dependency depth) that a bucket asks for is
rare there, so trees are drawn given their bucket; `synthbench.tasks.trees` explains how. A tree is
dropped as soon as its certain tokens exceed the length limit.

On each level, operators are drawn with the keys of their arguments, given their own keys:

- Where there are few combinations of keys, all are listed and chosen from.
- Where there are many, operators come from a pool: their arguments are drawn given only that one of
  them is deep enough. Each drawn operator then goes to a node that needs its key, so the node's
  operator is distributed as in the proposal, given the key.

The documentation's page on exact conditional sampling works out a small example in both ways.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Choice, Draws
from synthbench.tasks.numeric import distinct_numbers
from synthbench.tasks.trees.distribution import (
    DEPTH_BITS,
    DEPTH_MASK,
    KeyDistribution,
    Operators,
    combinations,
)
from synthbench.tasks.trees.grammar import Forest, Level, level_of
from synthbench.tasks.trees.pools import draw_from_pools, is_too_rare


def grow(
    draws: Draws, n: int, distribution: KeyDistribution, depth: int, operator: int | None = None
) -> tuple[Forest, NDArray[np.int16]]:
    """As `grow_all`, without the trees that are too long."""
    forest, keys, whole = grow_all(draws, n, distribution, depth, operator)
    return forest.take(whole), keys[whole]


def grow_all(
    draws: Draws,
    n: int,
    distribution: KeyDistribution,
    depth: int,
    operator: int | None = None,
    value: int | None = None,
) -> tuple[Forest, NDArray[np.int16], NDArray[np.bool_]]:
    """Draw `n` trees given the depth in their key. Those that become too long end early.

    Args:
        draws: the only randomness used.
        n: number of trees drawn, at least 1.
        distribution: the proposal and its keys.
        depth: the depth that every tree's key has, 1 to `distribution.grammar.max_depth`.
        operator: the number of the root's operator, None for any.
        value: the value in every tree's key, None for any.

    Returns:
        The trees, their keys, int16 `(trees,)`, and which of them are whole, that is, have at most
        `grammar.max_length` tokens, bool `(trees,)`. The symbol of a digit is the value in its key.
        The result is empty if the wanted `value` is too rare to be drawn.
    """
    grammar = distribution.grammar
    of_root = dataclasses.replace(distribution, root=operator)
    root_key = depth | (value or 0) << DEPTH_BITS
    if value is not None and is_too_rare(of_root, grammar.max_depth, root_key):
        n = 0
    owner = parents = np.arange(n)  # the tree of each operator above, and the operator of each node
    length = np.full(n, grammar.shortest(depth), np.int64)  # tokens that are certain
    depths = np.zeros(n, np.int8)
    keys = roots = np.full(n, root_key, np.int16)
    levels: list[Level] = []
    for height in range(grammar.max_depth, -1, -1):
        (operators,) = ((keys & DEPTH_MASK) > 0).nonzero()
        symbol = (keys >> DEPTH_BITS).astype(np.uint8)
        if not len(operators):
            levels.append(level_of(operators, np.zeros(0, np.int8), symbol[:0], symbol))
            break
        owner, wanted = owner.take(parents.take(operators)), keys.take(operators)
        top = not levels
        pool, picks = sample_given_keys(
            draws,
            of_root if top else distribution,
            height,
            wanted,
            any_value=top and value is None,
        )
        if top:
            roots = pool.keys.take(picks)
        # The tokens of each operator beyond those that its wanted key needs anyway.
        own = 1 + pool.arity + grammar.separators * (pool.arity - 1)
        below = (pool.arguments & DEPTH_MASK).sum(axis=0, dtype=np.int16)
        tokens = own + grammar.per_level * below
        more = tokens.take(picks) - grammar.per_level * (wanted & DEPTH_MASK)
        length += np.bincount(owner, more, n).astype(np.int64)
        # A tree that is too long gets no arguments, so it ends here.
        arity = pool.arity.take(picks) * (length <= grammar.max_length).take(owner)
        levels.append(level_of(operators, arity, pool.kinds.take(picks), symbol))
        depths[owner] = len(levels)
        keys = _arguments_of(picks, pool.arguments, levels[-1])
        parents = levels[-1].parents

    return Forest(grammar, tuple(levels), depths), roots, length <= grammar.max_length


def _arguments_of(
    picks: NDArray[np.int64],
    arguments: NDArray[np.int16],
    level: Level,
) -> NDArray[np.int16]:
    """The keys of the next level's nodes, from those of all operators that were drawn.

    Args:
        picks: which of them each operator of the level is, int64 `(operators,)`.
        arguments: the keys of their arguments, int16 `(max_args, drawn)`.
        level: the operators of the level, with their numbers of arguments.
    """
    drawn = arguments.shape[1]
    # Node i is argument i - first of its parent.
    start = (picks - drawn * level.first).take(level.parents)
    start += np.arange(0, drawn * len(start), drawn)
    keys: NDArray[np.int16] = arguments.ravel().take(start)
    return keys


# Operators given their keys.


def sample_given_keys(
    draws: Draws,
    distribution: KeyDistribution,
    height: int,
    wanted: NDArray[np.int16],
    any_value: bool,
) -> tuple[Operators, NDArray[np.int64]]:
    """An operator for each wanted key, drawn from the proposal given that it has this key.

    Args:
        draws: the only randomness used.
        distribution: the proposal and its keys.
        height: levels left for operators, these included.
        wanted: keys, int16 `(operators,)`.
        any_value: whether an operator may have any value, so that only the key's depth counts.

    Returns:
        Operators, and for each wanted key the index of the one it gets, int64 `(wanted,)`.
    """
    if not distribution.enumerated:
        return draw_from_pools(draws, distribution, height, wanted, any_value)
    every, tables = _enumerate(distribution, height, any_value)
    picks = np.zeros(len(wanted), np.int64)
    for key, table in tables.items():
        (nodes,) = (wanted == key).nonzero()
        picks[nodes] = table.draw(draws, len(nodes))
    return every, picks


@functools.lru_cache(maxsize=1024)
def _enumerate(
    distribution: KeyDistribution, height: int, any_value: bool
) -> tuple[Operators, dict[int, Choice]]:
    """All operators with `height` levels left, and for each wanted key the choice among them."""
    argument = distribution.argument(height - 1)
    grammar = distribution.grammar
    parts, chances = [], []
    for kind, arity in itertools.product(distribution.kinds, grammar.arities):
        part, chance = combinations(distribution, kind, arity, argument)
        parts.append(part)
        chances += chance
    every = Operators.concatenate(parts)
    sought = every.keys & DEPTH_MASK if any_value else every.keys
    tables = {}
    for key in distinct_numbers(sought):
        indices = np.flatnonzero(sought == key)
        tables[key] = Choice(indices, [chances[index] for index in indices.tolist()])
    return every, tables
