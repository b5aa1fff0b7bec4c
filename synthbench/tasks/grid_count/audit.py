"""Audit of grids of colours: answers that count nothing or only a part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, fixed, numbers
from synthbench.tasks.grid_count.grids import COLORS, from_lists
from synthbench.tasks.grid_count.task import GridCount


def audit_spec(task: GridCount) -> AuditSpec:
    """Answers from the background, the density or one line, and how colours are distributed."""
    return AuditSpec(
        shortcuts=_OF_COMMONEST if task.asks_commonest else _OF_COUNTS,
        distributions={
            "colours": lambda columns: columns["grid"].flatten().flatten().to_numpy(),
            "coloured cells, in tenths": _density,
            "colours in a grid": lambda columns: _counts(columns)[:, 1:].astype(bool).sum(axis=1),
        },
    )


def _grids(columns: Columns) -> Iterator[NDArray[np.int64]]:
    """The grids one by one, int64 `(size, size)`."""
    cells = from_lists(columns["grid"]).astype(np.int64) - 1
    for size, row in zip(numbers(columns["size"]).tolist(), cells, strict=True):
        yield row[: size * size].reshape(size, size)


def _from_density(columns: Columns) -> list[NDArray[np.float64]]:
    colors = len(COLORS) - 1
    return [
        np.where(grid > 0, 1 + (np.count_nonzero(grid) - 1) / colors, 0.0)
        for grid in _grids(columns)
    ]


def _from_lines(columns: Columns) -> list[NDArray[np.int64]]:
    return [
        np.where(grid > 0, len(grid) * (grid[:, :, None] == grid[:, None, :]).sum(axis=2), 0)
        for grid in _grids(columns)
    ]


def _counts(columns: Columns) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = numbers(pc.list_flatten(columns["color_counts"]))
    return counts.reshape(-1, len(COLORS))


def _density(columns: Columns) -> NDArray[np.int64]:
    background = _counts(columns)[:, 0]
    cells = numbers(columns["size"]) ** 2
    tenths: NDArray[np.int64] = np.minimum(10 * (cells - background) // cells, 9)
    return tenths


def _from_first(columns: Columns) -> list[NDArray[np.int64]]:
    return [np.full_like(grid, grid[grid > 0][0]) for grid in _grids(columns)]


def _from_half(columns: Columns) -> list[NDArray[np.int64]]:
    answers = []
    for grid in _grids(columns):
        upper = grid[: (len(grid) + 1) // 2]
        counts = np.bincount(upper[upper > 0], minlength=len(COLORS))[1:]
        answers.append(np.full_like(grid, 1 + counts.argmax()))
    return answers


_OF_COUNTS = (
    fixed(
        "background everywhere",
        "0 for every cell.",
        lambda columns: [np.zeros_like(grid) for grid in _grids(columns)],
    ),
    fixed(
        "counts from density",
        "For every coloured cell the expected count, given how many cells are coloured.",
        _from_density,
    ),
    fixed(
        "own line, scaled",
        "For every coloured cell the count in its line, times the number of lines.",
        _from_lines,
    ),
)
_OF_COMMONEST = (
    fixed("own colour", "Each cell's own colour.", lambda columns: list(_grids(columns))),
    fixed("first colour", "The colour of the first coloured cell, everywhere.", _from_first),
    fixed(
        "upper half",
        "The commonest colour of the first half of the lines, everywhere.",
        _from_half,
    ),
)
