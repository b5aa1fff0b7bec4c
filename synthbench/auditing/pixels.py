"""Shortcuts through the pixels of images of equal size: a linear probe and a small network.

The network is small and trained on few rows: it shows what is learned easily, not all that can be
learned.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.linear import fit_linear
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, labels_of
from synthbench.tasks.images import png

if TYPE_CHECKING:
    import torch
    from torch import nn

#: The side of the squares that the linear probe averages over, in pixels.
_SQUARE = 2
#: Channels of the network's layers, each followed by pooling.
_CHANNELS = (16, 32, 64)
_EPOCHS, _BATCH, _RATE = 4, 64, 2e-3
#: The maximum number of rows that the network is trained on.
_ROWS = 10_000


def pixel_shortcuts(column: str) -> tuple[Shortcut, Shortcut]:
    """The linear probe and the network for rows with images in a column."""
    return (
        Shortcut(
            "linear probe of the pixels",
            f"Logistic regression on the means of {_SQUARE}x{_SQUARE} pixels.",
            lambda train: fit_linear(functools.partial(_coarse, column), train),
            learned=True,
        ),
        Shortcut(
            "small network on the pixels",
            f"{len(_CHANNELS)} convolutional layers, trained for {_EPOCHS} epochs on at most "
            f"{_ROWS:,} rows.",
            functools.partial(_fit_network, column),
            learned=True,
        ),
    )


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


def _fit_network(column: str, train: Columns) -> Predictor:
    import torch
    from torch import nn

    pixels = torch.from_numpy(decode_pixels(column, {column: train[column].slice(0, _ROWS)}))
    labels, label = np.unique(labels_of(train)[:_ROWS], return_inverse=True)
    target = torch.from_numpy(label)

    def scaled(pixels: torch.Tensor) -> torch.Tensor:
        """Pixels scaled to [-1, 1], float32 `(rows, 3, height, width)`."""
        return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1.0

    with _repeatable():
        layers: list[nn.Module] = []
        for inputs, outputs in zip((3, *_CHANNELS), _CHANNELS, strict=False):
            layers += [
                nn.Conv2d(inputs, outputs, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2, ceil_mode=True),
            ]
        layers += [nn.Flatten(), nn.LazyLinear(len(labels))]
        network = nn.Sequential(*layers)
        network(scaled(pixels[:1]))  # sets the size of the last layer
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for _ in range(_EPOCHS):
            order = torch.randperm(len(pixels))
            for first in range(0, len(order), _BATCH):
                rows = order[first : first + _BATCH]
                loss = nn.functional.cross_entropy(network(scaled(pixels[rows])), target[rows])
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                optimizer.step()

    @torch.no_grad()
    def predict(columns: Columns) -> NDArray[Any]:
        images = torch.from_numpy(decode_pixels(column, columns))
        classes = [
            network(scaled(images[first : first + _BATCH])).argmax(dim=1)
            for first in range(0, len(images), _BATCH)
        ]
        answers: NDArray[Any] = labels[torch.cat(classes).numpy()]
        return answers

    return predict


@contextlib.contextmanager
def _repeatable() -> Iterator[None]:
    """Run PyTorch with seed 0 on one thread. Afterwards restore its random state and threads."""
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
