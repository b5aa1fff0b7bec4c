"""Linear probes: what a linear classifier reads off a model's states.

A high accuracy says that something is there and linearly separable, not that the model uses it.

Source: Eureka (Hoffmann et al., ICML 2024), section 5.1.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

#: The share of rows that probes are fitted on; they are scored on the others.
FITTED = 2 / 3


def of_tokens(hidden: Tensor, mask: Tensor | None, first: bool) -> dict[str, Tensor]:
    """States of a row of columns as vectors.

    Args:
        hidden: states after a layer, `(rows, columns, size)`.
        mask: which columns are real, bool `(rows, columns)`, or None.
        first: whether the answer is read from the first column, instead of the last real one.

    Returns:
        `read-out`, the column that the answer is read from, and `mean`, over all real columns;
        both `(rows, size)`.
    """
    if mask is None:
        mask = torch.ones(hidden.shape[:2], dtype=torch.bool)
    lengths = mask.sum(dim=1)
    column = torch.zeros_like(lengths) if first else lengths - 1
    mean = (hidden * mask.unsqueeze(-1)).sum(dim=1) / lengths.unsqueeze(-1)
    return {"read-out": hidden[torch.arange(len(hidden)), column], "mean": mean}


def of_images(hidden: Tensor) -> dict[str, Tensor]:
    """States of an image's places as vectors.

    Args:
        hidden: states after a layer, `(rows, places, size)`: a square of places, line by line,
            behind a class token or without one.

    Returns:
        `quadrants`, the mean state of each quadrant, one after another, `(rows, 4 * size)`, and, if
        there is one, `class token`, `(rows, size)`.
    """
    side = int(hidden.shape[1] ** 0.5)
    tokens = hidden.shape[1] - side * side
    square = hidden[:, tokens:].transpose(1, 2).reshape(len(hidden), -1, side, side)
    quadrants = functional.adaptive_avg_pool2d(square, 2).flatten(1)
    return {**({"class token": hidden[:, 0]} if tokens else {}), "quadrants": quadrants}


def accuracy(states: NDArray[Any], classes: NDArray[np.int64]) -> float | None:
    """How often a linear classifier, fitted on the first rows, is right on the others.

    Args:
        states: float `(rows, size)`.
        classes: what it is to read off them, int64 `(rows,)`.

    Returns:
        The accuracy, None if the first rows are all of one class.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    cut = round(FITTED * len(classes))
    if len(np.unique(classes[:cut])) < 2:
        return None
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # good enough to compare layers
        probe.fit(states[:cut], classes[:cut])
    return float(probe.score(states[cut:], classes[cut:]))


def majority(classes: NDArray[np.int64]) -> float:
    """The accuracy of always answering with the first rows' most frequent class."""
    cut = round(FITTED * len(classes))
    values, counts = np.unique(classes[:cut], return_counts=True)
    return float((classes[cut:] == values[counts.argmax()]).mean())
