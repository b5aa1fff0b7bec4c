"""Random trees of a wanted depth, distributed as in the proposal, level by level from the root.

The proposal is that of NDR, section C.2. The depth (or dependency depth) that a bucket asks for is
rare there, so trees are drawn given their bucket; `synthbench.tasks.trees` explains how. A tree is
dropped as soon as its certain tokens exceed the length limit.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.trees.distribution import DEPTH_BITS, DEPTH_MASK, KeyDistribution
from synthbench.tasks.trees.grammar import Forest, Level
from synthbench.tasks.trees.sampling import is_too_rare, sample_given_keys


def grow(
    draws: Draws,
    n: int,
    distribution: KeyDistribution,
    depth: int,
    operator: int | None = None,
    value: int | None = None,
) -> tuple[Forest, NDArray[np.int16]]:
    """Draw `n` trees given the depth in their key, and drop those that are too long.

    Args:
        draws: the only randomness used.
        n: number of trees drawn, at least 1.
        distribution: the proposal and its keys.
        depth: the depth that every tree's key has, 1 to `distribution.grammar.max_depth`.
        operator: the number of the root's operator, None for any.
        value: the value in every tree's key, None for any.

    Returns:
        The trees with at most `grammar.max_length` tokens, and their keys, int16 `(trees,)`.
        The symbol of a digit is the value in its key. There are no trees if the wanted `value`
        is too rare to be drawn.
    """
    grammar = distribution.grammar
    of_root = dataclasses.replace(distribution, root=operator)
    root_key = depth | (value or 0) << DEPTH_BITS
    if value is not None and is_too_rare(of_root, grammar.max_depth, root_key):
        n = 0
    tree = np.arange(n, dtype=np.int32)
    length = np.full(n, grammar.shortest(depth), np.int64)  # tokens that are certain
    depths = np.zeros(n, np.int8)
    keys = roots = np.full(n, root_key, np.int16)
    levels: list[Level] = []
    for height in range(grammar.max_depth, -1, -1):
        operators = np.flatnonzero((keys & DEPTH_MASK) > 0)
        symbol = (keys >> DEPTH_BITS).astype(np.uint8)
        if not len(operators):
            levels.append(Level(operators, np.zeros(0, np.int8), symbol))
            break
        owner, wanted = tree.take(operators), keys.take(operators)
        top = not levels
        made, chosen = sample_given_keys(
            draws,
            of_root if top else distribution,
            height,
            wanted,
            any_value=top and value is None,
        )
        if top:
            roots = made.keys.take(chosen)
        symbol[operators] = made.kinds.take(chosen)
        # The tokens of each operator beyond those that its wanted key needs anyway.
        own = 1 + made.arity + grammar.separators * (made.arity - 1)
        below = (made.arguments & DEPTH_MASK).sum(axis=0, dtype=np.int16)
        tokens = own + grammar.per_level * below
        more = tokens.take(chosen) - grammar.per_level * (wanted & DEPTH_MASK)
        length += np.bincount(owner, more, n).astype(np.int64)
        # A tree that is too long gets no arguments, so it ends here.
        arity = made.arity.take(chosen) * (length.take(owner) <= grammar.max_length)
        levels.append(Level(operators, arity, symbol))
        depths[owner] = len(levels)
        keys = _arguments_of(chosen, made.arguments, levels[-1])
        tree = np.repeat(owner, arity)

    kept = length <= grammar.max_length
    return Forest(grammar, tuple(levels), depths).take(kept), roots[kept]


def _arguments_of(
    chosen: NDArray[np.int64], arguments: NDArray[np.int16], level: Level
) -> NDArray[np.int16]:
    """The keys of the next level's nodes, from those of all operators that were drawn.

    Args:
        chosen: which of them each operator of the level is, int64 `(operators,)`.
        arguments: the keys of their arguments, int16 `(max_args, drawn)`.
        level: tells how many arguments each operator of the level has.
    """
    keys = np.zeros(int(level.arity.sum(dtype=np.int64)), np.int16)
    first = level.first
    for rank, argument in enumerate(arguments):
        operators = np.flatnonzero(level.arity > rank)
        keys[first.take(operators) + rank] = argument.take(chosen.take(operators))
    return keys
