"""The output of every model, and the tensors that it records."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from torch import Tensor


class Output(NamedTuple):
    """A model's answer to a batch."""

    scores: Tensor  # before any normalisation, `(rows, classes)` for classes
    ponder: Tensor | None = None  # grows with the number of steps, a scalar; None without halting
    earlier: tuple[Tensor, ...] = ()  # the scores of earlier rounds, on which there is a loss too


class Record(defaultdict[str, list[Tensor]]):
    """Tensors that a model records while it computes: a list for each name, perhaps empty.

    A model records only if it is given a record, so ordinary training pays nothing. The lists have
    one entry for each layer or step:

    - `attention`: weights, `(rows, heads, queries, keys)`;
    - `scores`: the weights before normalisation, `(rows, heads, queries, keys)`;
    - `gate`: how far the copy gate is open, `(rows, length, d_model)`;
    - `hidden`: the states after the layer, `(rows, length, d_model)`;
    - `query`, `key`, `value`, `z`: the inputs of the attention's heads, and the values that they
      mix, `(rows, heads, length, d_head)`;
    - `attended`: `z` after the output map and the residual connection, `(rows, length, d_model)`;
    - `norm_input`: what LayerNorm gets, `(rows, cells, 10)`, in models that count;
    - `hybrid`: the weight of doubly-normalised attention in each head, `(heads,)`;
    - `halting`: the number of steps before each column halted, `(rows, length)`. One entry in all.
    """

    def __init__(self) -> None:
        super().__init__(list)

    def add(self, name: str, tensor: Tensor) -> None:
        """Append a tensor, detached, to the list of a name."""
        self[name].append(tensor.detach())
