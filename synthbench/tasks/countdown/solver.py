"""The reference solver of countdown: it enumerates what parts of the numbers can reach.

An equation divides its numbers into two parts. All values of the smaller part are listed. For each
of these values and each operation, the larger part must reach one certain value, and so on down.
Values are exact. Where whole numbers above 0 do not lead to the target, the search is repeated with
negative numbers, 0 and fractions on the way.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from fractions import Fraction

FEWEST, MOST = 3, 6
LEAST_TARGET, LARGEST_TARGET = 10, 99
#: The largest number that any row may have.
LARGEST = 200

Value = int | Fraction
Part = tuple[int, ...]
#: An operand of which any expression will do.
_ANY = None


def read(question: str) -> tuple[list[int], int]:
    """The numbers and the target of a row.

    Raises:
        ValueError: the text is not a row of the task.
    """
    match = re.fullmatch(
        r"([1-9][0-9]{0,2}(?: [1-9][0-9]{0,2}){2,5}) -> ([1-9][0-9])", question
    ) if isinstance(question, str) else None  # fmt: skip
    numbers = [int(word) for word in match[1].split(" ")] if match else []
    if match is None or max(numbers) > LARGEST:
        raise ValueError(
            f"expected {FEWEST} to {MOST} numbers from 1 to {LARGEST}, an arrow and a target from "
            f"{LEAST_TARGET} to {LARGEST_TARGET}, such as '3 7 25 100 -> 46', got "
            f"{str(question)[:80]!r}"
        )
    return numbers, int(match[2])


def solve(numbers: list[int], target: int, operations: str, every_number: bool) -> str:
    """A right equation.

    Args:
        numbers: the numbers.
        target: the value to reach.
        operations: some of `+-*/`.
        every_number: whether each number must be used.

    Raises:
        ValueError: the numbers do not reach the target.
    """
    counts = range(len(numbers) if every_number else 1, len(numbers) + 1)
    parts = [part for n in counts for part in itertools.combinations(sorted(numbers), n)]
    for search in (_Search(operations, whole=True), _Search(operations, whole=False)):
        for part in dict.fromkeys(parts):
            if (equation := search.reach(part, target)) is not None:
                return equation.removeprefix("( ").removesuffix(" )")
    raise ValueError(f"no equation of {' '.join(map(str, numbers))} has the value {target}")


class _Search:
    """The search for expressions. Parts are ascending tuples of numbers.

    Args:
        operations: the operations allowed.
        whole: whether all values must be whole numbers above 0.
    """

    def __init__(self, operations: str, whole: bool) -> None:
        self._operations, self._whole = operations, whole
        self.reach = functools.cache(self._reach)
        self._values = functools.cache(self._list_values)

    def _reach(self, part: Part, goal: Value) -> str | None:
        """An expression of all numbers of a part that has this value, or None."""
        if len(part) <= 2:
            return self._values(part).get(goal)
        for smaller, larger in _divisions(part):
            for value, text in self._values(smaller).items():
                for needed, form in self._needed(goal, value):
                    if self._whole and not (isinstance(needed, int) and needed > 0):
                        continue
                    other = self._first(larger) if needed is _ANY else self.reach(larger, needed)
                    if other is not None:
                        return form.format(text, other)
        return None

    def _first(self, part: Part) -> str:
        return next(iter(self._values(part).values()))

    def _needed(self, goal: Value, value: Value) -> Iterator[tuple[Value | None, str]]:
        """The value that the other operand must have, and the form, by operation and order."""
        allowed = self._operations
        if "+" in allowed:
            yield goal - value, "( {0} + {1} )"
        if "-" in allowed:
            yield goal + value, "( {1} - {0} )"
            yield value - goal, "( {0} - {1} )"
        if "*" in allowed and (value or not goal):
            yield _quotient(goal, value) if value else _ANY, "( {0} * {1} )"
        if "/" in allowed and value:
            yield goal * value, "( {1} / {0} )"
            if goal:
                yield _quotient(value, goal), "( {0} / {1} )"

    def _list_values(self, part: Part) -> dict[Value, str]:
        """All values of expressions of all numbers of a part, each with one of these."""
        if len(part) == 1:
            return {part[0]: str(part[0])}
        forms: dict[Value, str] = {}
        for side, other in _divisions(part):
            for (a, first), (b, second) in itertools.product(
                self._values(side).items(), self._values(other).items()
            ):
                for value, form in self._combined(a, b):
                    if not self._whole or (isinstance(value, int) and value > 0):
                        forms.setdefault(value, form.format(first, second))
        return forms

    def _combined(self, a: Value, b: Value) -> Iterator[tuple[Value, str]]:
        allowed = self._operations
        if "+" in allowed:
            yield a + b, "( {0} + {1} )"
        if "-" in allowed:
            yield a - b, "( {0} - {1} )"
            yield b - a, "( {1} - {0} )"
        if "*" in allowed:
            yield a * b, "( {0} * {1} )"
        if "/" in allowed and b:
            yield _quotient(a, b), "( {0} / {1} )"
        if "/" in allowed and a:
            yield _quotient(b, a), "( {1} / {0} )"


@functools.lru_cache(maxsize=1 << 12)
def _divisions(part: Part) -> list[tuple[Part, Part]]:
    """All ways to divide a part into two, the first of which is not the larger."""
    ways: dict[tuple[Part, Part], None] = {}
    for count in range(1, len(part) // 2 + 1):
        for places in itertools.combinations(range(len(part)), count):
            first = tuple(part[place] for place in places)
            second = tuple(number for place, number in enumerate(part) if place not in places)
            ways.setdefault((first, second))
    return list(ways)


def _quotient(a: Value, b: Value) -> Value:
    """The exact quotient, as an `int` where it is whole: whole numbers are faster."""
    quotient = Fraction(a) / b
    return quotient.numerator if quotient.denominator == 1 else quotient
