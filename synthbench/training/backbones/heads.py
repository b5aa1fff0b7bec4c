"""Heads, which read a backbone's states, and the model of tokens that both make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torch import Tensor, nn

from synthbench.training.backbones.states import States
from synthbench.training.layers.attention import states_at
from synthbench.training.models.output import Output

if TYPE_CHECKING:
    from synthbench.training.models.output import Record


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
        """Scores of all places; behind a row's end anything."""
        return super().forward(states.states)


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
            lengths: tokens of each row, int64 `(rows,)`; without them all rows are full.
            record: gets what the backbone records.
            positions: the task's own positions, int64 `(rows, width)`.
        """
        if lengths is None:
            lengths = inputs.new_full((len(inputs),), inputs.shape[1])
        states = self.backbone(inputs, lengths, record, positions)
        return Output(self.head(states, lengths), states.ponder)
