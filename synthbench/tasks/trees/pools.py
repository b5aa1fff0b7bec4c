"""Operators given their keys, from pools of operators of which an argument is deep enough.

A pool is drawn given only the depth in its operators' keys. Each operator then goes to a node that
needs its key, so the node's operator is distributed as in the proposal, given the key.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Choice, Draws, total
from synthbench.tasks.trees.distribution import (
    DEPTH_BITS,
    DEPTH_MASK,
    KeyDistribution,
    Operators,
    operator_chances,
)

#: Up to so many missing keys are looked up one by one, and the pool is not sorted.
_FEW_KEYS = 2
#: The most operators in a pool, so that rare keys do not fill the memory.
MOST_DRAWN = 1 << 20
#: Keys that are rarer than this in their pool are not drawn: a block of 512 trees would need more
#: than 30 pools of the largest size.
LEAST_CHANCE = 2.0**-16


def is_too_rare(distribution: KeyDistribution, height: int, key: int) -> bool:
    """True if an operator with this key is too rare to be drawn in a reasonable time.

    Args:
        distribution: the proposal and its keys.
        height: levels left for operators, this one included.
        key: the wanted key, of an operator.

    Returns:
        True if operators come from pools and less than `LEAST_CHANCE` of a pool has the key.
        Chances are sums and products in a fixed order, so every machine gives the same answer.
    """
    if distribution.enumerated:
        return False
    chances = _pool_chances(distribution, height, key & DEPTH_MASK, any_value=False)
    return chances.get(key, 0.0) < LEAST_CHANCE


def draws_of_key(distribution: KeyDistribution, operator: int | None, key: int) -> float:
    """The operators that are drawn on average until a root has this key; 0 if it is too rare."""
    of_root = dataclasses.replace(distribution, root=operator)
    height = distribution.grammar.max_depth
    if is_too_rare(of_root, height, key):
        return 0.0
    return 1.0 / _pool_chances(of_root, height, key & DEPTH_MASK, any_value=False)[key]


def draw_from_pools(
    draws: Draws,
    distribution: KeyDistribution,
    height: int,
    wanted: NDArray[np.int16],
    any_value: bool,
) -> tuple[Operators, NDArray[np.int64]]:
    """As `sampling.sample_given_keys`, from pools."""
    pools: list[Operators] = []
    picks = np.zeros(len(wanted), np.int64)
    before = 0  # operators in the pools so far
    every = _by_number(wanted)
    for depth in range(1, height + 1):
        chances = _pool_chances(distribution, height, depth, any_value)
        # The nodes that still need an operator, by its key.
        missing = {key: nodes for key, nodes in every.items() if key & DEPTH_MASK == depth}
        first = True
        while missing:
            size = _pool_size(missing, chances, first)
            pool = _draw_pool(draws, distribution, height, depth, size)
            keys = pool.keys & DEPTH_MASK if any_value else pool.keys
            drawn = _of_depth(keys, depth) if len(missing) > _FEW_KEYS else {}
            left = {}
            for key, nodes in missing.items():
                places = drawn.get(key, nodes[:0]) if drawn else (keys == key).nonzero()[0]
                matches = places[: len(nodes)]
                picks[nodes[: len(matches)]] = before + matches
                if len(matches) < len(nodes):
                    left[key] = nodes[len(matches) :]
            pools.append(pool)
            before += size
            missing, first = left, False
    return Operators.concatenate(pools), picks


def _of_depth(keys: NDArray[np.int16], depth: int) -> dict[int, NDArray[np.int64]]:
    """The places of every key of this depth, ascending, by key."""
    (places,) = ((keys & DEPTH_MASK) == depth).nonzero()
    values = (keys.take(places) >> DEPTH_BITS).astype(np.uint8)  # sorted in half of the time
    parts = _by_number(values).items()
    return {value << DEPTH_BITS | depth: places.take(part) for value, part in parts}


def _by_number(numbers: NDArray[np.integer[Any]]) -> dict[int, NDArray[np.int64]]:
    """The places of every number, ascending, by number."""
    order = numbers.argsort(kind="stable")
    ordered = numbers.take(order)
    (cuts,) = (ordered[1:] != ordered[:-1]).nonzero()
    edges = itertools.pairwise([0, *(cuts + 1).tolist(), len(order)])
    return {int(ordered[first]): order[first:last] for first, last in edges if first < last}


def _pool_size(
    missing: dict[int, NDArray[np.int64]], chances: dict[int, float], first: bool
) -> int:
    """Number of operators to draw so that few of the wanted keys are missing afterwards."""
    most = max(len(nodes) / chances[key] for key, nodes in missing.items())
    if first:  # the rarest key must not drive the size of the first pool
        wanted = sum(map(len, missing.values()))
        most = min(most, 2.0 * wanted / (max(chances.values()) * len(missing)))
    return int(1.1 * min(most, MOST_DRAWN)) + 32


class _PoolTables(NamedTuple):
    """Tables for drawing operators of which at least one argument has a given depth.

    Attributes:
        arity: the number of arguments.
        found: the chance that at least one argument is deep, by number of arguments, float64
            `(1 + max_args,)`.
        free, deep, other: the key of an argument of any depth, of the given depth, and of any
            other depth.
    """

    arity: Choice
    found: NDArray[np.float64]
    free: Choice
    deep: Choice
    other: Choice


@functools.lru_cache(maxsize=1024)
def _pool_tables(distribution: KeyDistribution, height: int, depth: int) -> _PoolTables:
    argument = distribution.argument(height - 1)
    deep = {key: chance for key, chance in argument.items() if key & DEPTH_MASK == depth - 1}
    other = {key: chance for key, chance in argument.items() if key & DEPTH_MASK != depth - 1}
    grammar = distribution.grammar
    any_deep = _found(distribution, height, depth)
    return _PoolTables(
        arity=Choice(
            np.array(grammar.arities, np.int8), [any_deep[arity] for arity in grammar.arities]
        ),
        found=np.array(any_deep),
        free=_keys(argument),
        deep=_keys(deep),
        other=_keys(other or deep),  # without another depth the leader comes first
    )


def _found(distribution: KeyDistribution, height: int, depth: int) -> list[float]:
    """By number of arguments, the chance that at least one of them has depth `depth - 1`."""
    deep = total(
        chance
        for key, chance in distribution.argument(height - 1).items()
        if key & DEPTH_MASK == depth - 1
    )
    chances = [0.0]
    for _ in range(distribution.grammar.max_args):
        chances.append(chances[-1] + (1.0 - chances[-1]) * deep)
    return chances


def _keys(chances: dict[int, float]) -> Choice:
    keys = sorted(chances)
    return Choice(np.array(keys, np.int16), [chances[key] for key in keys])


def _draw_pool(
    draws: Draws, distribution: KeyDistribution, height: int, depth: int, size: int
) -> Operators:
    """Operators with `height` levels left, given that an argument has depth `depth - 1`.

    The first such argument is the leader: arguments before it have another depth, those behind it
    any depth.
    """
    grammar = distribution.grammar
    tables = _pool_tables(distribution, height, depth)
    arity = tables.arity.draw(draws, size).astype(np.int8, copy=False)
    uniform = draws.floats(size) * tables.found.take(arity)
    leader = (uniform >= tables.found[1:-1, None]).sum(axis=0, dtype=np.int8)
    leader = np.minimum(leader, arity - np.int8(1))
    rank = np.arange(grammar.max_args, dtype=np.int8)[:, None]
    (before,) = (rank[:-1] < leader).ravel().nonzero()  # the last never is
    (behind,) = ((rank[1:] < arity) & (rank[1:] > leader)).ravel().nonzero()  # the first never is
    others, frees = tables.other.draw(draws, len(before)), tables.free.draw(draws, len(behind))
    # Every argument that is there is the leader's until the others are set.
    arguments = (rank < arity) * tables.deep.draw(draws, size)
    drawn = arguments.ravel()
    drawn[before], drawn[size:][behind] = others, frees
    drawn_kinds = draws.integers(len(distribution.kinds), size)
    kinds = np.array(distribution.kinds, np.uint8).take(drawn_kinds)
    return Operators(distribution.keys(kinds, arity, arguments), kinds, arity, arguments)


@functools.lru_cache(maxsize=1024)
def _pool_chances(
    distribution: KeyDistribution, height: int, depth: int, any_value: bool
) -> dict[int, float]:
    """The chance of every key of this depth in a pool. With `any_value` of the depth."""
    any_deep = _found(distribution, height, depth)
    grammar = distribution.grammar
    mean_total = total(any_deep[arity] for arity in grammar.arities) / len(grammar.arities)
    by_key: dict[int, float] = {}
    for key, chance in operator_chances(distribution, height).items():
        if key & DEPTH_MASK == depth:
            kept = depth if any_value else key
            by_key[kept] = by_key.get(kept, 0.0) + chance / mean_total
    return by_key
