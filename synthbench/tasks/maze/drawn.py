"""Mazes, many at once: corridors by depth-first search, rooms and loops, shortest paths by layers.

A maze of size 2 m + 1 has m * m cells, at odd rows and columns. Walls are between them and around.
Positions are row * size + column. The border is wall, so that no step leaves a maze.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

Ints = NDArray[np.int64]
Free = NDArray[np.bool_]
#: The share of the walls between two cells that `open_up` takes away, and cells for each room.
_LOOPS, _CELLS_A_ROOM = 0.08, 24


class Mazes(NamedTuple):
    """Mazes with their ends and shortest paths.

    Attributes:
        free: where no wall is, `(rows, size * size)`.
        start: the position of S, `(rows,)`.
        goal: the position of G, `(rows,)`.
        path: the positions of the one shortest path, both ends included, as `free`.
    """

    free: Free
    start: Ints
    goal: Ints
    path: Free


def draw_mazes(draws: Draws, n: int, size: int, is_open: bool) -> Mazes:
    """At most `n` mazes. S is uniform among the cells, and G among those far enough from it.

    To these there is exactly one shortest path, of at least `size` steps. Mazes without such cells
    are left out.
    """
    free = draw_trees(draws, n, size)
    if is_open:
        open_up(draws, free, size)
    cells = cell_positions(size)
    start = cells[draws.integers(len(cells), n)]
    distance, ways = count_paths(free, start, size)
    far = (ways[:, cells] == 1) & (distance[:, cells] >= size)
    number = far.sum(axis=1)
    drawn = draws.below(np.maximum(number, 1))
    goal = cells[(far & (far.cumsum(axis=1) - 1 == drawn[:, None])).argmax(axis=1)]
    rows = np.flatnonzero(number)
    path = trace(distance[rows], goal[rows], size)
    return Mazes(free[rows], start[rows], goal[rows], path)


@functools.cache
def cell_positions(size: int) -> Ints:
    """The positions of the cells, row by row."""
    odd = np.arange(1, size, 2)
    return (odd[:, None] * size + odd).ravel()


@functools.cache
def _neighbours(size: int) -> Ints:
    """The neighbours of each cell, `(cells, 4)`. The number of cells stands for the border."""
    side = size // 2
    inside = np.pad(np.arange(side**2).reshape(side, side), 1, constant_values=side**2)
    shifted = [inside[:-2, 1:-1], inside[1:-1, 2:], inside[2:, 1:-1], inside[1:-1, :-2]]
    return np.stack([cells.ravel() for cells in shifted], axis=1)


def draw_trees(draws: Draws, n: int, size: int) -> Free:
    """Mazes with one path between any two cells, by randomised depth-first search.

    From a random cell the search goes on to a random neighbour that was not visited, or back where
    all were, and takes away the walls that it goes through.
    """
    cells, near = cell_positions(size), _neighbours(size)
    count, rows = len(cells), np.arange(n)
    free = np.zeros((n, size * size), np.bool_)
    free[:, cells] = True
    current = draws.integers(count, n)
    visited = np.zeros((n, count + 1), np.bool_)
    visited[:, count] = visited[rows, current] = True
    before = np.repeat(current[:, None], count, axis=1)
    for _ in range(2 * (count - 1)):
        new = ~visited[rows[:, None], near[current]]
        ways = new.sum(axis=1)
        drawn = draws.below(np.maximum(ways, 1))[:, None]
        place = (new & (new.cumsum(axis=1) - 1 == drawn)).argmax(axis=1)
        following = np.where(ways > 0, near[current, place], before[rows, current])
        on = np.flatnonzero(ways)
        here, there = current[on], following[on]
        free[on, (cells[here] + cells[there]) // 2] = True
        visited[on, there] = True
        before[on, there] = here
        current = following
    return free


def open_up(draws: Draws, free: Free, size: int) -> None:
    """Take away some walls between cells, and all walls in some rectangles of cells."""
    n, side = len(free), size // 2
    between = _walls(size)
    free[:, between] |= draws.bits(_LOOPS, (n, len(between)))
    grid, places = free.reshape(n, size, size), np.arange(size)
    for _ in range(max(1, side**2 // _CELLS_A_ROOM)):
        inside = []
        for _ in range(2):  # rows, then columns
            length = 2 + draws.integers(2, n)
            first = 1 + 2 * draws.below(side + 1 - length)
            last = first + 2 * (length - 1)
            inside.append((places >= first[:, None]) & (places <= last[:, None]))
        grid |= inside[0][:, :, None] & inside[1][:, None, :]


@functools.cache
def _walls(size: int) -> Ints:
    """The positions between two neighbouring cells."""
    row, column = np.divmod(np.arange(size * size), size)
    inner = (row > 0) & (row < size - 1) & (column > 0) & (column < size - 1)
    return np.flatnonzero(inner & ((row + column) % 2 == 1))


def count_paths(free: Free, start: Ints, size: int) -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """The distance of each position from the start, and how many shortest paths lead there.

    Returns:
        Distances, -1 where no path leads, and numbers of paths, of which 2 means several. Both are
        `(rows, size * size)`.
    """
    # A bit for each maze, position by position: places not reached yet, those reached last by one
    # shortest path or more and by several, and the same of all that were reached.
    starts = np.zeros(free.shape, np.bool_)
    starts[np.arange(len(free)), start] = True
    left, layer = _packed(free), _packed(starts)
    row, column = size * (len(left) // free.shape[1]), len(left) // free.shape[1]
    branched, reached, several = np.zeros((3, len(left)), np.uint8)
    digits: list[NDArray[np.uint8]] = []  # of the distances, in binary
    number = 0
    while layer.any():
        if number.bit_length() > len(digits):
            digits.append(np.zeros_like(left))
        for power, digit in enumerate(digits):
            if number >> power & 1:
                digit |= layer
        reached |= layer
        several |= branched
        left &= ~layer
        following, meeting = np.zeros((2, len(left)), np.uint8)
        for step in (column, row):
            for to, by in ((slice(step, None), slice(-step)), (slice(-step), slice(step, None))):
                meeting[to] |= (following[to] & layer[by]) | branched[by]
                following[to] |= layer[by]
        layer, branched = following & left, meeting & left
        number += 1
    distance = _unpacked(reached, free.shape).astype(np.int16) - np.int16(1)
    for power, digit in enumerate(digits):
        distance += _unpacked(digit, free.shape).astype(np.int16) << np.int16(power)
    return distance, _unpacked(reached, free.shape) + _unpacked(several, free.shape)


def _packed(mask: Free) -> NDArray[np.uint8]:
    """The bits of a mask `(rows, positions)`, those of a position after those of the one before."""
    return np.packbits(mask.T, axis=1).reshape(-1)


def _unpacked(bits: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The mask of 0 and 1 of which these are the bits, `(rows, positions)`."""
    rows, positions = shape
    mask = np.unpackbits(bits.reshape(positions, -1), axis=1, count=rows)
    return np.ascontiguousarray(mask.T)


def trace(distance: NDArray[np.int16], goal: Ints, size: int) -> Free:
    """The positions of the one shortest path to each goal, back from the goal."""
    path = np.zeros(distance.shape, np.bool_)
    rows, current = np.arange(len(goal)), goal
    steps = np.array([-size, 1, size, -1])
    while len(rows):
        path[rows, current] = True
        near = current[:, None] + steps
        nearer = distance[rows[:, None], near] == distance[rows, current][:, None] - 1
        current = near[np.arange(len(rows)), nearer.argmax(axis=1)]
        on = distance[rows, current] > 0
        path[rows, current] = True
        rows, current = rows[on], current[on]
    return path
