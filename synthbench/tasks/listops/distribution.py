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
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import total
from synthbench.tasks.trees.distribution import DEPTH_BITS, DEPTH_MASK, KeyDistribution

OPERATORS = ("MIN", "MAX", "MED", "SM")
_DIGITS = range(10)
_ONE_DEPTH, _TWO_DEPTHS = np.uint16(DEPTH_BITS), np.uint16(2 * DEPTH_BITS)
_DEPTH_MASK = np.uint16(DEPTH_MASK)
_ALL_VALUE_BITS = np.uint16(15 << (2 * DEPTH_BITS))
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
        values = (arguments >> DEPTH_BITS).view(np.uint16)
        depths = (arguments & DEPTH_MASK).view(np.uint16)
        # Of equal values the first in this order decides.
        position = np.arange(len(arguments), dtype=np.int8)[:, None]
        tie = depths if self.strict else position.astype(np.uint16)
        ranked = (values << _TWO_DEPTHS) | (tie << _ONE_DEPTH) | depths
        # MAX is MIN of values that are turned upside down.
        turned = (kinds == number.get("MAX", -1)) * _ALL_VALUE_BITS
        ranked ^= turned
        ranked |= (position >= arity) * _ABSENT
        decisive = ranked.min(axis=0)
        value, depth = (decisive ^ turned) >> _TWO_DEPTHS, decisive & _DEPTH_MASK
        nodes = np.flatnonzero(kinds == number.get("MED", -1))
        value[nodes], depth[nodes] = _median(ranked.take(nodes, axis=1), arity.take(nodes))
        nodes = np.flatnonzero(kinds == number.get("SM", -1))
        value[nodes] = values.sum(axis=0, dtype=np.uint16).take(nodes) % np.uint16(10)
        depth[nodes] = depths.max(axis=0).take(nodes)
        keys: NDArray[np.int16] = ((value << _ONE_DEPTH) | (depth + np.uint16(1))).view(np.int16)
        return keys

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        table = _Table(arguments, self.strict)
        name = self.operators[kind]
        outcomes: dict[int, float] = {}
        if name == "SM":
            terms = table.sums(arity)
        elif name == "MED" and arity % 2 == 0:
            half = range(arity // 2)
            terms = itertools.chain(
                table.ranked(arity, half, half, table.second_shallowest),
                table.unequal_middles(arity),
            )
        else:
            rank = {"MIN": 0, "MAX": arity - 1, "MED": arity // 2}[name]
            terms = table.ranked(arity, range(rank + 1), range(arity - rank), table.shallowest)
        for value, depth, chance in terms:
            key = (value << DEPTH_BITS) | (depth + 1)
            outcomes[key] = outcomes.get(key, 0.0) + chance
        return outcomes


def _median(
    ranked: NDArray[np.uint16], arity: NDArray[np.int8]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The median of each column, and the largest depth among the one or two that decide it."""
    _sort_columns(ranked)
    value, depth = _first_of_value(ranked, (arity - 1) // 2)
    # If two are in the middle and have one value, its first two decide.
    pairs = np.flatnonzero(arity % 2 == 0)
    low = value.take(pairs)
    high, other = _first_of_value(ranked.take(pairs, axis=1), arity.take(pairs) // 2, low)
    value[pairs] = (low + high) >> np.uint16(1)
    depth[pairs] = np.maximum(depth.take(pairs), other)
    return value, depth


def _pick(matrix: NDArray[np.uint16], row: NDArray[np.integer[Any]]) -> NDArray[np.uint16]:
    """The element of every column of the matrix that is in its row."""
    columns = matrix.shape[1]
    places: NDArray[np.int64] = np.multiply(row, columns, dtype=np.int64) + np.arange(columns)
    return matrix.ravel().take(places)


def _first_of_value(
    ranked: NDArray[np.uint16], rank: NDArray[np.int8], taken: NDArray[np.uint16] | None = None
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """In each column the value at a rank, and the depth of the first argument with this value.

    If this value is the `taken` one, the depth is that of the second argument with it.
    """
    value = _pick(ranked, rank) >> _TWO_DEPTHS
    first = (ranked < value << _TWO_DEPTHS).sum(axis=0, dtype=np.int8)
    if taken is not None:
        first += value == taken
    return value, _pick(ranked, first) & _DEPTH_MASK


def _sort_columns(matrix: NDArray[np.uint16]) -> None:
    """Sort every column in place, by odd-even transposition, which is fast for a few rows."""
    for turn in range(len(matrix)):
        for row in range(turn % 2, len(matrix) - 1, 2):
            upper, lower = matrix[row], matrix[row + 1]
            least = np.minimum(upper, lower)
            np.maximum(upper, lower, out=lower)
            upper[:] = least


#: A depth and its chance. A value, a depth and their chance.
Chance = tuple[int, float]
Term = tuple[int, int, float]


class _Table:
    """The chances of one argument's value and depth, and of the deciding ones among several.

    `sums`, `ranked` and `unequal_middles` yield a value, the largest depth among the deciding
    arguments, and a chance, which are to be added up. All chances are sums of products of positive
    numbers, so that no digits are lost by cancellation.
    """

    def __init__(self, arguments: dict[int, float], strict: bool) -> None:
        self.strict = strict
        self.depths = range(1 + max(key & DEPTH_MASK for key in arguments))
        self.cell = [
            [arguments.get((value << DEPTH_BITS) | depth, 0.0) for depth in self.depths]
            for value in _DIGITS
        ]
        self.equal = [total(row) for row in self.cell]
        self.less = [total(self.equal[:value]) for value in _DIGITS]
        self.more = [total(self.equal[value + 1 :]) for value in _DIGITS]

    def sums(self, arity: int) -> Iterator[Term]:
        """SM: the sum modulo 10 and the largest depth of all."""
        for depth in self.depths:
            exactly = [row[depth] for row in self.cell]
            below = [total(row[:depth]) for row in self.cell]
            for count in range(1, arity + 1):
                sums = [1.0] + [0.0] * 9
                for step in range(arity):
                    sums = _add_modulo(sums, exactly if step < count else below)
                for value in _DIGITS:
                    yield value, depth, math.comb(arity, count) * sums[value]

    def ranked(
        self,
        arity: int,
        fewer: range,
        more: range,
        deciding: Callable[[int, int], Iterator[Chance]],
    ) -> Iterator[Term]:
        """Values that are decided by arguments equal to them.

        Args:
            arity: number of arguments.
            fewer: how many arguments may be less than the value.
            more: how many may be greater.
            deciding: `shallowest` if one argument decides, `second_shallowest` if two do.
        """
        for value in _DIGITS:
            for below, above in itertools.product(fewer, more):
                beside = (
                    math.comb(arity, below)
                    * math.comb(arity - below, above)
                    * _power(self.less[value], below)
                    * _power(self.more[value], above)
                )
                for depth, chance in deciding(value, arity - below - above):
                    yield value, depth, beside * chance

    def unequal_middles(self, arity: int) -> Iterator[Term]:
        """MED of an even number whose middle values differ: half are at most the lower one."""
        half = arity // 2
        for low, high in itertools.combinations(_DIGITS, 2):
            lower = self._end(low, self.less[low], half)
            upper = self._end(high, self.more[high], half)
            for (depth, chance), (other, factor) in itertools.product(lower, upper):
                yield (low + high) // 2, max(depth, other), math.comb(arity, half) * chance * factor

    def _end(self, value: int, beyond: float, count: int) -> list[Chance]:
        """The deciding depth if some of `count` arguments equal `value` and the rest lie beyond."""
        chances = [0.0 for _ in self.depths]
        for equal in range(1, count + 1):
            beside = math.comb(count, equal) * _power(beyond, count - equal)
            for depth, chance in self.shallowest(value, equal):
                chances[depth] += beside * chance
        return list(enumerate(chances))

    def shallowest(self, value: int, count: int) -> Iterator[Chance]:
        """The depth of the argument that decides among `count` of the same value."""
        row = self.cell[value]
        for depth in self.depths:
            if self.strict:
                yield depth, self._some(row, depth, count, 1)
            else:
                yield depth, row[depth] * _power(self.equal[value], count - 1)

    def second_shallowest(self, value: int, count: int) -> Iterator[Chance]:
        """The larger depth of the two arguments that decide among `count` of the same value."""
        row = self.cell[value]
        for depth in self.depths:
            shallower, deeper = total(row[:depth]), total(row[depth + 1 :])
            if not self.strict:
                pair = row[depth] * row[depth] + 2.0 * row[depth] * shallower
                yield depth, pair * _power(self.equal[value], count - 2)
                continue
            alone = total(  # one is shallower, at least one has this depth
                count
                * shallower
                * math.comb(count - 1, same)
                * _power(row[depth], same)
                * _power(deeper, count - 1 - same)
                for same in range(1, count)
            )
            yield depth, alone + self._some(row, depth, count, 2)

    def _some(self, row: list[float], depth: int, count: int, least: int) -> float:
        """The chance that at least `least` of `count` arguments have this depth, the rest more."""
        deeper = total(row[depth + 1 :])
        return total(
            math.comb(count, same) * _power(row[depth], same) * _power(deeper, count - same)
            for same in range(least, count + 1)
        )


def _add_modulo(sums: list[float], argument: list[float]) -> list[float]:
    """The chance of each sum modulo 10 when one more argument is added."""
    result = [0.0] * 10
    for value in _DIGITS:
        for added in _DIGITS:
            result[(value + added) % 10] += sums[value] * argument[added]
    return result


def _power(base: float, exponent: int) -> float:
    """`base ** exponent` by multiplication: the same bits with every C library."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result
