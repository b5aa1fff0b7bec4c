"""The counting encoder, one layer with each normalisation on or off, and the identity network.

Source: Counting (Ouellette, Pfister, Jud, 2023), sections III and IV. The paper leaves two things
open. The number of heads: one here, as its table III shows one map. Residual connections: here the
standard model has them and the others do not. With one around the attention, the linear layer after
it could not fit the targets of all ten colours: to cancel what the cell itself adds, it would have
to map all colours to one vector, and their counts with them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.layers.attention import Attention
from synthbench.training.layers.dropout import Dropout
from synthbench.training.models.output import Output, Record
from synthbench.training.options import check_sizes

#: Colours of a cell: the size of the one-hot vectors that go through the layer.
COLORS = 10


class Counting(nn.Module):
    """One encoder layer over the cells of a grid, which lack positions.

    Without softmax the attention weights are the raw scores, so a cell's weighted sum grows with
    the number of cells like it. Softmax divides by that number (equations 1 and 2). As in the
    published program, the attention has no biases and every parameter, of LayerNorm too, starts
    from U(-0.08, 0.08). The paper mentions neither.

    Args:
        normalisation: `none` or `softmax`, or another of `attention.NORMALISATIONS`.
        norm_attention: whether LayerNorm follows the attention.
        norm_feedforward: whether LayerNorm follows the feed-forward part.
        residual: whether a residual connection goes around each part.
        d_ff: width of the feed-forward part's ReLU layer, 2,048 in the standard model; 0: one
            linear layer instead, as in the paper's other three models.
        dropout: chance that a unit is dropped after each part and in the ReLU layer; 0.1 in the
            standard model, as in the published program. The paper does not mention it.

    Raises:
        UsageError: an unknown normalisation, or a width or chance that is not allowed.
    """

    def __init__(
        self,
        *,
        normalisation: str = "none",
        norm_attention: bool = False,
        norm_feedforward: bool = False,
        residual: bool = False,
        d_ff: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(least=0, d_ff=d_ff)
        self.residual = residual
        self.attention = Attention(
            COLORS, 1, normalisation=normalisation, qkv_bias=False, output_bias=False
        )
        self.feedforward = (
            _feedforward(COLORS, d_ff, dropout) if d_ff else nn.Linear(COLORS, COLORS)
        )
        self.norm_attention = nn.LayerNorm(COLORS) if norm_attention else nn.Identity()
        self.norm_feedforward = nn.LayerNorm(COLORS) if norm_feedforward else nn.Identity()
        self.dropout = Dropout(dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.08, 0.08)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Count the cells of each cell's colour.

        `inputs` are colours 0..9, int64 `(rows, cells)`, `lengths` the cells of each grid, int64
        `(rows,)`. Without them all grids are full. In the scores `(rows, cells, 10)` the count
        is in the dimension of the cell's colour. Records `attention` and `scores`, `hidden`
        after each of the two parts, and `norm_input` of each LayerNorm.
        """
        mask = None
        if lengths is not None:
            mask = torch.arange(inputs.shape[1], device=inputs.device) < lengths.unsqueeze(-1)
        cells = functional.one_hot(inputs, COLORS).to(self.attention.key.weight.dtype)
        states = self.dropout(self.attention(cells, mask, record=record))
        states = self._normed(self.norm_attention, cells, states, record)
        counts = self.dropout(self.feedforward(states))
        counts = self._normed(self.norm_feedforward, states, counts, record)
        if record is not None:
            record.add("hidden", states)
            record.add("hidden", counts)
        return Output(counts)

    def _normed(
        self, norm: nn.Module, before: Tensor, part: Tensor, record: Record | None
    ) -> Tensor:
        """The output of a part after its residual connection and its LayerNorm, if it has them."""
        summed = before + part if self.residual else part
        if record is not None and isinstance(norm, nn.LayerNorm):
            record.add("norm_input", summed)
        normed: Tensor = norm(summed)
        return normed


class IdentityNetwork(nn.Module):
    """A feed-forward network that is to give back its input.

    It is the feed-forward part of the standard encoder layer, without the residual connection,
    which would leave nothing to learn.

    Args:
        dims: numbers of a row.
        norm: whether LayerNorm is applied to the output.
        d_ff: width of the ReLU layer.

    Raises:
        UsageError: a width that is not allowed.
    """

    def __init__(self, dims: int = 5, *, norm: bool = False, d_ff: int = 2048) -> None:
        super().__init__()
        check_sizes(dims=dims, d_ff=d_ff)
        self.feedforward = _feedforward(dims, d_ff)
        self.norm = nn.LayerNorm(dims) if norm else nn.Identity()

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Give back vectors, float32 `(rows, dims)`, as scores of the same shape.

        Records `hidden` `(rows, dims)`, the input of LayerNorm.
        """
        hidden = self.feedforward(inputs)
        if record is not None:
            record.add("hidden", hidden)
        return Output(self.norm(hidden))


def _feedforward(size: int, d_ff: int, dropout: float = 0.0) -> nn.Sequential:
    """Two linear layers with ReLU and dropout between them."""
    return nn.Sequential(_Widening(size, d_ff), nn.ReLU(), Dropout(dropout), nn.Linear(d_ff, size))


class _Widening(nn.Linear):
    """`nn.Linear` from few units to many, with a faster backward pass on a CPU.

    `nn.Linear` computes the weight's gradient as `(out, in)`, which takes several times as long as
    `(in, out)`, its transpose.
    """

    def forward(self, states: Tensor) -> Tensor:
        return states @ self.weight.T.contiguous() + self.bias
