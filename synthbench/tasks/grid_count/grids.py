"""Square grids of colours, a whole block at a time, in flat arrays.

A block has the colours of a grid plus 1, line by line, padded with zeros to the size of the split's
largest grid. So one array holds grids of all sizes, cells can be told from padding, and the bytes
of a grid do not depend on the sizes of the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array
from synthbench.tasks.base import Block
from synthbench.tasks.numeric import list_array, plain_values, unwrap
from synthbench.tasks.tokens import pad

if TYPE_CHECKING:
    import pyarrow as pa

#: The background, 0, and nine colours.
COLORS = range(10)


def pack(cells: NDArray[np.uint8], largest: int) -> Block:
    """Grids of one size as a block of a split whose largest grids have `largest` lines.

    Args:
        cells: colours plus 1, uint8 `(rows, size * size)`, line by line.
        largest: the split's largest size, in lines.

    Returns:
        `cells` uint8 `(rows, largest * largest)`; `color_counts` int16 `(rows, 10)`; `size`
        int16 `(rows,)`, in lines.
    """
    rows, own = cells.shape
    keys = cells + (np.arange(rows) * len(COLORS) - 1)[:, None]
    counts = np.bincount(keys.reshape(-1), minlength=rows * len(COLORS))
    padded = np.zeros((rows, largest * largest), np.uint8)
    padded[:, :own] = cells
    return Block(
        {
            "cells": padded,
            "color_counts": counts.reshape(rows, len(COLORS)).astype(np.int16),
            "size": np.full(rows, math.isqrt(own), np.int16),
        }
    )


def to_colors(block: Block) -> NDArray[np.int8]:
    """The colour of each cell, int8 in the shape of `cells`; -1 for padding."""
    return block["cells"].astype(np.int8) - np.int8(1)


def to_labels(block: Block) -> NDArray[np.int16]:
    """The count of each cell's colour, int16 in the shape of `cells`; -1 for padding."""
    counts = np.insert(block["color_counts"], 0, -1, axis=1)
    counts[:, 1] = 0  # the background
    keys = block["cells"] + (np.arange(len(block)) * counts.shape[1])[:, None]
    labels: NDArray[np.int16] = counts.reshape(-1).take(keys)
    return labels


def commonest(block: Block) -> NDArray[np.int64]:
    """The colour that occurs most often in each grid, int64 `(rows,)`, or 0 where two tie."""
    counts = block["color_counts"][:, 1:]
    most = counts.max(axis=1, keepdims=True)
    alone = (most[:, 0] > 0) & ((counts == most).sum(axis=1) == 1)
    return np.where(alone, 1 + counts.argmax(axis=1), 0)


def words_with_one_mode(length: int, letters: int) -> int:
    """The number of words in which one letter occurs more often than any other.

    Example:
        >>> from synthbench.tasks.grid_count.grids import words_with_one_mode
        >>> [words_with_one_mode(length, 2) for length in (0, 1, 2, 3)]
        [0, 2, 2, 8]
    """
    count = 0
    for most in range(1, length + 1):
        words = [1] + [0] * length  # by length, of the other letters, each less often
        for _ in range(letters - 1):
            words = [
                sum(math.comb(n, k) * words[n - k] for k in range(min(n, most - 1) + 1))
                for n in range(length + 1)
            ]
        count += letters * math.comb(length, most) * words[length - most]
    return count


def to_lists(values: NDArray[Any], block: Block) -> pa.Array:
    """One value per cell, in the shape of `cells`, as lists of lines."""
    size = block["size"]
    lines = list_array(arrow_array(values[block["cells"] > 0]), np.repeat(size, size))
    return list_array(lines, size)


def to_squares(values: NDArray[Any], block: Block) -> NDArray[Any]:
    """One value per cell as squares of the largest size, `(rows, largest, largest)`.

    A grid is in the upper left corner of its square. The rest is -1.
    """
    largest = math.isqrt(values.shape[1])
    squares = np.full((len(values), largest, largest), -1, values.dtype)
    for size in np.unique(block["size"]).tolist():
        rows = np.flatnonzero(block["size"] == size)
        squares[rows, :size, :size] = values[rows, : size * size].reshape(-1, size, size)
    return squares


def from_lists(column: pa.Array) -> NDArray[np.uint8]:
    """Lists of lines of colours as a block's `cells`.

    Raises:
        ValueError: a grid is empty or not square, a colour is not 0 to 9, or there is a null.
    """
    heights, lines = unwrap(column, "grid")
    widths, values = unwrap(lines, "grid")
    colors = plain_values(values, "grid")
    if not (widths == np.repeat(heights, heights)).all() or not (heights > 0).all():
        raise ValueError("grid has a row that is not a square grid")
    if not ((colors >= 0) & (colors < len(COLORS))).all():
        raise ValueError(f"grid has a colour that is not 0 to {COLORS[-1]}")
    return pad((colors + 1).astype(np.uint8), heights**2, least=1)
