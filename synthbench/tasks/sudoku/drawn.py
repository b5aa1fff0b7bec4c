"""Sudoku puzzles, many at once: full grids, clues taken away in random order, and the search nodes.

Positions are row * size + column. Digits are 1 to the size, 0 is an empty cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.sudoku.masks import (
    BITS,
    DIGITS,
    Bools,
    Ints,
    Masks,
    Shape,
    close,
    is_full,
    may_have_solution,
    to_masks,
)

Digits = NDArray[np.uint8]
#: Grids that are closed together. More do not fit into a processor's cache.
_CHUNK = 1024
#: Of grids with so few cells in all, two cells are emptied at once: three times as many tests take
#: hardly longer.
_FEW_CELLS = 10_000


def draw_grids(draws: Draws, n: int, shape: Shape) -> Digits:
    """At most `n` full grids, `(grids, cells)`.

    The boxes of a diagonal are filled in at random. Then a random candidate of a random cell among
    those with the fewest candidates is filled in, and all singles after it. Grids that end in a
    contradiction are left out.
    """
    masks = np.full((shape.cells, n), shape.all_digits, np.uint16)
    parts = masks.reshape(shape.wide, shape.high, shape.high, shape.wide, n)
    for place in range(min(shape.high, shape.wide)):  # boxes that share no row and no column
        digits = draws.permutations(n, shape.size)
        parts[place, :, place] = (1 << digits.T).reshape(shape.high, shape.wide, n)
    full = []
    while masks.shape[1]:
        masks, right = close(shape, fill_in(draws, masks))
        done = is_full(masks)
        full.append(masks[:, right & done])
        masks = masks[:, right & ~done]
    return np.ascontiguousarray(DIGITS.take(np.concatenate(full, axis=1)).T)


def fill_in(draws: Draws, masks: Masks) -> Masks:
    """A random candidate in a random cell among those with the fewest candidates."""
    grids = np.arange(masks.shape[1])
    bits = BITS.take(masks).astype(np.uint32)
    order = np.where(bits > 1, bits, 99) << 16 | draws.halves(masks.shape) >> 16
    cell = order.argmin(axis=0)
    candidates = masks[cell, grids]
    number = draws.below(bits[cell, grids])
    for passed in range(int(number.max(initial=0))):
        candidates = np.where(number > passed, candidates & (candidates - 1), candidates)
    filled = masks.copy()
    filled[cell, grids] = candidates & (~candidates + np.uint16(1))
    return filled


def dig(shape: Shape, grids: Digits, order: Ints, kept: Ints) -> Digits:
    """Take clues away, in an order, as long as the solution stays unique.

    Args:
        shape: the shape of the grids.
        grids: full grids, `(grids, cells)`.
        order: the order in which the cells are tried, `(grids, cells)`.
        kept: at least this many clues are left, `(grids,)`.

    Returns:
        The puzzles, `(grids, cells)`.
    """
    n, cells = grids.shape
    full, place = to_masks(shape, grids), np.empty((n, cells), np.int64)
    np.put_along_axis(place, order, np.arange(cells)[None].repeat(n, axis=0), axis=1)
    place = np.ascontiguousarray(place.T)
    # The most cells of the order that singles fill in again: fewer are filled in all the more.
    low, high = np.zeros(n, np.int64), np.minimum(cells, cells - kept)
    for _ in range(int(cells).bit_length()):
        middle = (low + high + 1) // 2
        masks, right = close(shape, np.where(place < middle, shape.all_digits, full))
        enough = right & is_full(masks)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
    puzzles = np.where(place < low, shape.all_digits, full).astype(np.uint16)
    clues = cells - low
    together = 2 if n * cells <= _FEW_CELLS else 1
    for first in range(int(low.min(initial=cells)), cells, together):
        last = min(first + together, cells)
        rows = np.flatnonzero((low < last) & (clues > kept))
        unique = _stay_unique(shape, puzzles[:, rows], full[:, rows], order[rows, first:last].T)
        gone = np.zeros(len(rows), np.int64)  # a bit for each cell that is emptied
        for turn in range(last - first):
            empty = unique[(1 << turn) - 1 + gone, np.arange(len(rows))]
            empty &= (low[rows] <= first + turn) & (clues[rows] > kept[rows])
            gone += empty << turn
            emptied = rows[empty]
            puzzles[order[emptied, first + turn], emptied] = shape.all_digits
            clues[emptied] -= 1
    return np.ascontiguousarray(np.where(puzzles == shape.all_digits, 0, DIGITS.take(puzzles)).T)


def _stay_unique(shape: Shape, puzzles: Masks, full: Masks, cells: Ints) -> Bools:
    """Test if the solution stays unique without a cell, after each choice for the cells before.

    Args:
        shape: the shape of the grids.
        puzzles: the puzzles, `(cells, grids)`.
        full: their solutions, `(cells, grids)`.
        cells: the cells that are emptied in turn, `(turns, grids)`.

    Returns:
        A mask `(choices, grids)`: of the first cell, then of the second if the first stays, and if
        it is emptied. Of cell `turn` they begin at `2**turn - 1`, by a bit for each cell before.
    """
    grids = np.arange(puzzles.shape[1])
    choices, tried = [puzzles], []
    for cell in cells:
        without = [choice.copy() for choice in choices]
        for choice in without:
            choice[cell, grids] = shape.all_digits & ~full[cell, grids]
            tried.append(choice.copy())
            choice[cell, grids] = shape.all_digits
        choices += without
    possible = may_have_solution(shape, np.concatenate(tried, axis=1))
    return ~possible.reshape(len(tried), -1)


def count_nodes(shape: Shape, puzzles: Digits) -> tuple[Ints, Digits]:
    """The search nodes of the reference solver, and its solutions.

    The solver fills in all singles. If cells are left, it tries every candidate of all cells with
    the fewest candidates, each by itself, and crosses out those from which singles lead to a
    contradiction. If it crosses out nothing, it goes on to cells with one candidate more. A
    candidate that is tried is a node.

    Returns:
        Nodes `(puzzles,)`, -1 where the solver is stuck, and the solutions `(puzzles, cells)`.
    """
    nodes = np.full(len(puzzles), -1, np.int64)
    solutions = np.zeros(puzzles.shape, np.uint8)
    masks, rows = to_masks(shape, puzzles), np.arange(len(puzzles))
    spent, width = np.zeros((2, len(puzzles)), np.int64)
    changed = np.ones(len(puzzles), np.bool_)
    while len(rows):
        masks, right = close(shape, masks)
        done = right & is_full(masks)
        nodes[rows[done]] = spent[done]
        solutions[rows[done]] = DIGITS.take(masks[:, done]).T
        width = np.where(changed, 2, width + 1)
        going = right & ~done & (width <= shape.size)
        masks, rows, spent, width = masks[:, going], rows[going], spent[going], width[going]
        wrong, tries = _refuted(shape, masks, width)
        spent += tries
        changed = np.bitwise_or.reduce(wrong, axis=0) > 0
        masks &= ~wrong
    return nodes, solutions


def _refuted(shape: Shape, masks: Masks, width: Ints) -> tuple[Masks, Ints]:
    """The candidates of cells with so many of them that singles refute, and how many are tried."""
    grids = masks.shape[1]
    has_width = BITS.take(masks) == width
    cell, grid = np.nonzero(has_width)
    wrong, tries = np.zeros_like(masks), np.zeros(grids, np.int64)
    for digit in range(shape.size):
        bit = np.uint16(1 << digit)
        some = masks[cell, grid] & bit > 0
        cells, owner = cell[some], grid[some]
        tries += np.bincount(owner, minlength=grids)
        for first in range(0, len(owner), _CHUNK):
            part = slice(first, first + _CHUNK)
            assumed = masks[:, owner[part]]
            assumed[cells[part], np.arange(assumed.shape[1])] = bit
            refuted = ~close(shape, assumed)[1]
            wrong[cells[part][refuted], owner[part][refuted]] |= bit
    return wrong, tries
