"""Multi-head self-attention with the papers' scores, positions and normalisations."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from synthbench.errors import ParameterError
from synthbench.training.layers import normalisation as weigh
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.positions import Direction, Relative
from synthbench.training.models.output import Record
from synthbench.training.options import check_heads, check_names, check_sizes

NORMALISATIONS = (
    "softmax",
    "normsoftmax",
    "normsoftmax-variance",
    "doubly-normalised",
    "hybrid",
    "geometric",
    "geometric-l1",
    "none",
)
POSITIONS = ("none", "relative", "gated")


class Attention(nn.Module):
    """Self-attention: y_i = W_o concat over heads of Σ_j A_ij W_v x_j.

    The scores are (W_q x_i + b_q)ᵀ W_k x_j. With positions they are α · (score + score of the
    position) (NDR, eq. 17), in geometric attention α · score + β · direction + γ (NDR, eq. 10). α,
    β and γ are learned, start at 1/√d_head, 1 and 0, and are shared by all heads, as in the
    published program. The paper does not say whether they are, and eq. 17 lacks α.

    Args:
        d_model: size of a state.
        num_heads: number of heads. It divides `d_model`.
        normalisation: one of `NORMALISATIONS`.
        spread: whose spread NormSoftmax takes: the scores of each `query`, or of the whole `map`.
            See `normalisation.normsoftmax`.
        temperature: the divisor of the scores, in NormSoftmax at most. Default: √d_head, or 1
            if α scales them. Geometric attention does without.
        position: `none`, `relative` or `gated`. With geometric attention `none`.
        sinkhorn: iterations of doubly-normalised attention (`normalisation.doubly_normalised`).
        key_dropout: chance that a unit of a key is dropped, in scores of contents and positions,
            but not in geometric attention's direction. The paper drops units of queries (NDR,
            section C.3), its program those of keys.
        qkv_bias: whether queries and values have a bias. Keys do without, because it would add the
            same number to all scores of a query.
        output_bias: whether the output has a bias.

    Raises:
        UsageError: a name that does not exist, or sizes that do not fit.

    Example:
        >>> import torch
        >>> from synthbench.training.layers.attention import Attention
        >>> attention = Attention(16, 4, normalisation="geometric")
        >>> attention(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    temperature: Tensor

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        normalisation: str = "softmax",
        spread: str = "query",
        temperature: float | None = None,
        position: str = "none",
        sinkhorn: int = 1,
        key_dropout: float = 0.0,
        qkv_bias: bool = True,
        output_bias: bool = True,
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_names(
            attention=(normalisation, NORMALISATIONS),
            spread=(spread, weigh.SPREADS),
            position=(position, POSITIONS),
        )
        if normalisation.startswith("geometric") and position != "none":
            raise ParameterError(
                f"Position {position!r} with geometric attention, which has its own: allowed is "
                "none."
            )
        if temperature is not None and not 0 < temperature < math.inf:
            raise ParameterError(f"Temperature {temperature}: allowed are numbers above 0.")
        check_sizes(sinkhorn=sinkhorn)
        self.num_heads, self.normalisation, self.spread = num_heads, normalisation, spread
        self.sinkhorn = sinkhorn
        self.query = nn.Linear(d_model, d_model, bias=False)
        d_head = d_model // num_heads
        self.query_bias = nn.Parameter(torch.zeros(num_heads, 1, d_head)) if qkv_bias else None
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.output = nn.Linear(d_model, d_model, bias=output_bias)
        self.key_dropout = Dropout(key_dropout)
        scale = math.sqrt(d_head)
        self.alpha = None
        if self.is_geometric or position != "none":
            self.alpha = nn.Parameter(torch.tensor(1 / scale))
            scale = 1.0
        self.register_buffer("temperature", torch.tensor(temperature or scale))
        self.positions: Relative | None = None
        if position != "none":
            gated = position == "gated"
            self.positions = Relative(d_model, num_heads, gated=gated, dropout=key_dropout)
        if normalisation == "hybrid":
            self.hybrid_logit = nn.Parameter(torch.zeros(num_heads))
        if self.is_geometric:
            self.direction = Direction(d_model, num_heads)
            self.beta = nn.Parameter(torch.tensor(1.0))
            self.gamma = nn.Parameter(torch.tensor(0.0))

    def set_temperature(self, temperature: float) -> None:
        """Set the temperature, as heat treatment does before every step (Eureka, section 3)."""
        self.temperature.fill_(temperature)

    @property
    def is_geometric(self) -> bool:
        """True if each query takes the closest key that matches."""
        return self.normalisation.startswith("geometric")

    @property
    def hybrid_weight(self) -> Tensor:
        """The weight u of doubly-normalised attention in each head, `(heads,)`: DNAS, eq. 12.

        It is learned and starts at 1/2.
        """
        return torch.sigmoid(self.hybrid_logit)

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        *,
        column: Tensor | None = None,
        nearest: weigh.Nearest | None = None,
        positions: Tensor | None = None,
        record: Record | None = None,
    ) -> Tensor:
        """Attend from every column, or from one column of each row, to all real columns.

        Args:
            states: `(rows, length, d_model)`.
            mask: which columns are real, bool `(rows, length)`; None means all.
            column: the only column of each row to compute, int64 `(rows,)`; None means all.
            nearest: `Nearest.of(length)`, so that geometric attention need not compute it.
            positions: the positions of columns, int64 `(rows, length)`; None: they are counted.
            record: gets `scores`, `query`, `key` and `value` of all columns, `attention` and `z` of
                the computed ones, and from hybrid attention `hybrid`.

        Returns:
            `(rows, length, d_model)`; `(rows, 1, d_model)` with `column`.
        """
        querying = None
        if column is not None and record is None and self._needs_one_query:
            querying, column = states_at(states, column), None
        scores = self.scores(states, querying, positions)
        # Weights need float32, even if autocast computes products in bfloat16.
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        weights = self.weights(scores, mask, column, nearest)
        if record is not None:
            record.add("scores", scores)
            record.add("attention", weights)
            if self.normalisation == "hybrid":
                record.add("hybrid", self.hybrid_weight)
        values = self._heads(self.value(states))
        mixed = weights.to(states.dtype) @ values
        if record is not None:
            queries = self._heads(self.query(states))
            bias = 0 if self.query_bias is None else self.query_bias
            record.add("query", queries + bias)
            record.add("key", self._heads(self.key(states)))
            record.add("value", values)
            record.add("z", mixed)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(-2))
        return output

    @property
    def _needs_one_query(self) -> bool:
        """True if the weights of a query depend on no other query."""
        if self.positions is not None or self.is_geometric:
            return False
        if self.normalisation.startswith("normsoftmax"):
            return self.spread == "query"
        return self.normalisation in ("softmax", "none")

    def scores(
        self, states: Tensor, querying: Tensor | None = None, positions: Tensor | None = None
    ) -> Tensor:
        """The scores before the temperature, `(rows, heads, queries, length)`.

        Args:
            states: the source of the keys, `(rows, length, d_model)`.
            querying: the source of the queries, `(rows, queries, d_model)`. Default: `states`.
            positions: the positions of columns, int64 `(rows, length)`; None: they are counted.
        """
        plain = self._heads(self.query(states if querying is None else querying))
        queries = plain if self.query_bias is None else plain + self.query_bias
        keys = self.key_dropout(self._heads(self.key(states)))
        scores: Tensor = queries @ keys.transpose(-2, -1)
        if self.positions is not None:
            scores = scores + self.positions(plain, states, positions)
        if self.alpha is not None:
            scores = self.alpha * scores
        if self.is_geometric:
            direction = self.beta * self.direction(states) + self.gamma
            scores = scores + Direction.spread(direction)
        return scores

    def weights(
        self,
        scores: Tensor,
        mask: Tensor | None,
        column: Tensor | None = None,
        nearest: weigh.Nearest | None = None,
    ) -> Tensor:
        """The weights of all queries, or of the query in `column` of each row.

        Args:
            scores: as `scores` gives them, in float32 or float64.
            mask: which columns are real, bool `(rows, length)`; None means all.
            column: the query of each row, int64 `(rows,)`; None means all.
            nearest: `Nearest.of(length)`, so that geometric attention need not compute it.
        """
        match self.normalisation:
            case "geometric":
                return _only(weigh.geometric(scores, mask, nearest), column)
            case "geometric-l1":
                return _only(weigh.geometric_l1(scores, mask, nearest), column)
            case "doubly-normalised":
                doubly = weigh.doubly_normalised(scores, mask, self.temperature, self.sinkhorn)
                return _only(doubly, column)
            case "hybrid":
                share = self.hybrid_weight
                return _only(weigh.hybrid(scores, mask, self.temperature, share), column)
        # From here on, other queries matter at most by their spread.
        wanted = _only(scores, column)
        if self.normalisation.startswith("normsoftmax"):
            statistic = "variance" if self.normalisation.endswith("variance") else "deviation"
            return weigh.normsoftmax(
                wanted, mask, self.temperature, statistic, self.spread, all_scores=scores
            )
        normalise = weigh.unnormalised if self.normalisation == "none" else weigh.softmax
        return normalise(wanted, mask, self.temperature)

    def _heads(self, projected: Tensor) -> Tensor:
        """`(rows, length, d_model)` as `(rows, heads, length, d_head)`."""
        rows, length, _ = projected.shape
        return projected.view(rows, length, self.num_heads, -1).transpose(1, 2)


