"""The arrangements of a grid that keep its rules, and hashes that all of them share.

Bands change places, as do the rows of a band, the stacks, the columns of a stack, and the digits.
Grids of square boxes can also be transposed.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, mix
from synthbench.tasks.sudoku.masks import Ints, Shape

Digits = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
#: Rounds of colour refinement.
_ROUNDS = 5
#: Puzzles of 4 x 4 cells that are hashed together.
_CHUNK = 256


def draw_arrangements(draws: Draws, n: int, shape: Shape) -> tuple[Ints, Digits]:
    """Arrangements, each as likely.

    Returns:
        The old position of each cell, `(n, cells)`, and the new digit of each digit, 0 for 0,
        `(n, size + 1)`.
    """
    rows = _lines(draws, n, shape.wide, shape.high)
    columns = _lines(draws, n, shape.high, shape.wide)
    places = rows[:, :, None] * shape.size + columns[:, None, :]
    if shape.high == shape.wide:
        turned = draws.bits(0.5, n)
        places[turned] = places[turned].transpose(0, 2, 1)
    digits = np.zeros((n, shape.size + 1), np.uint8)
    digits[:, 1:] = 1 + draws.permutations(n, shape.size)
    return places.reshape(n, shape.cells), digits


def _lines(draws: Draws, n: int, groups: int, of_each: int) -> Ints:
    """Orders of rows or columns, `(n, groups * of_each)`."""
    outer = draws.permutations(n, groups)
    inner = draws.permutations(n * groups, of_each).reshape(n, groups, of_each)
    return (outer[:, :, None] * of_each + inner).reshape(n, groups * of_each)


def arrange(grids: Digits, places: Ints, digits: Digits) -> Digits:
    """Grids `(n, cells)` in the arrangements that `draw_arrangements` gives."""
    moved = np.take_along_axis(grids, places, axis=1)
    return np.take_along_axis(digits, moved, axis=1)


def all_places(shape: Shape) -> Ints:
    """The old positions of cells in all arrangements of a grid, `(arrangements, cells)`."""

    def orders(groups: int, of_each: int) -> list[list[int]]:
        inner = list(itertools.permutations(range(of_each)))
        return [
            [
                group * of_each + place
                for group, lines in zip(outer, of_groups, strict=True)
                for place in lines
            ]
            for outer in itertools.permutations(range(groups))
            for of_groups in itertools.product(inner, repeat=groups)
        ]

    rows = np.array(orders(shape.wide, shape.high))
    columns = np.array(orders(shape.high, shape.wide))
    places = rows[:, None, :, None] * shape.size + columns[None, :, None, :]
    tables = [places] if shape.high != shape.wide else [places, places.swapaxes(2, 3)]
    return np.concatenate([table.reshape(-1, shape.cells) for table in tables])


def hash_puzzles(shape: Shape, puzzles: Digits) -> Hashes:
    """A hash of each puzzle that is the same for all of its arrangements, `(puzzles,)`.

    Puzzles of 4 x 4 cells have a hash of their least arrangement. Others are hashed by colour
    refinement: a cell is coloured by its row, column, box and digit, and these by the cells in
    them. Sums do not depend on the order.
    """
    if shape.cells == 16:
        parts = [_least(puzzles[at : at + _CHUNK]) for at in range(0, len(puzzles), _CHUNK)]
        return mix(np.concatenate([np.zeros(0, np.uint64), *parts]))
    n, size, square = len(puzzles), shape.size, shape.high == shape.wide
    cells = mix((puzzles > 0).astype(np.uint64))
    for _ in range(_ROUNDS):
        kinds = []
        for kind, sums in enumerate(_unit_sums(shape, cells)):
            salt = np.uint64(2 if kind == 2 else 1 if square else kind * 3)
            kinds.append(mix(mix(sums) + salt))
        of_digit = np.zeros((n, size + 1), np.uint64)
        for digit in range(1, size + 1):
            of_digit[:, digit] = mix(mix(np.where(puzzles == digit, cells, 0).sum(axis=1)))
        row, column, box = (kinds[kind][:, shape.units[kind] - kind * size] for kind in range(3))
        digit_of = np.take_along_axis(of_digit, puzzles.astype(np.int64), axis=1)
        cells = mix(mix(cells + row + column) ^ mix(box + digit_of))
    return mix(cells.sum(axis=1))


def _least(puzzles: Digits) -> Hashes:
    """The least of all arrangements of puzzles of 4 x 4 cells, as numbers, `(puzzles,)`.

    A puzzle is a number of 16 digits of base 5. Digits are named in the order in which they come,
    so the places of name 1, as a binary number, are the greatest of all digits, and
    those of name 4 the least. Name k counts k times: once itself, and once for each greater digit.
    """
    tables = _place_values()
    weights = 1 << np.arange(8)
    places = []
    for digit in range(1, 5):
        upper, lower = np.moveaxis((puzzles == digit).reshape(-1, 2, 8) @ weights, 1, 0)
        places.append(tables[0].take(upper, axis=0) + tables[1].take(lower, axis=0))
    numbers = sum(places[1:], start=places[0].copy())
    for one, other in itertools.combinations(places, 2):
        numbers += np.minimum(one, other)
    least: Hashes = numbers.min(axis=1).astype(np.uint64)
    return least


@functools.cache
def _place_values() -> NDArray[np.int64]:
    """The number that some of the cells of a half give in each arrangement, `(2, 256, 128)`.

    Cell i of a half is bit i of the second index.
    """
    values = np.zeros((16, 128), np.int64)
    powers = 5 ** np.arange(15, -1, -1, dtype=np.int64)
    np.put_along_axis(values, all_places(Shape(2, 2)).T, powers[:, None], axis=0)
    chosen = (np.arange(256)[:, None] >> np.arange(8)) & 1
    return chosen @ values.reshape(2, 8, 128)


def _unit_sums(shape: Shape, cells: Hashes) -> tuple[Hashes, Hashes, Hashes]:
    """The sums of rows, columns and boxes, `(grids, size)` each."""
    parts = cells.reshape(len(cells), shape.wide, shape.high, shape.high, shape.wide)
    flat = (len(cells), shape.size)
    return (
        parts.sum(axis=(3, 4)).reshape(flat),
        parts.sum(axis=(1, 2)).reshape(flat),
        parts.sum(axis=(2, 4)).reshape(flat),
    )


def hash_solutions(shape: Shape, grids: Digits) -> Hashes:
    """A hash of each full grid of square boxes that is the same for all of its arrangements.

    Colour refinement sees no difference between the cells of a full grid. From one row to another
    the digits of a column are a permutation, and so are those of a row from column to column. The
    hash has the lengths of their cycles, of lines in the same band and of others.
    """
    square = grids.reshape(len(grids), shape.size, shape.size).astype(np.int64) - 1
    return mix(mix(_of_lines(shape, square)) + mix(_of_lines(shape, square.transpose(0, 2, 1))))


def _of_lines(shape: Shape, lines: Ints) -> Hashes:
    """The same of the rows alone. The order of bands, rows, columns and digits does not matter."""
    n, size = len(lines), shape.size
    first, second = np.triu_indices(size, 1)
    where = np.argsort(lines, axis=2)
    # The digit below each digit, for each pair of rows.
    down = np.take_along_axis(lines[:, second], where[:, first], axis=2)
    pairs = np.zeros((n, len(first)), np.uint64)
    power, identity = down, np.arange(size)
    for length in range(2, size // 2 + 1):
        power = np.take_along_axis(down, power, axis=2)
        fixed = np.count_nonzero(power == identity, axis=2)
        pairs = mix(pairs + fixed.astype(np.uint64) + np.uint64(length << 8))
    band = first // shape.high == second // shape.high
    pairs = mix(pairs + band.astype(np.uint64))
    rows = np.zeros((n, size), np.uint64)
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        rows[:, a] += pairs[:, pair]
        rows[:, b] += pairs[:, pair]
    bands = mix(rows).reshape(n, shape.wide, shape.high).sum(axis=2)
    total: Hashes = mix(bands).sum(axis=1)
    return total
