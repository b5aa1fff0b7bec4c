"""The feed-forward part of a block: two linear maps with a nonlinearity between them."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.layers.dropout import Dropout
from synthbench.training.options import check_names, check_sizes

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gated-gelu": functional.gelu,
}


class MLP(nn.Module):
    """y = V f(W x), or with `gated-gelu` V (gelu(W x) ⊙ W' x). Each map has a bias.

    Source: Vaswani et al., NeurIPS 2017, section 3.3 (NDR, eq. 5). Gated: Shazeer, GLU variants
    improve Transformer, 2020, section 2.

    Args:
        d_model: size of a state.
        hidden: size of the hidden layer.
        activation: `relu`, `gelu` or `gated-gelu`.
        dropout: chance that a unit of the hidden layer is dropped.
    """

    def __init__(
        self, d_model: int, hidden: int, activation: str = "gelu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, hidden=hidden)
        check_names(activation=(activation, tuple(ACTIVATIONS)))
        self.activation = ACTIVATIONS[activation]
        self.inner = nn.Linear(d_model, hidden)
        self.gate = nn.Linear(d_model, hidden) if activation == "gated-gelu" else None
        self.outer = nn.Linear(hidden, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """`(..., d_model)` to `(..., d_model)`."""
        hidden = self.activation(self.inner(states))
        if self.gate is not None:
            hidden = hidden * self.gate(states)
        output: Tensor = self.outer(self.dropout(hidden))
        return output
