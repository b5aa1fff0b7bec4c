"""A shortcut for images that needs PyTorch: a small convolutional network.

The network is small and trained on few rows: it shows what is learned easily, not all that can be
learned.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from synthbench.auditing.pixels import NETWORK, decode_pixels
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, numbers

#: Channels of the layers, each followed by pooling.
_CHANNELS = (16, 32, 64)
_EPOCHS, _BATCH, _RATE = 4, 64, 2e-3
#: The most rows that it is trained on.
_ROWS = 10_000


def network_shortcuts(column: str) -> list[Shortcut]:
    """The shortcuts for rows with images of equal size in a column."""
    return [
        Shortcut(
            NETWORK,
            f"{len(_CHANNELS)} convolutional layers, trained for {_EPOCHS} epochs on at most "
            f"{_ROWS:,} rows.",
            functools.partial(_fit_network, column),
            learned=True,
        )
    ]


def _fit_network(column: str, train: Columns) -> Predictor:
    pixels = torch.from_numpy(decode_pixels(column, {column: train[column].slice(0, _ROWS)}))
    labels, label = np.unique(numbers(train["label"])[:_ROWS], return_inverse=True)
    target = torch.from_numpy(label)

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
        network(_scaled(pixels[:1]))  # sets the size of the last layer
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for _ in range(_EPOCHS):
            order = torch.randperm(len(pixels))
            for first in range(0, len(order), _BATCH):
                rows = order[first : first + _BATCH]
                loss = nn.functional.cross_entropy(network(_scaled(pixels[rows])), target[rows])
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                optimizer.step()

    @torch.no_grad()
    def predict(columns: Columns) -> NDArray[np.int64]:
        given = torch.from_numpy(decode_pixels(column, columns))
        chosen = [
            network(_scaled(given[first : first + _BATCH])).argmax(dim=1)
            for first in range(0, len(given), _BATCH)
        ]
        answers: NDArray[np.int64] = labels[torch.cat(chosen).numpy()]
        return answers

    return predict


@contextlib.contextmanager
def _repeatable() -> Iterator[None]:
    """Run PyTorch with seed 0 on one thread; afterwards restore its random state and threads."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _scaled(pixels: torch.Tensor) -> torch.Tensor:
    """Pixels as numbers from -1 to 1, float32 `(rows, 3, height, width)`."""
    return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1.0
