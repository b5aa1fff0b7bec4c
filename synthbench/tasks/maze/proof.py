"""Proof that a marked path is the one shortest: a race of two waves from S, in many mazes at once.

One wave runs along the marked cells, the other through all other free cells. The first wave wins a
marked cell if the second did not come near it before. If it wins all of them, and the marked cells
do not branch, every other way from S to G is longer.

Cells are `(places, mazes)` for mazes of one size. The waves are bits, eight mazes in a byte.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.maze.task import MazeTask
from synthbench.tasks.numeric import distinct_numbers
from synthbench.tasks.tokens import Vocabulary

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
_WALL, _FREE, _START, _GOAL, _PATH = range(1, 6)


def prove_rows(task: MazeTask, block: Block, rows: Mapping[str, pa.Array]) -> Bools:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    mazes, labels = block["tokens"], answers.encode(rows["label"])
    is_marked = labels == _PATH
    right: Bools = (np.where(is_marked, _FREE, labels) == mazes).all(axis=1)
    right &= numpy_array(rows["steps"]) == np.count_nonzero(is_marked, axis=1) + 1
    lengths, is_tree = np.count_nonzero(mazes, axis=1), task.variant == "tree"
    for length in distinct_numbers(lengths[right]):
        alike = np.flatnonzero(right & (lengths == length))
        cells, size = np.ascontiguousarray(labels[alike, :length].T), math.isqrt(length)
        right[alike] = _are_paths(cells, size) & _are_won(cells, size, reach_all=is_tree)
        if is_tree:
            right[alike] &= _have_edges_of_trees(cells, size)
    return right


def _are_paths(cells: Bytes, size: int) -> Bools:
    """The mazes where each marked cell is beside two others, and S and G beside one."""
    inside = cells[size:-size]
    beside = _beside((cells >= _START).view(np.uint8), size, np.add)
    wanted = 1 + (inside == _PATH).view(np.uint8)
    right: Bools = ((beside == wanted) | (inside < _START)).all(axis=0)
    return right


def _have_edges_of_trees(cells: Bytes, size: int) -> Bools:
    """The mazes with as many pairs of neighbours as a tree of their free cells has."""
    free = (cells != _WALL).view(np.uint8)
    ends = (_beside(free, size, np.add) * free[size:-size]).sum(axis=0, dtype=np.int64)
    right: Bools = ends == 2 * (free.sum(axis=0, dtype=np.int64) - 1)
    return right


def _are_won(cells: Bytes, size: int, reach_all: bool) -> Bools:
    """The mazes whose marked cells are all won. With `reach_all` a wave reaches each free cell."""
    marked, free, won = (
        np.packbits(chosen, axis=1) for chosen in (cells >= _START, cells != _WALL, cells == _START)
    )
    inside, unmarked, lost = slice(size, -size), free & ~marked, np.zeros_like(won)
    goes_on = True
    while goes_on:
        near_won, near_lost = (_beside(wave, size, np.bitwise_or) for wave in (won, lost))
        more_won = won[inside] | near_won & ~near_lost & marked[inside]
        more_lost = lost[inside] | (near_won | near_lost) & unmarked[inside]
        goes_on = (more_won != won[inside]).any() or (more_lost != lost[inside]).any()
        won[inside], lost[inside] = more_won, more_lost
    wrong = won ^ marked
    if reach_all:
        wrong |= (won | lost) ^ free
    bits = np.bitwise_or.reduce(wrong, axis=0)
    right: Bools = np.unpackbits(bits, count=cells.shape[1]) == 0
    return right


def _beside(cells: Bytes, size: int, join: np.ufunc) -> Bytes:
    """The four neighbours of each cell, joined, without the first and the last line of a maze."""
    end = len(cells) - size
    moves = (-size, 1, size, -1)
    return functools.reduce(join, [cells[size + move : end + move] for move in moves])
