"""Multi-head softmax attention as a mixer, causal or over whole rows, with positions in it.

    y_i = W_o concat over heads of Σ_j softmax_j(q_i·k_j / √d_head + b_ij) v_j

    none        b = 0
    rotary      q_i and k_j turned by angles i·θ and j·θ     Su et al. (RoFormer), 2021, section 3.2
    alibi       b_ij = -m |i - j|, m = 2^(-8h/H) in head h   Press et al., ICLR 2022, section 3
    relative    the scores are ((q_i + u)·k_j + (q_i + v)·W_p p_(i-j)) / √d_head
                                      Dai et al. (Transformer-XL), ACL 2019, section 3.3

A causal place i attends to the places j <= i, any other to all places of its row.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.errors import ParameterError
from synthbench.training.layers.positions import Relative
from synthbench.training.options import check_chances, check_heads, check_names

INNER_POSITIONS = ("none", "rotary", "alibi", "relative")


class SelfAttention(nn.Module):
    """Attention from each place to the places it may see.

    Args:
        d_model: size of a state.
        num_heads: number of heads. It divides `d_model`. With `rotary`, a head's size is even.
        causal: whether a place sees only itself and places before it.
        position: one of `INNER_POSITIONS`. ALiBi is symmetric if the attention is not causal.
        bias: whether the projections to q, k, v and the output have biases.
        weight_dropout: chance that an attention weight is dropped.

    Raises:
        UsageError: a name that does not exist, or sizes that do not fit.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.attention import SelfAttention
        >>> attention = SelfAttention(16, 4, position="rotary")
        >>> attention(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    reads = ("lengths", "positions")

    def __init__(
        self,
        d_model: int,
        num_heads: int = 1,
        *,
        causal: bool = True,
        position: str = "none",
        bias: bool = True,
        weight_dropout: float = 0.0,
        any_positions: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_names(position=(position, INNER_POSITIONS))
        check_chances(weight_dropout=weight_dropout)
        if position == "rotary" and d_model // num_heads % 2:
            raise ParameterError(
                f"{num_heads} heads for d_model {d_model}: with rotary positions, d_model / "
                "num_heads must be even."
            )
        self.num_heads, self.causal, self.position = num_heads, causal, position
        self.weight_dropout, self.any_positions = weight_dropout, any_positions
        self.project = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.relative: Relative | None = None
        if position == "relative":
            self.relative = Relative(d_model, num_heads)
            self.query_bias = nn.Parameter(torch.zeros(num_heads, 1, d_model // num_heads))

    def forward(
        self,
        states: Tensor,
        lengths: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Attend: `(rows, width, d_model)` to the same.

        Args:
            states: `(rows, width, d_model)`.
            lengths: tokens of each row, int64 `(rows,)`; None: all rows are full.
            positions: positions for `rotary`, and with `any_positions` for `alibi` and
                `relative`, int64 `(rows, width)`. Default: the places.
        """
        rows, width, _ = states.shape
        projected = self.project(states).view(rows, width, 3, self.num_heads, -1)
        queries, keys, values = projected.permute(2, 0, 3, 1, 4)
        bias = None
        places = torch.arange(width, device=states.device)[None]
        row_positions = positions if self.any_positions else None
        if self.position == "rotary":
            if positions is None:
                positions = places
            angles = rotary_angles(positions, queries.shape[-1])[:, None]
            queries, keys = rotate(queries, angles), rotate(keys, angles)
        elif self.position == "alibi":
            numbers = places if row_positions is None else row_positions
            bias = alibi(numbers, self.num_heads).to(queries.dtype)
        elif self.relative is not None:
            bias = self.relative(queries, states, row_positions) / math.sqrt(queries.shape[-1])
            queries = queries + self.query_bias
        seen = self._seen(width, lengths, states.device)
        if bias is not None:
            seen = bias if seen is None else bias.masked_fill(~seen, -math.inf)
        dropout = self.weight_dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(queries, keys, values, seen, dropout)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(-2))
        return output

    def _seen(self, width: int, lengths: Tensor | None, device: torch.device) -> Tensor | None:
        """The keys that each query may see, bool for `(rows, heads, width, width)`; None: all."""
        if self.causal:  # padding comes after all real places
            return torch.ones(width, width, dtype=torch.bool, device=device).tril()[None, None]
        if lengths is None:
            return None
        return (torch.arange(width, device=device) < lengths[:, None])[:, None, None]


def rotary_angles(positions: Tensor, size: int) -> Tensor:
    """Angles position · 10000^(-2i / size) for i = 0 .. size / 2 - 1.

    Args:
        positions: int64 `(rows, width)`.
        size: a head's size, an even number.

    Returns:
        float32 `(rows, width, size / 2)`.
    """
    half = torch.arange(0, size, 2, device=positions.device)
    return positions[..., None] * torch.exp(half * (-math.log(10_000.0) / size))


def rotate(vectors: Tensor, angles: Tensor) -> Tensor:
    """Turn units 2i and 2i + 1, as a point in the plane, by angle i.

    Args:
        vectors: `(..., size)`.
        angles: `(..., size / 2)`, which fits the other axes by broadcasting.
    """
    first, second = vectors[..., ::2], vectors[..., 1::2]
    cosine, sine = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    turned = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.stack(turned, dim=-1).flatten(-2)


def alibi(positions: Tensor, num_heads: int) -> Tensor:
    """The bias -m |i - j| with slopes m = 2^(-8h/H) for h = 1 .. H, `(rows, heads, width, width)`.

    Args:
        positions: int64 `(rows, width)`.
        num_heads: the number of heads, H.
    """
    distance = (positions[:, None, :, None] - positions[:, None, None]).abs()
    heads = torch.arange(1, num_heads + 1, device=positions.device)
    return -(2.0 ** (-8 * heads / num_heads))[:, None, None] * distance
