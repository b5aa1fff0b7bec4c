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


class Record:
    """Tensors that a model leaves behind while it computes, by name and in order.

    A model writes only when it is given a record, and detached tensors only, so that ordinary
    training pays nothing. The names in use, one entry for each layer or step unless said otherwise:

    - `attention`: weights, `(rows, heads, queries, keys)`;
    - `scores`: what the weights were normalised from, `(rows, heads, queries, keys)`;
    - `gate`: how far the copy gate is open, `(rows, length, d_model)`;
    - `hidden`: the states after the layer, `(rows, length, d_model)`;
    - `hybrid`: the weight of doubly-normalised attention in each head, `(heads,)`;
    - `halting`: after how many steps each column stopped, `(rows, length)`; one entry in all.
    """

    def __init__(self) -> None:
        self._entries: dict[str, list[Tensor]] = {}

    def __getitem__(self, name: str) -> list[Tensor]:
        """The entries of a name, in the order they were added; none if nothing was."""
        return self._entries.get(name, [])

    def add(self, name: str, tensor: Tensor) -> None:
        """Append a tensor, cut off from the graph, to the entries of a name."""
        self._entries.setdefault(name, []).append(tensor.detach())
