"""The output of every model, and the tensors that it records."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Output(NamedTuple):
    """A model's answer to a batch."""

    scores: Tensor  # before any normalisation, `(rows, classes)` for classes
    ponder: Tensor | None = None  # grows with the number of steps, a scalar; None without halting


class Record:
    """Tensors that a model records while it computes, by name and in order.

    A model records only if it is given a record, so that ordinary training pays nothing. There is
    one entry for each layer or step, of a name of these:

    - `attention`: weights, `(rows, heads, queries, keys)`;
    - `scores`: what the weights were normalised from, `(rows, heads, queries, keys)`;
    - `gate`: how far the copy gate is open, `(rows, length, d_model)`;
    - `hidden`: the states after the layer, `(rows, length, d_model)`;
    - `hybrid`: the weight of doubly-normalised attention in each head, `(heads,)`;
    - `halting`: the number of steps before each column halted, `(rows, length)`; one entry in all.
    """

    def __init__(self) -> None:
        self._entries: dict[str, list[Tensor]] = {}

    def __getitem__(self, name: str) -> list[Tensor]:
        """The entries of a name, in the order in which they were added."""
        return self._entries.get(name, [])

    def add(self, name: str, tensor: Tensor) -> None:
        """Append a detached tensor to the entries of a name."""
        self._entries.setdefault(name, []).append(tensor.detach())
