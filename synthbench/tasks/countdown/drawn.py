"""Equations drawn from their values down: every row has a solution, and targets are uniform.

    46  =  a + b        an operation among those that are possible, each as likely
           25   21      the second operand, uniform among those that are possible
                c * d   and so on, in the form of a binary tree, of which all are as likely
                3   7

All values on the way are whole numbers from 1 to `MOST`. Leaves are at most the largest number.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

Ints = NDArray[np.int64]
#: A binary tree: None is a leaf.
Shape = tuple[Any, Any] | None

SIGNS = ("+", "-", "*", "/", "(", ")")
PLUS, MINUS, TIMES, OVER, OPEN, CLOSE = range(1, 7)
#: The id of the number n in an equation is n + NUMBERS; 0 is left out.
NUMBERS = len(SIGNS)
#: The largest value of a part of an equation.
MOST = 1_000


class Equations(NamedTuple):
    """Equations of so many numbers.

    Attributes:
        numbers: their numbers from left to right, `(rows, numbers)`.
        ids: their signs and numbers as ids, 0 in between and behind, `(rows, 4 * numbers - 5)`.
        possible: false where no operation was possible at some step, `(rows,)`.
    """

    numbers: Ints
    ids: Ints
    possible: NDArray[np.bool_]


def draw_equations(
    draws: Draws, targets: Ints, count: int, largest: int, operations: str
) -> Equations:
    """Equations of `count` numbers from 1 to `largest` that have these values.

    Args:
        draws: the randomness.
        targets: the values, from 1 to `MOST`, `(rows,)`.
        count: how many numbers each has, at least 2.
        largest: the largest number.
        operations: some of `+-*/`.
    """
    signs = [1 + SIGNS.index(sign) for sign in operations]
    numbers = np.empty((len(targets), count), np.int64)
    ids = np.zeros((len(targets), 4 * count - 5), np.int64)
    possible = np.empty(len(targets), np.bool_)
    shapes = _shapes(count)
    shape_of = draws.integers(len(shapes), len(targets))
    for index, shape in enumerate(shapes):
        rows = np.flatnonzero(shape_of == index)
        part = _grow(draws, shape, targets[rows], largest, signs)
        numbers[rows] = np.stack(part.numbers, axis=1)
        ids[rows] = np.stack(part.ids, axis=1)
        possible[rows] = part.possible
    return Equations(numbers, ids, possible)


@functools.cache
def _shapes(leaves: int) -> tuple[Shape, ...]:
    """All binary trees with so many leaves."""
    if leaves == 1:
        return (None,)
    return tuple(
        (left, right)
        for before in range(1, leaves)
        for left in _shapes(before)
        for right in _shapes(leaves - before)
    )


class _Part(NamedTuple):
    """Expressions of one shape: columns of numbers and ids, `(rows,)` each, and their last sign."""

    numbers: list[Ints]
    ids: list[Ints]
    sign: Ints | None
    possible: NDArray[np.bool_] | bool


def _grow(draws: Draws, shape: Shape, values: Ints, largest: int, signs: list[int]) -> _Part:
    if shape is None:
        return _Part([values], [values + NUMBERS], None, True)
    most = tuple(largest if child is None else MOST for child in shape)
    low, count = _second_operands(values, *most)
    allowed = count[signs] > 0
    ways = allowed.sum(axis=0)
    number = draws.below(np.maximum(ways, 1))
    # The operation whose number among the possible operations was drawn.
    sign = np.array(signs)[(allowed & (allowed.cumsum(axis=0) - 1 == number)).argmax(axis=0)]
    rows = np.arange(len(values))
    drawn = draws.below(np.maximum(count[sign, rows], 1))
    divisors = _divisors(*most)[1]
    divisor = divisors[values, np.minimum(drawn, divisors.shape[1] - 1)]
    second = np.where(sign == TIMES, divisor, low[sign, rows] + drawn)
    # Rows without a possible operation are dropped later. Until then their values are in range.
    second = np.where(ways > 0, second, 1)
    first = np.choose(
        sign - 1, [values - second, values + second, values // second, values * second]
    ).clip(1, MOST)
    left, right = (
        _grow(draws, child, part, largest, signs)
        for child, part in zip(shape, (first, second), strict=True)
    )
    is_product = sign >= TIMES
    ids = [
        *_bracketed(left, is_product),
        sign,
        *_bracketed(right, is_product | (sign == MINUS), sign == OVER),
    ]
    possible = (ways > 0) & left.possible & right.possible
    return _Part(left.numbers + right.numbers, ids, sign, possible)


def _second_operands(values: Ints, most_first: int, most_second: int) -> tuple[Ints, Ints]:
    """The least second operand of each operation, and how many are possible, `(5, rows)` each.

    Operands are from 1 to their largest value. Factors and divisors of 1 are left out.
    """
    low, high = np.ones((2, 5, len(values)), np.int64)
    low[PLUS] = np.maximum(1, values - most_first)
    high[PLUS] = np.minimum(most_second, values - 1)
    high[MINUS] = np.minimum(most_second, most_first - values)
    low[OVER] = 2
    high[OVER] = np.minimum(most_second, most_first // values)
    count = np.maximum(0, high - low + 1)
    count[TIMES] = _divisors(most_first, most_second)[0][values]
    return low, count


@functools.cache
def _divisors(most_first: int, most_second: int) -> tuple[Ints, Ints]:
    """The second factors of each value up to `MOST`: how many there are, and these."""
    factors = [
        [b for b in range(2, most_second + 1) if v % b == 0 and 2 <= v // b <= most_first]
        for v in range(MOST + 1)
    ]
    counts = np.array(list(map(len, factors)))
    table = np.ones((MOST + 1, max(counts)), np.int64)
    for value, divisors in enumerate(factors):
        table[value, : len(divisors)] = divisors
    return counts, table


def _bracketed(
    part: _Part, around_sums: NDArray[np.bool_], around_products: NDArray[np.bool_] | bool = False
) -> list[Ints]:
    """The ids of an operand, with brackets around it in some rows."""
    if part.sign is None:
        return part.ids
    needed = np.where(part.sign < TIMES, around_sums, around_products)
    return [OPEN * needed, *part.ids, CLOSE * needed]
