"""Coupled positions: what belongs together in question and answer has the same position.

A row's positions begin at a number that the row alone decides, so that a model has seen the
positions of longer rows.

Source: Cho et al., Position Coupling (NeurIPS 2024), section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import hash_rows, mix

_HALF = np.uint64(32)


def first_positions(
    content: NDArray[np.uint8], own: NDArray[np.integer[Any]], longest: int
) -> NDArray[np.int64]:
    """The first position of each row, int64 `(rows,)`: from 1 to `longest - own + 1`.

    Args:
        content: bytes that decide it, `(rows, width)`.
        own: how many positions the row has, `(rows,)`.
        longest: the most positions of any row.
    """
    drawn = mix(hash_rows(content)) >> _HALF
    return 1 + (drawn * (longest - own + 1).astype(np.uint64) >> _HALF).astype(np.int64)


def of_copies(
    first: NDArray[np.int64],
    lengths: NDArray[np.integer[Any]],
    sources: list[NDArray[np.integer[Any]]],
) -> NDArray[np.int64]:
    """The positions of answers whose tokens are copies, `(rows, width)`, padded with 0.

    Args:
        first: the first position of each row, `(rows,)`.
        lengths: the symbols of each question, `(rows,)`.
        sources: for each length in ascending order, the place that each token is a copy of.
    """
    different, which = np.unique(lengths, return_inverse=True)
    table = np.full((len(different), max(map(len, sources), default=0)), -1, np.int64)
    for row, source in zip(table, sources, strict=True):
        row[: len(source)] = source
    places = table[which]
    return np.where(places < 0, 0, first[:, None] + places)
