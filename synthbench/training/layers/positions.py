"""The positions of columns in token models.

- `sinusoidal`: added to the embeddings (Vaswani et al.);
- `Relative`: scores by distance, as in Transformer-XL (NDR, eq. 17). With the gate, each column
  chooses between distance and absolute position (eq. 16);
- `Direction`: a score for all columns on the left, and one for those on the right (NDR, eq. 9);
- `RandomPositions`: numbers in ascending order to count columns by (Ruoss et al.).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from synthbench.errors import ParameterError
from synthbench.training.layers.dropout import Dropout
from synthbench.training.options import check_sizes


def sinusoidal(positions: Tensor, d_model: int) -> Tensor:
    """Sines (even places) and cosines (odd places) of geometrically falling frequencies.

    Args:
        positions: any numbers, also negative numbers, `(n,)`.
        d_model: size of an embedding.

    Returns:
        float32 `(n, d_model)`.

    Source: Vaswani et al., Attention is all you need, section 3.5. P in NDR, eq. 17.
    """
    half = torch.arange(0, d_model, 2, device=positions.device)
    angles = positions[:, None] * torch.exp(half * (-math.log(10_000.0) / d_model))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]


class Relative(nn.Module):
    """Scores of positions, parts (b, d, e) of NDR, eq. 17.

    The query of column i is multiplied by the key of p_(i-j) r_i + p_j (1 - r_i), where p are
    sinusoidal embeddings. Without the gate, r_i = 1: only the distance counts.

    Args:
        d_model: size of a state.
        num_heads: number of heads.
        gated: whether r_i = σ(h_i W_ar + b_ar) (eq. 16), one number for a head.
        dropout: chance that a unit of a position's key is dropped.
    """

    def __init__(
        self, d_model: int, num_heads: int, *, gated: bool = False, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.d_model, self.num_heads = d_model, num_heads
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.query_bias = nn.Parameter(torch.zeros(num_heads, 1, d_model // num_heads))
        self.dropout = Dropout(dropout)
        self.gate = nn.Linear(d_model, num_heads) if gated else None

    def forward(self, queries: Tensor, states: Tensor, positions: Tensor | None = None) -> Tensor:
        """The scores of positions, `(rows, heads, length, length)`.

        Args:
            queries: W_q h, without a bias, `(rows, heads, length, d_head)`.
            states: h, `(rows, length, d_model)`.
            positions: the positions of columns, int64 `(rows, length)`. Default: they are counted.
        """
        length = states.shape[1]
        queries = queries + self.query_bias
        if positions is not None:
            distances = positions[:, :, None] - positions[:, None]
            relative = self._at(queries, distances)
            if self.gate is None:
                return relative
            share = torch.sigmoid(self.gate(states)).transpose(1, 2)[..., None]
            places = positions[:, None].expand_as(distances)
            return share * relative + (1 - share) * self._at(queries, places)
        offsets = torch.arange(length - 1, -length - 1, -1, device=states.device)  # of i - j
        relative = of_offsets(queries @ self._keys(offsets))
        if self.gate is None:
            return relative
        places = torch.arange(length, device=states.device)
        share = torch.sigmoid(self.gate(states)).transpose(1, 2)[..., None]
        # Keys are linear in the embeddings, so mixing the scores is mixing the embeddings.
        return share * relative + (1 - share) * (queries @ self._keys(places))

    def _at(self, queries: Tensor, numbers: Tensor) -> Tensor:
        """The score of a number for each query and key, numbers int64 `(rows, length, length)`."""
        different, place = torch.unique(numbers, return_inverse=True)
        scores = queries @ self._keys(different)
        return scores.gather(-1, place[:, None].expand(-1, scores.shape[1], -1, -1))

    def _keys(self, positions: Tensor) -> Tensor:
        """W_kP p of each position, `(heads, d_head, n)`."""
        embedded = sinusoidal(positions, self.d_model).to(self.key.weight.dtype)
        keys: Tensor = self.dropout(self.key(embedded))
        return keys.view(len(positions), self.num_heads, -1).permute(1, 2, 0)


def of_offsets(by_offset: Tensor) -> Tensor:
    """From scores by offset to scores by key: out[i, j] = by_offset[i, j - i + length - 1].

    Row i of the result is row i of `by_offset` moved left by i: the same memory, read with rows
    that are shorter by one.

    Args:
        by_offset: `(..., length, 2 * length)`, for offsets from -(length - 1) to length.

    Returns:
        `(..., length, length)`.
    """
    *outer, length, _ = by_offset.shape
    moved = by_offset.flatten(-2)[..., length - 1 : -1]
    return moved.reshape(*outer, length, 2 * length - 1)[..., :length]


class Direction(nn.Module):
    """A score for the query's own column and all after it, and one for all before it.

    Source: NDR, eq. 9: D_ij = W_LR h_i + b_LR for i <= j, W_RL h_i + b_RL for i > j.

    Args:
        d_model: size of a state.
        num_heads: number of heads. Each has its own two scores.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.scores = nn.Linear(d_model, 2 * num_heads)

    def forward(self, states: Tensor) -> Tensor:
        """The two scores of each query, `(rows, heads, length, 2)`: onward, backward."""
        scores: Tensor = self.scores(states)
        return scores.view(*states.shape[:2], -1, 2).transpose(1, 2)

    @staticmethod
    def spread(scores: Tensor) -> Tensor:
        """The scores of `forward` at every key, `(rows, heads, length, length)`."""
        length = scores.shape[-2]
        onward = torch.ones(length, length, dtype=torch.bool, device=scores.device).triu()
        return torch.where(onward, scores[..., :1], scores[..., 1:])


class RandomPositions(nn.Module):
    """The positions of each row: a random subset of 0 to `most - 1`, in ascending order.

    So a model has seen all positions before rows become longer. In training, subsets are drawn from
    PyTorch's default generator. In evaluation, rows of one length share a subset, which the run's
    seed and the length decide. So the form `causal-lm` refuses random positions.

    Args:
        most: the number of positions. Rows are at most as long.

    Source: Ruoss et al., Randomized Positional Encodings Boost Length Generalization of
        Transformers (ACL 2023), section 3.
    """

    seed: Tensor

    def __init__(self, most: int) -> None:
        super().__init__()
        check_sizes(most=most)
        self.most = most
        self.register_buffer("seed", torch.randint(2**62, ()))

    def forward(self, lengths: Tensor, width: int) -> Tensor:
        """Positions int64 `(rows, width)` of rows with these lengths, int64 `(rows,)`.

        Raises:
            ParameterError: rows have more columns than there are positions.
        """
        if width > self.most:
            raise ParameterError(
                f"A row of {width} columns: random positions are drawn from {self.most} "
                "(max_length)."
            )
        if self.training:
            shuffled = torch.rand(len(lengths), self.most, device=lengths.device).argsort(dim=1)
        else:
            different, place = torch.unique(lengths, return_inverse=True)
            shuffled = torch.stack([*map(self._shuffled, different.tolist())]).to(lengths.device)
            shuffled = shuffled[place]
        behind = torch.arange(width, device=lengths.device) >= lengths[:, None]
        ordered = shuffled[:, :width].masked_fill(behind, self.most).sort(dim=1).values
        return ordered.masked_fill(behind, 0)

    def _shuffled(self, length: int) -> Tensor:
        """All positions in the random order for a length, int64 `(most,)`."""
        generator = torch.Generator().manual_seed(int(self.seed) + length)
        return torch.randperm(self.most, generator=generator)
