"""All puzzles of 4 x 4 cells with one solution, up to rearrangement."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from synthbench.seeding import Draws
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.sudoku.arrangements import Digits, Hashes, all_places, arrange, hash_puzzles
from synthbench.tasks.sudoku.masks import Ints, Shape

SMALL = Shape(2, 2)


@functools.cache
def small_puzzles() -> tuple[Digits, Digits]:
    """One puzzle of each class and its solution, `(puzzles, 16)` each."""
    grids = _all_grids()
    places = all_places(SMALL)
    left, puzzles, solutions = (
        {tuple(grid) for grid in grids.tolist() if grid[:4] == [1, 2, 3, 4]},
        [],
        [],
    )
    while left:
        grid = np.array(min(left), np.uint8)
        forms = _renamed(grid[places])
        left -= set(map(tuple, forms.tolist()))
        clues = _clues(grid, grids, places[(forms == grid).all(axis=1)])
        puzzles.append(grid * clues)
        solutions.append(np.repeat(grid[None], len(clues), axis=0))
    return np.concatenate(puzzles), np.concatenate(solutions)


def _renamed(grids: Digits) -> Digits:
    """Full grids whose first row is 1 2 3 4, with other names of digits."""
    names = np.argsort(grids[:, :4], axis=1) + 1
    return np.take_along_axis(names, grids.astype(np.int64) - 1, axis=1).astype(np.uint8)


def _all_grids() -> Digits:
    """All full grids, `(288, 16)`."""
    rows = list(itertools.permutations(range(1, 5)))
    bands = [
        [*a, *b]
        for a, b in itertools.product(rows, repeat=2)
        if not {*a[:2]} & {*b[:2]} and not {*a[2:]} & {*b[2:]}
    ]
    grids = np.array([upper + lower for upper in bands for lower in bands], np.uint8)
    columns = np.sort(grids.reshape(-1, 4, 4), axis=1)
    whole: Digits = grids[(columns == np.arange(1, 5)[:, None]).all(axis=(1, 2))]
    return whole


def _clues(grid: Digits, grids: Digits, symmetries: Ints) -> Digits:
    """The sets of clues of all classes of puzzles with this solution, `(sets, 16)`."""
    weights = 1 << np.arange(16)
    same = (grids == grid) @ weights
    shared = np.zeros(1 << 16, np.bool_)  # the sets that leave another grid possible
    shared[same[same < len(shared) - 1]] = True
    for cell in range(16):  # as do sets of fewer clues
        without, with_cell = shared.reshape(-1, 2, 1 << cell).swapaxes(0, 1)
        without |= with_cell
    sets = np.flatnonzero(~shared)
    # The cells of each half as the places that symmetries move them to, `(2, 256, symmetries)`.
    moved = np.zeros(symmetries.shape, np.uint16)
    np.put_along_axis(moved, symmetries, weights[None].astype(np.uint16), axis=1)
    halves = (np.arange(256)[:, None] & weights[:8] > 0) @ moved.T.reshape(2, 8, -1)
    least = (halves[0].take(sets & 255, axis=0) + halves[1].take(sets >> 8, axis=0)).min(axis=1)
    kept: Digits = (sets[least == sets][:, None] & weights > 0).astype(np.uint8)
    return kept


@functools.lru_cache(maxsize=4)
def arranged_puzzles(
    stream: tuple[tuple[str, object], ...], of_each: int, clues: tuple[int, int], most: int
) -> tuple[Digits, Digits, Hashes]:
    """Puzzles of all classes, their solutions and hashes, in an arrangement drawn for each class.

    Args:
        stream: the coordinates of the randomness.
        of_each: arrangements of a class. If there are several, they are of the first classes that
            are not held out, in an order drawn at random.
        clues: the least and the largest number of clues.
        most: the most classes, if there are several arrangements of each.

    Returns:
        Puzzles and solutions `(puzzles, 16)`, without repeats, and hashes `(puzzles,)`.
    """
    puzzles, grids = small_puzzles()
    hashes = hash_puzzles(SMALL, puzzles)
    draws = Draws({**dict(stream), "classes": True})
    order = draws.permutation(len(puzzles))
    # An arrangement is one of the places and one of the names of digits. Every 5th is taken.
    places, names = all_places(SMALL), list(itertools.permutations(range(1, 5)))
    first = draws.integers(len(places) * len(names), len(puzzles))[:, None]
    numbers = (first + 5 * np.arange(of_each)) % (len(places) * len(names))
    number = np.count_nonzero(puzzles[order], axis=1)
    order = order[(number >= clues[0]) & (number <= clues[1])]
    if of_each > 1:
        order = order[~are_held_out(hashes[order])][:most]
    picks, numbers = order.repeat(of_each), numbers[order].ravel()
    digits = np.pad(np.array(names, np.uint8), ((0, 0), (1, 0)))[numbers % len(names)]
    of_place = places[numbers // len(names)]
    puzzles, grids = (arrange(cells[picks], of_place, digits) for cells in (puzzles, grids))
    _, kept = np.unique(puzzles, axis=0, return_index=True)
    kept.sort()
    return puzzles[kept], grids[kept], hashes[picks[kept]]
