"""The reference solver over whole columns: the options of many exact covers as one cube.

    left[grid, row, column, digit]    1 while the option is left

A constraint is a sum over the cube: of a cell over digits, of a digit over a column, a row or a
box. Where a sum is 1 the option is forced, and where it is 0 the grid cannot be filled.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.sudoku.solver import BOXES
from synthbench.tasks.sudoku.task import Sudoku

Cubes = NDArray[np.int8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
#: Cubes that are worked on together.
_CHUNK = 512


def prove_rows(task: Sudoku, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`. Forced options alone decide.

    An option is crossed out only if it is refuted, so a grid that is filled has a single solution.
    """
    clues = block["tokens"].astype(np.int64) - 1
    labels = task.answer.ids(rows["label"])
    right: NDArray[np.bool_] = numpy_array(rows["clues"]) == (clues > 0).sum(axis=1)
    nodes = numpy_array(rows["nodes"])
    for first in range(0, len(clues), _CHUNK):
        part = slice(first, first + _CHUNK)
        solved, spent = _searched(clues[part], BOXES[clues.shape[1]])
        right[part] &= (solved == labels[part]).all(axis=1) & (spent == nodes[part])
    return right


def _searched(clues: Ints, box: tuple[int, int]) -> tuple[Ints, Ints]:
    """The solutions `(grids, cells)`, 0 where they are missing, and the nodes of the search."""
    n, size = len(clues), box[0] * box[1]
    grid = clues.reshape(n, size, size)
    left = ((grid[..., None] == 0) | (grid[..., None] == np.arange(1, size + 1))).astype(np.int8)
    solved, nodes = np.zeros_like(clues), np.zeros(n, np.int64)
    rows = np.arange(n)
    while len(rows):
        left, possible = _forced(left, box)
        open_cells = left.sum(axis=3)
        done = possible & (open_cells == 1).all(axis=(1, 2))
        solved[rows[done]] = 1 + left[done].argmax(axis=3).reshape(done.sum(), size * size)
        rows, left = rows[possible & ~done], left[possible & ~done]
        left, spent = _crossed_out(left, box)
        nodes[rows] += spent
        stuck = spent == 0
        rows, left = rows[~stuck], left[~stuck]
    return solved, nodes


def _forced(left: Cubes, box: tuple[int, int]) -> tuple[Cubes, Bools]:
    """Cubes after all forced options, and those in which each constraint has an option left."""
    result, possible = left.copy(), np.ones(len(left), np.bool_)
    going = np.arange(len(left))
    while len(going):
        now = result[going]
        forced = np.zeros(now.shape, np.bool_)
        for sums in _sums(now, box):
            forced |= (sums == 1) & (now > 0)
            possible[going] &= (sums > 0).all(axis=(1, 2, 3))
        met = [sums > 0 for sums in _sums(forced.astype(np.int8), box)]
        new = now * (forced | ~(met[0] | met[1] | met[2] | met[3]))
        result[going] = new
        changed = (new != now).any(axis=(1, 2, 3))
        going = going[changed & possible[going]]
    return result, possible


def _sums(cubes: Cubes, box: tuple[int, int]) -> tuple[Cubes, Cubes, Cubes, Cubes]:
    """The options of the cell, row, column and box constraint of each option, or 1 for all."""
    n, size = cubes.shape[:2]
    high, wide = box
    boxes = cubes.reshape(n, wide, high, high, wide, size).sum(axis=(2, 4), dtype=np.int8)
    return (
        cubes.sum(axis=3, keepdims=True, dtype=np.int8),
        cubes.sum(axis=2, keepdims=True, dtype=np.int8),
        cubes.sum(axis=1, keepdims=True, dtype=np.int8),
        boxes.repeat(high, axis=1).repeat(wide, axis=2),
    )


def _crossed_out(left: Cubes, box: tuple[int, int]) -> tuple[Cubes, Ints]:
    """Try the options of the cells with the fewest until some are refuted, and take these away.

    Returns:
        The cubes, and the number of options that were tried, 0 if all of them held.
    """
    result, spent = left.copy(), np.zeros(len(left), np.int64)
    widths, waiting = left.sum(axis=3), np.ones(len(left), np.bool_)
    for width in range(2, left.shape[1] + 1):
        tried = (left > 0) & (widths == width)[..., None] & waiting[:, None, None, None]
        grid, row, column, digit = np.nonzero(tried)
        spent += np.bincount(grid, minlength=len(left))
        for first in range(0, len(grid), _CHUNK):
            g, r, c, d = (indices[first : first + _CHUNK] for indices in (grid, row, column, digit))
            guessed, each = left[g], np.arange(len(g))
            guessed[each, r, c] = 0
            guessed[each, r, c, d] = 1
            wrong = ~_forced(guessed, box)[1]
            result[g[wrong], r[wrong], c[wrong], d[wrong]] = 0
            waiting[g[wrong]] = False
    spent[waiting] = 0
    return result, spent
