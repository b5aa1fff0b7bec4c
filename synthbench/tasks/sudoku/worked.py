"""Worked solutions of sudoku: forced digits, and digits that lead to a contradiction.

    1,2 = 3: forced by row 1 and digit 3.
    Not 4 at 2,3: then 2,4 = 1, 3,3 = 2, and nothing is left for column 4 and digit 2.

A cell is named by its row and column, counted from 1. A digit is forced by its cell if no other
digit is left there, and by a row, column or box if no other cell of it is left for the digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from synthbench.tasks.sudoku import solver
from synthbench.tasks.sudoku.task import SHAPES, Sudoku
from synthbench.tasks.worked import Sentence, ended, expect, following

_FORCED = Sentence("{} = {}: forced by {}.")
_WRONG = Sentence("Not {} at {}: then {}, and nothing is left for {}.")

Place = tuple[int, int]


def write_steps(task: Sudoku, question: str) -> Iterator[str]:
    """All forced digits, and between them the first guess that is refuted.

    Raises:
        ValueError: the text is not a puzzle with one solution.
    """
    cells = SHAPES[task.variant].cells
    cover = solver.cover_of(solver.read(question, cells))
    while cover:
        name, options = min(cover.items(), key=lambda item: len(item[1]))
        if len(options) == 1:
            (option,) = options
            yield _FORCED(_named(option[0], cells), option[1], _unit(name))
            cover = solver.chosen(cover, option, cells)
            continue
        for option, chain, unmet in _refuted(cover, cells):
            then = ", ".join(f"{_named(cell, cells)} = {digit}" for cell, digit in chain)
            digit = f"{option[1]}", _named(option[0], cells)
            yield _WRONG(*digit, then or "the rest stays", _unit(unmet))
            cover = solver.without(cover, [option], cells)
            break
        else:
            raise ValueError("no single guess leads to a contradiction")
    if cover is None:
        raise ValueError("the grid cannot be filled")


def _refuted(
    cover: solver.Cover, cells: int
) -> Iterator[tuple[solver.Option, list[solver.Option], solver.Constraint]]:
    """Guesses after which nothing is left for a constraint, with the forced options until then."""
    for options in sorted(cover.values(), key=len):
        for option in sorted(options):
            left, chain = solver.chosen(cover, option, cells), list[solver.Option]()
            while left:
                name, least = min(left.items(), key=lambda item: len(item[1]))
                if len(least) > 1:
                    break
                if not least:
                    yield option, chain, name
                    break
                chain.append(next(iter(least)))
                left = solver.chosen(left, chain[-1], cells)


def _named(cell: int, cells: int) -> str:
    row, column = divmod(cell, math.isqrt(cells))
    return f"{row + 1},{column + 1}"


def _unit(name: solver.Constraint) -> str:
    """A constraint in words."""
    kind, first, second = name
    if kind == "cell":
        return f"cell {first + 1},{second + 1}"
    return f"{kind} {first + 1} and digit {second}"


def replay_steps(task: Sudoku, question: str, steps: Sequence[str]) -> str:
    """Follow the steps with the digits that each cell may have, and fill in the grid.

    Raises:
        ValueError: a digit is not forced, or a guess does not lead to a contradiction.
    """
    board = _Board(task, question)
    left = iter(steps)
    while not board.is_full:
        step = following(left)
        if step.startswith("Not"):
            digit, place, then, unit = _WRONG.read(step)
            guess = board.copy()
            guess.fill(step, place, digit)
            for pair in then.split(", ") if then != "the rest stays" else []:
                cell, _, forced = pair.partition(" = ")
                expect(step, (guess.is_forced(cell, forced), True))
                guess.fill(step, cell, forced)
            expect(step, (guess.ways(unit), 0))
            board.cross_out(step, place, digit)
        else:
            place, digit, unit = _FORCED.read(step)
            expect(step, (board.ways(unit), 1), (board.allows(place, digit), True))
            expect(step, (board.is_in(place, digit, unit), True))
            board.fill(step, place, digit)
    ended(left)
    return board.text


class _Board:
    """The digits that are left in each cell."""

    def __init__(self, task: Sudoku, question: str) -> None:
        self._shape = SHAPES[task.variant]
        size = self._shape.size
        self._left = {divmod(at, size): {*range(1, size + 1)} for at in range(size**2)}
        self._given = dict[Place, int]()
        for at, word in enumerate(question.split(" ")):
            if word != ".":
                row, column = divmod(at, size)
                self.fill(question, f"{row + 1},{column + 1}", word)

    def copy(self) -> _Board:
        other = object.__new__(_Board)
        other._shape, other._given = self._shape, dict(self._given)
        other._left = {place: set(digits) for place, digits in self._left.items()}
        return other

    @property
    def is_full(self) -> bool:
        return len(self._given) == self._shape.cells

    @property
    def text(self) -> str:
        return " ".join(str(self._given[place]) for place in sorted(self._given))

    def _units(self, place: Place) -> tuple[tuple[str, int], ...]:
        row, column = place
        box = row // self._shape.high * self._shape.high + column // self._shape.wide
        return ("row", row + 1), ("column", column + 1), ("box", box + 1)

    def _place(self, named: str) -> Place:
        row, column = map(int, named.split(","))
        if (row - 1, column - 1) not in self._left:
            raise ValueError(f"{named} is not a cell")
        return row - 1, column - 1

    def allows(self, named: str, digit: str) -> bool:
        return int(digit) in self._left[self._place(named)]

    def fill(self, step: str, named: str, digit: str) -> None:
        place, number = self._place(named), int(digit)
        if number not in self._left[place] or place in self._given:
            raise ValueError(f"the step {step!r} has {digit} at {named}, where it cannot be")
        self._given[place] = number
        self._left[place] = {number}
        for other, digits in self._left.items():
            if other != place and {*self._units(other)} & {*self._units(place)}:
                digits.discard(number)

    def cross_out(self, step: str, named: str, digit: str) -> None:
        if not self.allows(named, digit):
            raise ValueError(f"the step {step!r} crosses out {digit} at {named} again")
        self._left[self._place(named)].remove(int(digit))

    def _places(self, unit: str) -> list[Place]:
        """The cells of a unit."""
        kind, number = unit.split(" ")[:2]
        return [place for place in self._left if (kind, int(number)) in self._units(place)]

    def ways(self, unit: str) -> int:
        """In how many ways a cell, or the digit of a unit, can be had."""
        if unit.startswith("cell "):
            return len(self._left[self._place(unit.removeprefix("cell "))])
        digit = int(unit.rpartition(" ")[2])
        return sum(digit in self._left[place] for place in self._places(unit))

    def is_in(self, named: str, digit: str, unit: str) -> bool:
        """True if a unit or cell has this cell, and is about this digit."""
        if unit.startswith("cell "):
            return unit == f"cell {named}"
        return unit.endswith(f" digit {digit}") and self._place(named) in self._places(unit)

    def is_forced(self, named: str, digit: str) -> bool:
        """True if a cell can have this digit alone, or is the only cell of a unit that can."""
        place = self._place(named)
        if not self.allows(named, digit):
            return False
        units = [f"{kind} {number} and digit {digit}" for kind, number in self._units(place)]
        return any(self.ways(unit) == 1 for unit in (f"cell {named}", *units))
