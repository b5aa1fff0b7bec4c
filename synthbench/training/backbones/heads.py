"""Heads, which read a backbone's states, and the model of tokens that both make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from synthbench.training.backbones.states import States
from synthbench.training.layers.attention import states_at
from synthbench.training.models.output import Output

if TYPE_CHECKING:
    from synthbench.training.models.output import Record


#: The score of a token that no answer has. It is finite, so that smoothed labels have a loss.
_UNLIKELY = -1e4


class RowHead(nn.Linear):
    """Scores `(rows, outputs)` from each row's summary, or from the state of its last token."""

    def forward(self, states: States, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """Scores of rows with these `lengths`, int64 `(rows,)`."""
        summary = states.summary
        if summary is None:
            summary = states_at(states.states, lengths - 1)[:, 0]
        return super().forward(summary)


class PlaceHead(nn.Linear):
    """Scores `(rows, width, outputs)` from the state of each place."""

    def forward(self, states: States, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """Scores of all places. Behind a row's end anything."""
        return super().forward(states.states)


class AnswerHead(PlaceHead):
    """A `PlaceHead` with parameters for the tokens of answers alone. Others are unlikely.

    Args:
        d_model: size of a state.
        outputs: number of ids that are scored.
        answer_ids: the ids of the tokens that an answer can have.
    """

    def __init__(self, d_model: int, outputs: int, answer_ids: Sequence[int]) -> None:
        super().__init__(d_model, len(answer_ids))
        self.outputs = outputs
        self.ids: Tensor
        self.register_buffer("ids", torch.tensor(answer_ids), persistent=False)

    def forward(self, states: States, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """Scores `(rows, width, outputs)`."""
        scores = super().forward(states, lengths)
        others = scores.new_full((*scores.shape[:-1], self.outputs), _UNLIKELY)
        return others.index_copy(-1, self.ids, scores)


class TokenModel(nn.Module):
    """A backbone and a form's head.

    Args:
        backbone: see `synthbench.training.backbones`.
        make_head: makes a head for states of a size, such as `TextForm.head`.
    """

    def __init__(self, backbone: nn.Module, make_head: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = make_head(backbone.d_model)  # type: ignore[arg-type]
        if hasattr(backbone, "initialise"):
            backbone.initialise(self.head)  # type: ignore[operator]

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor | None = None,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> Output:
        """Scores of tokens, as the head gives them.

        Args:
            inputs: int64 `(rows, width)`, padded with 0.
            lengths: tokens of each row, int64 `(rows,)`. Without them all rows are full.
            record: gets what the backbone records.
            positions: the task's own positions, int64 `(rows, width)`.
        """
        if lengths is None:
            lengths = inputs.new_full((len(inputs),), inputs.shape[1])
        states = self.backbone(inputs, lengths, record, positions)
        earlier = (self.head(states._replace(states=after), lengths) for after in states.earlier)
        return Output(self.head(states, lengths), states.ponder, tuple(earlier))
