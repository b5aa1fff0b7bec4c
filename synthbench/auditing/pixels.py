"""A shortcut for images: a linear probe of the pixels."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.linear import fit_linear
from synthbench.tasks.audit_spec import Columns, Shortcut
from synthbench.tasks.images import png

#: The name of the shortcut that needs PyTorch; see `network`.
NETWORK = "small network on the pixels"
#: The side of the squares that the linear probe averages over, in pixels.
_SQUARE = 2


def pixel_shortcuts(column: str) -> list[Shortcut]:
    """The shortcuts for rows with images of equal size in a column."""
    return [
        Shortcut(
            "linear probe of the pixels",
            f"Logistic regression on the means of {_SQUARE}x{_SQUARE} pixels.",
            lambda train: fit_linear(functools.partial(_coarse, column), train),
            learned=True,
        )
    ]


def decode_pixels(column: str, columns: Columns) -> NDArray[np.uint8]:
    """The images, uint8 `(rows, height, width, 3)`."""
    return np.stack([png.decode(image.as_py()) for image in columns[column].field("bytes")])


def _coarse(column: str, columns: Columns) -> NDArray[np.float32]:
    """The means of squares of pixels, from 0 to 1, float32 `(rows, values)`."""
    pixels = decode_pixels(column, columns)
    rows, height, width, channels = pixels.shape
    tall, wide = height // _SQUARE, width // _SQUARE
    squares = pixels[:, : tall * _SQUARE, : wide * _SQUARE].reshape(
        rows, tall, _SQUARE, wide, _SQUARE, channels
    )
    means: NDArray[np.float32] = squares.mean(axis=(2, 4), dtype=np.float32) / np.float32(255)
    return means.reshape(rows, -1)
