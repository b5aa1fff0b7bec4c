"""The interface of backbones."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class States(NamedTuple):
    """The states of a batch of tokens.

    Attributes:
        states: a state for each place, `(rows, width, d_model)`. Behind a row's end anything.
        summary: the state that a class of the whole row is read from, `(rows, d_model)`; None: the
            state of the row's last token.
        ponder: grows with the number of steps, a scalar; None without adaptive computation time.
        earlier: in training of a looped model, the states after each round but the last.
    """

    states: Tensor
    summary: Tensor | None = None
    ponder: Tensor | None = None
    earlier: tuple[Tensor, ...] = ()
