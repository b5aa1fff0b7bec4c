"""Mazes, many at once: corridors by depth-first search, rooms and loops, shortest paths.

Paths in trees follow from the depths of the search, paths in open mazes from layers around S.

A maze of size 2 m + 1 has m * m cells, at odd rows and columns. Walls are between them and around.
Positions are row * size + column. The border is wall, so that no step leaves a maze.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

Ints = NDArray[np.int64]
Free = NDArray[np.bool_]
#: The share of the walls between two cells that `open_up` takes away, and cells for each room.
_LOOPS, _CELLS_A_ROOM = 0.08, 24
_LARGEST = np.int16(np.iinfo(np.int16).max)


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


def draw_mazes(blocks: Sequence[Draws], n: int, size: int, is_open: bool) -> list[Mazes]:
    """At most `n` mazes a block. S is uniform among the cells, and G among those far from it.

    To these there is exactly one shortest path, of at least `size` steps. Mazes without such cells
    are left out. The blocks are drawn together, as NumPy takes hardly longer for more numbers.
    """
    trees, cells = draw_trees(blocks, n, size), cell_positions(size)
    free = trees.free
    if is_open:
        for draws, opened in zip(blocks, np.split(free, len(blocks)), strict=True):
            open_up(draws, opened, size)
    start = np.concatenate([draws.integers(len(cells), n) for draws in blocks])
    if is_open:
        distance, ways = count_paths(free, cells[start], size)
        far = (ways[:, cells] == 1) & (distance[:, cells] >= size)
    else:
        from_start = distances(trees, start)
        far = 2 * from_start >= size
    number = far.sum(axis=1)
    bounds = np.maximum(number, 1).reshape(-1, n)
    drawn = np.concatenate([draws.below(each) for draws, each in zip(blocks, bounds, strict=True)])
    goal = (far & (far.cumsum(axis=1) - 1 == drawn[:, None])).argmax(axis=1)
    rows = np.flatnonzero(number)
    if is_open:
        path = trace(distance[rows], cells[goal[rows]], size)
    else:
        from_goal = distances(trees, goal)
        whole = from_goal[np.arange(len(free)), start][:, None]
        path = join(free, from_start + from_goal == whole, size)[rows]
    ends = np.searchsorted(rows, np.arange(n, len(free), n))
    columns = free[rows], cells[start[rows]], cells[goal[rows]], path
    parts = (np.split(column, ends) for column in columns)
    return [Mazes(*block) for block in zip(*parts, strict=True)]


@functools.cache
def cell_positions(size: int) -> Ints:
    """The positions of the cells, row by row."""
    odd = np.arange(1, size, 2)
    return (odd[:, None] * size + odd).ravel()


#: Shares of a draw that tell apart one of two, of three and of four ways.
_SHARES = 12


@functools.cache
def _ways() -> tuple[NDArray[np.uint8], Free]:
    """The way up, right, down or left that a draw below `_SHARES` chooses, and whether any is open.

    Both are `(16 * _SHARES,)`, by `_SHARES` times the open ways, a bit for each, plus the draw.
    """
    several = [[way for way in range(4) if mask >> way & 1] for mask in range(16)]
    chosen = [
        ways[drawn * len(ways) // _SHARES] if ways else 0
        for ways in several
        for drawn in range(_SHARES)
    ]
    return np.array(chosen, np.uint8), np.repeat([bool(ways) for ways in several], _SHARES)


class Trees(NamedTuple):
    """Mazes with one path between any two cells, and how a search went through them.

    Attributes:
        free: where no wall is, `(rows, size * size)`.
        depth: how many cells the search was away from its first, `(times, rows)`.
        seen: for each cell the index in the flat `depth` of a visit, `(rows, cells)`.
    """

    free: Free
    depth: NDArray[np.int16]
    seen: Ints


def draw_trees(blocks: Sequence[Draws], n: int, size: int) -> Trees:
    """Mazes with one path between any two cells, by randomised depth-first search, `n` a block.

    From a random cell the search goes on to a random neighbour that was not visited, or back where
    all were, and takes away the walls that it goes through.
    """
    cells, rows = cell_positions(size), n * len(blocks)
    count, steps = len(cells), 2 * (len(cells) - 1)
    first = np.concatenate([cells[draws.integers(count, n)] for draws in blocks])
    # An even number a step, as a random word gives two.
    drawn = [
        draws.integers(_SHARES, (steps, n + n % 2))[:, :n].astype(np.uint8) for draws in blocks
    ]

    # Positions are counted through all mazes. A step across a border ends on a border.
    free = np.zeros((rows, size * size), np.uint8)
    free[:, cells] = 1
    unseen = free.reshape(-1).copy()
    around = np.array([-2 * size, 2, 2 * size, -2])
    weights = np.array([[_SHARES << way] for way in range(4)], np.uint8)
    chosen, leads_on = _ways()
    change, growth = around[chosen], np.where(leads_on, rows, -rows)

    # Where the search is, and where its way back to the first cell ends: `back` has the ways of all
    # mazes, the first cells of all before the second.
    walk, ends = np.empty((2, steps + 1, rows), np.int64)
    back = np.empty((count + 1) * rows, np.int64)
    ends[0] = np.arange(rows)
    back[:rows] = walk[0] = first + ends[0] * size * size
    unseen[walk[0]] = 0
    for step, number in enumerate(np.concatenate(drawn, axis=1)):
        at, end = walk[step], ends[step]
        near = unseen.take(at + around[:, None], mode="clip")
        choice = (number + (near * weights).sum(axis=0, dtype=np.uint8)).astype(np.intp)
        # Where no way leads on, this is any neighbour, beyond the end of the way back.
        there = at + change.take(choice)
        unseen[there] = 0
        back[end + rows] = there
        np.add(end, growth.take(choice), out=ends[step + 1])
        back.take(ends[step + 1], out=walk[step + 1], mode="clip")
    free.reshape(-1)[(walk[1:] + walk[:-1]) >> 1] = 1
    time = np.zeros(free.shape, np.int16)  # of any of the visits
    time.reshape(-1)[walk] = np.arange(steps + 1)[:, None]
    seen = time[:, cells].astype(np.int64) * rows + np.arange(rows)[:, None]
    return Trees(free.view(np.bool_), (ends // rows).astype(np.int16), seen)


def distances(trees: Trees, cell: Ints) -> NDArray[np.int16]:
    """The distances of all cells of each tree from `cell`, in cells, `(rows, cells)`.

    The way between two cells turns at the least depth between the times of both.
    """
    depth, rows = trees.depth, np.arange(len(cell))
    place = trees.seen[rows, cell]
    time, times = (place // len(cell)).astype(np.int16), np.arange(len(depth), dtype=np.int16)
    # At times that do not count, the largest number: no depth is negative, and `where` takes five
    # times as long as `|`.
    after = depth | (times[:, None] < time) * _LARGEST
    before = (depth | (times[:, None] > time) * _LARGEST)[::-1]
    for least in (after, before):
        for one, following in itertools.pairwise(least):
            np.minimum(one, following, out=following)
    least = np.minimum(after, before[::-1], out=after)
    apart: NDArray[np.int16] = (depth - 2 * least).take(trees.seen) + depth.take(place)[:, None]
    return apart


def join(free: Free, on_path: Free, size: int) -> Free:
    """The positions of paths through these cells of trees, a mask `(rows, cells)`.

    A free position between two of the cells is on the path, too, as nothing else connects them.
    """
    path = np.zeros(free.shape, np.bool_)
    path[:, cell_positions(size)] = on_path
    between = np.zeros(free.shape, np.bool_)
    between[:, 1:-1] = path[:, :-2] & path[:, 2:]
    between[:, size:-size] |= path[:, : -2 * size] & path[:, 2 * size :]
    return path | (between & free)


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
