"""The value and dependency depth of a ListOps operator, from those of its arguments.

`ListOpsDistribution` has the rule for many operators at once (`keys`) and for probabilities
(`chances`). Only some arguments decide an operator's value: one decides MIN and MAX, the middle one
or two decide MED, all decide SM. The dependency depth is one more than the largest of theirs. Among
arguments with the same value the shallowest decide (`strict`), or the first in order (as
published).

Source: NDR, section C.2.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.trees.distribution import DEPTH_BITS, DEPTH_MASK, KeyDistribution

OPERATORS = ("MIN", "MAX", "MED", "SM")
_DIGITS = range(10)
_DEPTH_BITS, _POSITION_BITS = np.uint16(DEPTH_BITS), np.uint16(4)
_DEPTH_MASK = np.uint16(DEPTH_MASK)
_ALL_VALUE_BITS = np.uint16(15)
_ABSENT = np.uint16(0xFFFF)  # ranks behind every argument


@dataclasses.dataclass(frozen=True)
class ListOpsDistribution(KeyDistribution):
    """The law of an operator's value and dependency depth, given its arguments.

    Attributes:
        operators: names of the grammar's operators, by their numbers.
        strict: whether the shallowest of equal arguments decide, or the first.
    """

    operators: tuple[str, ...]
    strict: bool

    @property
    def leaves(self) -> dict[int, float]:
        return {digit << DEPTH_BITS: 0.1 for digit in _DIGITS}

    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int8], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        number = {name: kind for kind, name in enumerate(self.operators)}
        keyed = arguments.view(np.uint16)
        position = np.arange(len(arguments), dtype=np.int8)[:, None]
        # The least of these ranks decides: the depth is in their lowest bits, the value on top.
        ranked, depth_bits = keyed, _DEPTH_BITS
        if not self.strict:
            depths = keyed & _DEPTH_MASK
            ranked = (keyed ^ depths) << _POSITION_BITS
            ranked |= position.astype(np.uint16) << _DEPTH_BITS | depths
            depth_bits = _DEPTH_BITS + _POSITION_BITS
        # MAX is MIN of values that are turned upside down.
        turned = (kinds == number.get("MAX", -1)) * (_ALL_VALUE_BITS << depth_bits)
        ranked = ranked ^ turned
        least = self.grammar.min_args
        ranked[least:] |= (position[least:] >= arity) * _ABSENT
        decisive = ranked.min(axis=0)
        value, depth = (decisive ^ turned) >> depth_bits, decisive & _DEPTH_MASK
        (nodes,) = (kinds == number.get("MED", -1)).nonzero()
        if len(nodes):
            median = _median(ranked.take(nodes, axis=1), arity.take(nodes), depth_bits)
            value[nodes], depth[nodes] = median
        (nodes,) = (kinds == number.get("SM", -1)).nonzero()
        added = keyed.take(nodes, axis=1)
        sums = (added >> _DEPTH_BITS).sum(axis=0, dtype=np.uint16)
        value[nodes] = sums - sums // np.uint16(10) * np.uint16(10)  # as `%`, but faster
        depth[nodes] = (added & _DEPTH_MASK).max(axis=0)
        keys: NDArray[np.int16] = ((value << _DEPTH_BITS) | (depth + np.uint16(1))).view(np.int16)
        return keys

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        table, name = _table(tuple(arguments.items()), self.strict), self.operators[kind]
        outcomes = np.zeros((len(_DIGITS), table.depths))
        if name == "SM":
            table.add_sums(outcomes, arity)
        elif name == "MED" and arity % 2 == 0:
            half = range(arity // 2)
            table.add_ranked(outcomes, arity, half, half, table.second_shallowest)
            table.add_unequal_middles(outcomes, arity)
        else:
            rank = {"MIN": 0, "MAX": arity - 1, "MED": arity // 2}[name]
            below, above = range(rank + 1), range(arity - rank)
            table.add_ranked(outcomes, arity, below, above, table.shallowest)
        keys = np.arange(len(_DIGITS))[:, None] << DEPTH_BITS | np.arange(1, 1 + table.depths)
        if name == "SM":  # depth by depth: sums of chances are added up in this order
            keys, outcomes = keys.T, outcomes.T
        return dict(zip(keys.ravel().tolist(), outcomes.ravel().tolist(), strict=True))


def _median(
    ranked: NDArray[np.uint16], arity: NDArray[np.int8], depth_bits: np.uint16
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The median of each column, and the largest depth among the one or two that decide it.

    The ranks are sorted in place.
    """
    _sort_columns(ranked)
    columns, even = ranked.shape[1], arity & np.int8(1) == 0
    middle = np.arange(columns) + (arity // 2).astype(np.int64) * columns
    high = ranked.ravel().take(middle) >> depth_bits
    low = ranked.ravel().take(middle - even * columns) >> depth_bits
    # From a value on: lesser ranks wrap around, so that the first argument with it has the least.
    from_low, from_high = ranked - (low << depth_bits), ranked - (high << depth_bits)
    depth, other = from_low.min(axis=0), from_high.min(axis=0)
    # If two are in the middle and have one value, its first two decide.
    second = np.maximum(from_low[:-1], from_low[1:]).min(axis=0)
    other ^= (other ^ second) * (even & (low == high))
    return (low + high) >> np.uint16(1), np.maximum(depth & _DEPTH_MASK, other & _DEPTH_MASK)


def _sort_columns(matrix: NDArray[np.uint16]) -> None:
    """Sort every column in place, by odd-even transposition, which is fast for a few rows."""
    for turn in range(len(matrix)):
        upper, lower = matrix[turn % 2 : -1 : 2], matrix[turn % 2 + 1 :: 2]
        least = np.minimum(upper, lower)
        np.maximum(upper, lower, out=lower)
        upper[:] = least


#: Chances by value and depth, float64 `(10, depths)`.
Chances = NDArray[np.float64]


@functools.lru_cache(maxsize=64)
def _table(arguments: tuple[tuple[int, float], ...], strict: bool) -> _Table:
    return _Table(dict(arguments), strict)


class _Table:
    """The chances of one argument's value and depth, and of the deciding ones among several.

    `add_sums`, `add_ranked` and `add_unequal_middles` add to the chance of each value and of the
    largest depth among the deciding arguments. All chances are sums of products of positive
    numbers, so that no digits are lost by cancellation. Every sum is added up from left to right,
    by elementwise additions or `cumsum`, so that the result has the same bits everywhere.
    """

    def __init__(self, arguments: dict[int, float], strict: bool) -> None:
        self.strict = strict
        self.depths = 1 + max(key & DEPTH_MASK for key in arguments)
        self.cell = np.zeros((len(_DIGITS), self.depths))
        for key, chance in arguments.items():
            self.cell[key >> DEPTH_BITS, key & DEPTH_MASK] = chance
        self.shallower = _before(self.cell)
        self.deeper = _behind(self.cell)
        self.equal = np.cumsum(self.cell, axis=1)[:, -1:]
        self.less = _before(self.equal.T).T
        self.more = _behind(self.equal.T).T

    def add_sums(self, outcomes: Chances, arity: int) -> None:
        """SM: the sum modulo 10 and the largest depth of all."""
        deepest = np.zeros((len(_DIGITS), self.depths))
        deepest[0] = 1.0
        for count in range(1, arity + 1):
            deepest = _add_modulo(deepest, self.cell)
            sums = deepest
            for _ in range(arity - count):
                sums = _add_modulo(sums, self.shallower)
            outcomes += math.comb(arity, count) * sums

    def add_ranked(
        self,
        outcomes: Chances,
        arity: int,
        fewer: range,
        more: range,
        deciding: Callable[[int], Chances],
    ) -> None:
        """Values that are decided by arguments equal to them.

        Args:
            outcomes: the chances so far, to which these are added.
            arity: number of arguments.
            fewer: how many arguments may be less than the value.
            more: how many may be greater.
            deciding: `shallowest` if one argument decides, `second_shallowest` if two do.
        """
        for below, above in itertools.product(fewer, more):
            ways = math.comb(arity, below) * math.comb(arity - below, above)
            beside = ways * _power(self.less, below) * _power(self.more, above)
            outcomes += beside * deciding(arity - below - above)

    def add_unequal_middles(self, outcomes: Chances, arity: int) -> None:
        """MED of an even number whose middle values differ: half are at most the lower one."""
        half = arity // 2
        lower = math.comb(arity, half) * self._ends(self.less, half)
        upper = self._ends(self.more, half)
        depth = np.arange(self.depths)
        for middle in _DIGITS[:-1]:
            pairs = [
                (low, high)
                for low in range(middle + 1)
                for high in (2 * middle - low, 2 * middle - low + 1)
                if low < high < len(_DIGITS)
            ]
            lows, highs = zip(*pairs, strict=True)
            both = lower[[*lows], :, None] * upper[[*highs], None]
            # Row d: the pairs of depths whose larger depth is d, in order.
            parts = both.swapaxes(1, 2) * (depth < depth[:, None]), both * (depth <= depth[:, None])
            chances = np.concatenate(parts, axis=2).swapaxes(0, 1).reshape(self.depths, -1)
            chances = np.hstack([outcomes[middle, :, None], chances])
            outcomes[middle] = np.cumsum(chances, axis=1)[:, -1]

    def _ends(self, beyond: Chances, count: int) -> Chances:
        """The deciding depth if some of `count` arguments equal a value and the rest lie beyond."""
        chances = np.zeros((len(_DIGITS), self.depths))
        for equal in range(1, count + 1):
            beside = math.comb(count, equal) * _power(beyond, count - equal)
            chances += beside * self.shallowest(equal)
        return chances

    @functools.lru_cache(maxsize=16)  # noqa: B019 - few tables are alive at a time
    def shallowest(self, count: int) -> Chances:
        """The depth of the argument that decides among `count` of the same value."""
        if self.strict:
            return self._some(count, 1)
        return self.cell * _power(self.equal, count - 1)

    @functools.lru_cache(maxsize=16)  # noqa: B019
    def second_shallowest(self, count: int) -> Chances:
        """The larger depth of the two arguments that decide among `count` of the same value."""
        if not self.strict:
            pair = self.cell * self.cell + 2.0 * self.cell * self.shallower
            return pair * _power(self.equal, count - 2)
        alone = np.zeros_like(self.cell)  # one is shallower, at least one has this depth
        for same in range(1, count):
            alone += (
                count
                * self.shallower
                * math.comb(count - 1, same)
                * _power(self.cell, same)
                * _power(self.deeper, count - 1 - same)
            )
        return alone + self._some(count, 2)

    def _some(self, count: int, least: int) -> Chances:
        """The chance that at least `least` of `count` arguments have a depth, the rest more."""
        chances = np.zeros_like(self.cell)
        for same in range(least, count + 1):
            beside = math.comb(count, same) * _power(self.cell, same)
            chances += beside * _power(self.deeper, count - same)
        return chances


def _before(chances: Chances) -> Chances:
    """In each row, the sum of the chances before each place."""
    return np.pad(np.cumsum(chances, axis=1)[:, :-1], [(0, 0), (1, 0)])


def _behind(chances: Chances) -> Chances:
    """In each row, the sum of the chances behind each place, added up from left to right."""
    sums = np.zeros_like(chances)
    for place in range(1, chances.shape[1]):
        sums[:, :place] += chances[:, place : place + 1]
    return sums


def _add_modulo(sums: Chances, argument: Chances) -> Chances:
    """The chance of each sum modulo 10 when one more argument is added."""
    values = np.arange(len(_DIGITS))
    others = argument.take(values - values[:, None], axis=0, mode="wrap")
    result: Chances = np.cumsum(sums[:, None] * others, axis=0)[-1]
    return result


def _power(base: Chances, exponent: int) -> Chances | float:
    """`base ** exponent` by multiplication: the same bits with every C library."""
    result: Chances | float = 1.0
    for _ in range(exponent):
        result = result * base
    return result
