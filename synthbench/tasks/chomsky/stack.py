"""The deterministic context-free tasks: a stack is all the memory that they need."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.chomsky.functions import (
    END,
    Calculation,
    StringFunction,
    Strings,
)

#: The places of signs behind the numbers; 4 is * in one task and x in the other.
PLUS, MINUS, OPEN, CLOSE, TIMES, HIDDEN, EQUALS = 0, 1, 2, 3, 4, 4, 5
#: The longest expressions that are counted. Longer expressions are too many to run out.
_COUNTED = 12


class StackManipulation(StringFunction):
    """The content of a stack after some actions. To pop an empty stack does nothing."""

    given = (
        "the content of a stack, 0s and 1s from the bottom up, and then actions: push0 and push1 "
        "put a 0 or a 1 on top, pop takes the top away, or does nothing if the stack is empty"
    )
    asked = "what is on the stack after all actions, from the top down"
    symbols = ("0", "1", "pop", "push0", "push1")
    answers = ("0", "1", END)

    def shapes(self, length: int) -> tuple[Strings, Strings]:
        in_stack = np.arange(length) < np.arange(1, max(2, length))[:, None]
        return np.where(in_stack, 0, 2), np.where(in_stack, 2, 3)

    def answer(self, x: Strings) -> Strings:
        n, length = x.shape
        rows, stack, height = np.arange(n), np.zeros((n, length + 1), int), np.zeros(n, int)
        for symbol in x.T:
            stack[rows, height] = symbol % 3  # of 0, 1, push0 and push1 what they push
            height = np.maximum(height + np.where(symbol == 2, -1, 1), 0)
        place = height[:, None] - 1 - np.arange(length + 1)
        content = np.take_along_axis(stack, np.maximum(place, 0), axis=1)
        return np.select([place >= 0, place == -1], [content, 2], 3)


class ReverseString(StringFunction):
    """The string backwards."""

    asked = "the same string backwards"
    takes_numbers = copies = True

    def answer(self, x: Strings) -> Strings:
        return x[:, ::-1]


class ModularArithmeticBrackets(Calculation):
    """The value of an expression modulo a number, in which every operation has brackets."""

    given = (
        "an expression of numbers from 0 to {last}, +, -, * and brackets. "
        "A number may have a sign -"
    )
    asked = "its value modulo {modulus}, a number from 0 to {last}"
    signs = ("+", "-", "(", ")", "*")
    operators = (PLUS, MINUS, TIMES)

    def draw(self, draws: Draws, n: int, length: int) -> Strings:
        return _draw_expressions(draws, n, length, self.operators, self.modulus)

    def count(self, length: int) -> int | None:
        if length > _COUNTED:
            return None
        return _count(length, len(self.operators), self.modulus)[0]

    def every(self, length: int) -> Strings:
        return _expressions(length, self.operators, self.modulus)

    def answer(self, x: Strings) -> Strings:
        return _evaluate(x, self.modulus)


class SolveEquation(Calculation):
    """The hidden number of an expression of + and - whose value is given."""

    given = (
        "an equation modulo {modulus} of numbers from 0 to {last}, +, - and brackets, in which x "
        "stands for one of the numbers. A number may have a sign -"
    )
    asked = "x, a number from 0 to {last}"
    signs = ("+", "-", "(", ")", "x", "=")
    operators = (PLUS, MINUS)
    shortest = 3

    def draw(self, draws: Draws, n: int, length: int) -> Strings:
        x = _draw_expressions(draws, n, length - 2, self.operators, self.modulus)
        ordinal = np.cumsum((x < self.modulus).astype(int), axis=1)  # of each number, from 1
        hidden = 1 + draws.below(ordinal[:, -1])
        return self._hide(x, (ordinal == hidden[:, None]).argmax(axis=1))

    def count(self, length: int) -> int | None:
        if length > _COUNTED:
            return None
        return _count(length - 2, len(self.operators), self.modulus)[1]

    def every(self, length: int) -> Strings:
        x = _expressions(length - 2, self.operators, self.modulus)
        rows, places = np.nonzero(x < self.modulus)
        return self._hide(x[rows], places)

    def _hide(self, x: Strings, places: NDArray[np.intp]) -> Strings:
        """Equations from expressions, with x at these places."""
        value, x = _evaluate(x, self.modulus), x.copy()
        x[np.arange(len(x)), places] = self.modulus + HIDDEN
        return np.column_stack([x, np.full(len(x), self.modulus + EQUALS), value])

    def answer(self, x: Strings) -> Strings:
        left, value = x[:, :-2], x[:, -1]
        is_hidden = left == self.modulus + HIDDEN
        filled = [np.where(is_hidden, number, left) for number in (0, 1)]
        of_0, of_1 = np.split(_evaluate(np.concatenate(filled), self.modulus), 2)
        # The value changes by 1 or -1 with x, and both are their own inverse.
        return (value - of_0) * (of_1 - of_0) % self.modulus


def _evaluate(x: Strings, modulus: int) -> NDArray[np.int64]:
    """The values of expressions modulo a number, by a stack machine.

    Each open bracket has a level: its value so far, and the sign of the next operand and whether
    it is a factor. A - is a sign everywhere: `a - b` is the sum of a and -b.
    """
    n, length = x.shape
    rows, depth = np.arange(n), np.zeros(n, int)
    value, sign, factor = (np.zeros((n, length // 4 + 2), int) for _ in range(3))
    sign[:, 0] = 1
    for symbol in x.T:
        opens, closes = symbol == modulus + OPEN, symbol == modulus + CLOSE
        operand = np.where(closes, value[rows, depth], symbol)
        depth += opens.astype(int) - closes
        level = rows, depth
        is_operand, so_far, term = closes | (symbol < modulus), value[level], sign[level] * operand
        result = np.where(factor[level], so_far * term, so_far + term) % modulus
        value[level] = np.where(opens, 0, np.where(is_operand, result, so_far))
        starts = opens | is_operand
        sign[level] = np.where(starts, 1, np.where(symbol == modulus + MINUS, -1, 1) * sign[level])
        factor[level] = np.where(starts, 0, factor[level] | (symbol == modulus + TIMES))
    return value[:, 0]


def _draw_expressions(
    draws: Draws, n: int, length: int, operators: tuple[int, ...], modulus: int
) -> Strings:
    """Random expressions: the length of the left operand is uniform, and so is the rest.

    1 to 4 symbols are a number, with a sign if their count is even and with brackets if it is 3 or
    4. Longer expressions are two operands and an operator in brackets. All parts of one depth are
    drawn at once.
    """
    x = np.empty((n, length), np.int64)
    row, start, size = np.arange(n), np.zeros(n, int), np.full(n, length)
    while len(row):
        bracketed, signed, whole = size > 2, (size < 5) & (size % 2 == 0), size < 5
        x[row[bracketed], start[bracketed]] = modulus + OPEN
        x[row[bracketed], (start + size - 1)[bracketed]] = modulus + CLOSE
        x[row[signed], (start + size // 2 - 1)[signed]] = modulus + MINUS
        x[row[whole], (start + size // 2)[whole]] = draws.integers(modulus, int(whole.sum()))
        row, start, size = row[~whole], start[~whole] + 1, size[~whole] - 3
        left = 1 + draws.below(size - 1)
        drawn = draws.integers(len(operators), len(row))
        x[row, start + left] = modulus + np.array(operators)[drawn]
        row, start = np.tile(row, 2), np.concatenate([start, start + left + 1])
        size = np.concatenate([left, size - left])
    return x


@functools.cache
def _count(length: int, operators: int, modulus: int) -> tuple[int, int]:
    """The number of all expressions of a length, and of the numbers in all of them."""
    if length < 5:
        return modulus, modulus
    count = numbers = 0
    for size in range(1, length - 3):
        (left, in_left), (right, in_right) = (
            _count(part, operators, modulus) for part in (size, length - 3 - size)
        )
        count += left * operators * right
        numbers += operators * (in_left * right + left * in_right)
    return count, numbers


def _expressions(length: int, operators: tuple[int, ...], modulus: int) -> Strings:
    """All expressions of a length, `(count, length)`."""
    if length < 5:
        numbers = np.arange(modulus)
        signs = {1: (), 2: (MINUS,), 3: (OPEN, CLOSE), 4: (OPEN, MINUS, CLOSE)}[length]
        x = np.empty((modulus, length), np.int64)
        place = length // 2
        x[:, :place], x[:, place + 1 :] = (
            modulus + np.array(part, np.int64) for part in (signs[:place], signs[place:])
        )
        x[:, place] = numbers
        return x
    parts = []
    for size in range(1, length - 3):
        left = _expressions(size, operators, modulus)
        right = _expressions(length - 3 - size, operators, modulus)
        a, operator, b = (
            index.ravel() for index in np.indices((len(left), len(operators), len(right)))
        )
        x = np.empty((len(a), length), np.int64)
        x[:, 0], x[:, -1] = modulus + OPEN, modulus + CLOSE
        x[:, 1 : 1 + size], x[:, 2 + size : -1] = left[a], right[b]
        x[:, 1 + size] = modulus + np.array(operators)[operator]
        parts.append(x)
    return np.concatenate(parts)
