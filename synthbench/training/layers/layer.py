"""One layer of the encoder: attention, feed-forward and the copy gate.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), section 2.1 and figure 5.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.layers.attention import Attention, states_at
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.normalisation import Nearest
from synthbench.training.models.output import Record
from synthbench.training.options import check_names


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them (NDR, eq. 5)."""

    def __init__(self, d_model: int, d_hidden: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_hidden)
        self.outer = nn.Linear(d_hidden, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """`(..., d_model)` to `(..., d_model)`."""
        output: Tensor = self.outer(self.dropout(functional.relu(self.inner(states))))
        return output


class Layer(nn.Module):
    """One step of all columns: attention, feed-forward and, if wanted, the copy gate.

    With the gate, `h' = g * u + (1 - g) * h` (NDR, eqs. 1-4), where u has no residual connection of
    its own; without it, the usual Transformer layer with normalisation after each part.
    `gate_drop` and dropout in the gate are in the published program, not in the paper.

    Args:
        attention: self-attention over `d_model`.
        d_model: size of a state.
        d_ff: size of the feed-forward part's hidden layer.
        dropout: chance that a unit is dropped, in the attention's output and the hidden layers of
            feed-forward part and gate; without a gate, also in the feed-forward part's output.
        copy_gate: whether each column may keep its state.
        gate_drop: chance that a column's gates are all 0 in training, so that it keeps its state.
        attention_norm: whether LayerNorm follows the attention.
        feedforward_norm: what follows the feed-forward part: `layer` (LayerNorm), `tanh` (NDR,
            section C.3: with a gate but without geometric attention) or `none`.
    """

    def __init__(
        self,
        attention: Attention,
        d_model: int,
        d_ff: int,
        *,
        dropout: float,
        copy_gate: bool,
        gate_drop: float,
        attention_norm: bool,
        feedforward_norm: str,
    ) -> None:
        super().__init__()
        norms = {"layer": nn.LayerNorm(d_model), "tanh": nn.Tanh(), "none": nn.Identity()}
        check_names(feedforward_norm=(feedforward_norm, tuple(norms)))
        self.attention = attention
        self.attention_norm = nn.LayerNorm(d_model) if attention_norm else nn.Identity()
        self.feedforward = FeedForward(d_model, d_ff, dropout)
        self.feedforward_norm = norms[feedforward_norm]
        self.dropout = Dropout(dropout)
        self.gate_drop = gate_drop
        self.gate: FeedForward | None = None
        if copy_gate:
            self.gate = FeedForward(d_model, d_model, dropout)
            # At first the gate is nearly closed and nothing is updated (NDR, section 2.1).
            nn.init.constant_(self.gate.outer.bias, -3.0)

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None,
        *,
        column: Tensor | None = None,
        nearest: Nearest | None = None,
        record: Record | None = None,
    ) -> Tensor:
        """The next states, `(rows, length, d_model)`; with `column`, `(rows, 1, d_model)`.

        Arguments are those of `Attention.forward`; `record` also gets `gate`.
        """
        attended = self.attention(states, mask, column=column, nearest=nearest, record=record)
        if column is not None:
            states = states_at(states, column)
        attended = self.attention_norm(self.dropout(attended) + states)  # eq. 1
        update = self.feedforward(attended)
        output: Tensor
        if self.gate is None:
            output = self.feedforward_norm(self.dropout(update) + attended)
            return output
        gate = torch.sigmoid(self.gate(attended))  # eq. 3
        if self.training and self.gate_drop:
            kept = torch.rand(*gate.shape[:-1], 1, device=gate.device) >= self.gate_drop
            gate = gate * kept
        if record is not None:
            record.add("gate", gate)
        output = gate * self.feedforward_norm(update) + (1 - gate) * states  # eqs. 2 and 4
        return output
