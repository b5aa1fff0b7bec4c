"""What every model returns."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Output(NamedTuple):
    """A model's answer to a batch.

    Attributes:
        scores: the answer before any normalisation, `(rows, classes)` for classes.
        ponder: a term for the loss that grows with the steps taken, a scalar; None without
            adaptive computation time.
    """

    scores: Tensor
    ponder: Tensor | None = None