def states_at(states: Tensor, column: Tensor) -> Tensor:
    """The state in `column`, int64 `(rows,)`, of each row: `(rows, 1, d_model)`."""
    return states[torch.arange(len(column), device=column.device), column, None]


def _only(maps: Tensor, column: Tensor | None) -> Tensor:
    """The map of the query in `column` alone, `(rows, heads, 1, keys)`; None means all queries."""
    if column is None:
        return maps
    return maps[torch.arange(len(column), device=column.device), :, column, None]


def set_temperature(model: nn.Module, temperature: float) -> None:
    """Divide all attention scores by this from now on (heat treatment: Eureka, section 3)."""
    for module in model.modules():
        if isinstance(module, Attention):
            module.set_temperature(temperature)


def balance_gradients(model: nn.Module) -> None:
    """Scale the gradients of each layer's W_Q, W_K and W_V to the mean of their three norms.

    Call it after the backward pass. The norm is L1, as in Eureka's figure 5. The paper speaks of
    the norms "for each layer and the overall mean". Its program takes each layer's mean.

    Source: Eureka, section A.4.
    """
    for attention in model.modules():
        if not isinstance(attention, Attention):
            continue
        weights = (attention.query.weight, attention.key.weight, attention.value.weight)
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        if gradients:
            norms = torch.stack([gradient.abs().sum() for gradient in gradients])
            factors = norms.mean() / norms.clamp_min(torch.finfo(norms.dtype).tiny)
            for gradient, factor in zip(gradients, factors, strict=True):
                gradient.mul_(factor)
