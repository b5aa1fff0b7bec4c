"""One layer of the encoder: attention, feed-forward and the copy gate, and initial parameters.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), section 2.1 and figure 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from synthbench.training.layers.attention import Attention, states_at
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.mlp import MLP
from synthbench.training.layers.normalisation import Nearest
from synthbench.training.models.output import Record
from synthbench.training.options import check_names


class Layer(nn.Module):
    """One step of all columns: attention, feed-forward and, if wanted, the copy gate.

    With the gate, `h' = g * u + (1 - g) * h` (NDR, eqs. 1-4), where u has no residual connection of
    its own. Without it, the usual Transformer layer with normalisation after each part.
    `gate_drop` and dropout in the gate are in the published program, not in the paper.

    Args:
        attention: self-attention over `d_model`.
        d_model: size of a state.
        d_ff: size of the feed-forward part's hidden layer.
        dropout: chance that a unit is dropped, in the attention's output and the hidden layers of
            feed-forward part and gate. Without a gate, also in the feed-forward part's output.
        copy_gate: whether each column may keep its state.
        gate_drop: chance that a column's gates are all 0 in training, so that it keeps its state.
        attention_norm: whether LayerNorm follows the attention.
        feedforward_norm: the layer behind the feed-forward part: `layer` (LayerNorm), `tanh` (NDR,
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
        self.feedforward = MLP(d_model, d_ff, "relu", dropout)
        self.feedforward_norm = norms[feedforward_norm]
        self.dropout = Dropout(dropout)
        self.gate_drop = gate_drop
        self.gate: MLP | None = None
        if copy_gate:
            self.gate = MLP(d_model, d_model, "relu", dropout)
            # At first the gate is nearly closed and nothing is updated (NDR, section 2.1).
            nn.init.constant_(self.gate.outer.bias, -3.0)

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None,
        *,
        column: Tensor | None = None,
        nearest: Nearest | None = None,
        positions: Tensor | None = None,
        record: Record | None = None,
    ) -> Tensor:
        """The next states, `(rows, length, d_model)`. With `column`, `(rows, 1, d_model)`.

        Arguments are those of `Attention.forward`; `record` also gets `attended` and `gate`.
        """
        attended = self.attention(
            states, mask, column=column, nearest=nearest, positions=positions, record=record
        )
        if column is not None:
            states = states_at(states, column)
        attended = self.attention_norm(self.dropout(attended) + states)  # eq. 1
        if record is not None:
            record.add("attended", attended)
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


# Initial parameters that the papers' programs do not leave to PyTorch.

#: The initial variance of an embedding, from its number of rows and the size of a state.
EMBEDDINGS: dict[str, Callable[[int, int], float]] = {
    "unit": lambda rows, d_model: 1.0,
    "normal": lambda rows, d_model: 1 / d_model,
    "kaiming": lambda rows, d_model: 2 / d_model,
    "xavier": lambda rows, d_model: 2 / (rows + d_model),
}


def draw_weights(model: nn.Module, draw: Callable[[Tensor], object]) -> None:
    """Draw the weights of linear maps, convolutions and embeddings. Set their biases to 0.

    `draw` fills a weight in place, as the functions of `nn.init` do.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.Embedding):
            draw(module.weight)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)  # type: ignore[arg-type]


def xavier_layer(layer: Layer) -> None:
    """Draw the weights of an encoder's layer as NDR's program does (Glorot & Bengio, 2010).

    Each head's projections are separate maps: fan-in d_model, fan-out d_head. The attention's
    logits then have a deviation of 1 with one head and more with several. With PyTorch's default
    it is 1/3. The two maps of the feed-forward part have gains of √2 and 5/3, those of the gate √2
    and 1. The attention's output and all biases keep PyTorch's default.
    """
    attention = layer.attention
    projections = [attention.query, attention.key, attention.value]
    if attention.positions is not None:
        projections.append(attention.positions.key)
    d_model = attention.query.in_features
    bound = math.sqrt(6 / (d_model + d_model // attention.num_heads))
    for projection in projections:
        nn.init.uniform_(projection.weight, -bound, bound)
    parts = [(layer.feedforward, nn.init.calculate_gain("tanh"))]
    if layer.gate is not None:
        parts.append((layer.gate, 1.0))
    for part, outer_gain in parts:
        nn.init.xavier_uniform_(part.inner.weight, nn.init.calculate_gain("relu"))
        nn.init.xavier_uniform_(part.outer.weight, outer_gain)


def draw_embedding(embedding: nn.Embedding, name: str) -> None:
    """Draw an embedding from a normal distribution with the variance that `EMBEDDINGS` names."""
    variance = EMBEDDINGS[name](embedding.num_embeddings, embedding.embedding_dim)
    nn.init.normal_(embedding.weight, std=math.sqrt(variance))
