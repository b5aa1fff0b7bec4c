"""From attention scores to attention weights, each way a function.

    softmax             a softmax over keys, at a temperature                      Eureka, eq. 1
    normsoftmax         the temperature follows the scores' own spread             Eureka, eq. 2
    doubly_normalised   first over queries, then over keys                         DNAS, eq. 5
    hybrid              a mixture of doubly_normalised and softmax                 DNAS, eq. 12
    geometric           the closest key that matches                               NDR, eqs. 6-8
    geometric_l1        the same, divided by the sum of a query's weights
    unnormalised        the scores themselves, so that weights can count           Counting, V-A

In all of them scores are `(rows, heads, queries, keys)`, float32 or float64, and `mask` is bool
`(rows, keys)`: true for real columns, false for padding; None means that all are real. A padded key
gets weight 0. The weights of a padded query are finite and meaningless. Every row has a real
column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

#: Whose spread NormSoftmax takes: the scores of each query, or of the whole map.
SPREADS = ("query", "map")
#: The smallest variance or sum of weights to divide by: equal scores have variance 0.
_SMALLEST = 1e-12


def softmax(scores: Tensor, mask: Tensor | None, temperature: float | Tensor) -> Tensor:
    """Softmax over keys of scores divided by the temperature: Eureka, eq. 1; DNAS, eq. 1 (UNAS).

    Heat treatment is a schedule of the temperature, from low to its default √d_head.
    """
    return _without_padding(scores / temperature, mask, -math.inf).softmax(dim=-1)


def normsoftmax(
    scores: Tensor,
    mask: Tensor | None,
    temperature: float | Tensor,
    statistic: str = "deviation",
    over: str = "query",
    all_scores: Tensor | None = None,
) -> Tensor:
    """NormSoftmax: the temperature is the scores' own spread σ, at most `temperature`.

    The spread is that of a population. The paper takes it "for each sample, head and layer"
    (section 5.2): one temperature for all queries of a map. Its program for images takes it over
    the keys of each query. That of the reasoning task was not published.

    Args:
        scores: raw products of queries and keys, `(rows, heads, queries, keys)`.
        mask: which columns are real, or None.
        temperature: τ, the highest temperature.
        statistic: `deviation`, as in eq. 2, or `variance`, which section A.11 prefers for ViT.
        over: `query`, the real keys of each query, or `map`, all pairs of real queries and keys.
        all_scores: the scores of all queries, which `map` needs if `scores` are those of some.

    Source: Eureka, eq. 2 and A.11.
    """
    whole = scores if all_scores is None else all_scores
    spread = _spread(whole if over == "map" else scores, mask, statistic, over)
    return softmax(scores, mask, spread.clamp_max(temperature))


def _spread(scores: Tensor, mask: Tensor | None, statistic: str, over: str) -> Tensor:
    """σ, `(rows, heads, queries, 1)` over `query`, `(rows, heads, 1, 1)` over `map`."""
    dims = (-1,) if over == "query" else (-2, -1)
    if mask is None:
        # `Tensor.var` over the last dimension takes twice as long.
        mean = scores.mean(dim=dims, keepdim=True)
        variance = (scores - mean).square().mean(dim=dims, keepdim=True)
    else:
        real = mask[:, None, None, :]
        if over == "map":
            real = real & mask[:, None, :, None]
        counted = real.to(scores.dtype)
        weights = counted / counted.sum(dim=dims, keepdim=True)
        mean = (weights * scores).sum(dim=dims, keepdim=True)
        variance = (weights * (scores - mean).square()).sum(dim=dims, keepdim=True)
    variance = variance.clamp_min(_SMALLEST)
    return variance.sqrt() if statistic == "deviation" else variance


def doubly_normalised(
    scores: Tensor, mask: Tensor | None, temperature: float | Tensor, iterations: int = 1
) -> Tensor:
    """DNAS: normalised over queries for each key, then over keys for each query.

    This is one step of the Sinkhorn iteration (eq. 10), in log space. The weights of a key sum to
    at least 1 / length over the queries (theorem 2), so no key is explained away. With more
    `iterations` the sums over queries approach 1, too.

    Source: DNAS, eqs. 5 and 10.
    """
    log_share = _over_queries(scores / temperature, mask)  # log ξ
    for _ in range(iterations - 1):
        # Padded keys keep finite values, so that their gradients are finite.
        sums = _without_padding(log_share, mask, -math.inf).logsumexp(dim=-1, keepdim=True)
        log_share = _over_queries(log_share - sums, mask)
    return _without_padding(log_share, mask, -math.inf).softmax(dim=-1)


def _over_queries(logits: Tensor, mask: Tensor | None) -> Tensor:
    """The logarithms of weights that sum to 1 over the real queries of each key."""
    queries = logits if mask is None else logits.masked_fill(~mask[:, None, :, None], -math.inf)
    return logits - queries.logsumexp(dim=-2, keepdim=True)


def hybrid(
    scores: Tensor, mask: Tensor | None, temperature: float | Tensor, weight: Tensor
) -> Tensor:
    """HNAS: `weight`, `(heads,)` in 0..1, times doubly-normalised attention, the rest softmax.

    Source: DNAS, eq. 12.
    """
    share = weight[:, None, None]
    doubly = doubly_normalised(scores, mask, temperature)
    return share * doubly + (1 - share) * softmax(scores, mask, temperature)


def unnormalised(scores: Tensor, mask: Tensor | None, temperature: float | Tensor) -> Tensor:
    """The scores divided by the temperature, without softmax: Counting, V-A."""
    return _without_padding(scores / temperature, mask, 0.0)


class Nearest(NamedTuple):
    """The columns in order of their distance from each column: NDR, eq. 8 and figure 1.

    Attributes:
        order: the nearest column, the second nearest and so on, int64 `(length, length)`. A column
            is nearest to itself. Between two at the same distance, the right one comes first.
        rank: the place of each column in that order, int64 `(length, length)`.
    """

    order: Tensor
    rank: Tensor

    @classmethod
    def of(cls, length: int, device: torch.device | None = None) -> Nearest:
        """The order of `length` columns."""
        columns = torch.arange(length, device=device)
        offset = columns - columns[:, None]
        distance = offset.abs()
        left, right = columns[:, None], columns.flip(0)[:, None]  # how many lie on each side
        # Closer than a column to the right: itself, those between, and as many on the left.
        rank_right = distance + torch.minimum(distance - 1, left)
        rank_left = distance + torch.minimum(distance, right)
        rank = torch.where(offset > 0, rank_right, torch.where(offset < 0, rank_left, 0))
        order = torch.empty_like(rank).scatter_(-1, rank, columns.expand_as(rank))
        return cls(order, rank)


def geometric(logits: Tensor, mask: Tensor | None, nearest: Nearest | None = None) -> Tensor:
    """Geometric attention: each query takes the closest key that matches.

    With P = σ(logits) the weights are A_ij = P_ij · Π (1 - P_ik) over all k closer to i than j, and
    A_ii = 0 (eqs. 6-8). In log space, with log P = x - softplus(x) and log (1 - P) = -softplus(x),

        log A_ij = x_ij - Σ softplus(x_ik) over j and all k closer to i,

    a cumulative sum in order of distance. The column itself and padding have logit -∞, so they
    match nothing and hide nothing. Memory is O(length²).

    Args:
        logits: the argument of the sigmoid in eqs. 6 and 10, `(rows, heads, length, length)`.
        mask: which columns are real, or None.
        nearest: `Nearest.of(length)`, if it is known already.

    Returns:
        Weights. Those of a query sum to at most 1.
    """
    length = logits.shape[-1]
    order, rank = Nearest.of(length, logits.device) if nearest is None else nearest
    itself = torch.eye(length, dtype=torch.bool, device=logits.device)
    hidden = itself if mask is None else itself | ~mask[:, None, None, :]
    logits = logits.masked_fill(hidden, -math.inf)
    misses = functional.softplus(logits).gather(-1, order.expand_as(logits)).cumsum(dim=-1)
    return (logits - misses.gather(-1, rank.expand_as(logits))).exp()


def geometric_l1(logits: Tensor, mask: Tensor | None, nearest: Nearest | None = None) -> Tensor:
    """Geometric attention, divided by the sum of each query's weights, if there are other columns.

    NDR's program uses it in models without a copy gate. The paper does not mention it. Arguments
    are those of `geometric`.
    """
    weights = geometric(logits, mask, nearest)
    return weights / weights.sum(dim=-1, keepdim=True).clamp_min(_SMALLEST)


def _without_padding(values: Tensor, mask: Tensor | None, fill: float) -> Tensor:
    """`values` `(rows, heads, queries, keys)` with `fill` at padded keys."""
    return values if mask is None else values.masked_fill(~mask[:, None, None, :], fill)


def key_mass(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Each key's sum of weights over all real queries, `(rows, heads, keys)`.

    A key whose sum is almost 0 is explained away (DNAS, definition 1).

    Example:
        >>> import torch
        >>> from synthbench.training.layers.normalisation import doubly_normalised, key_mass
        >>> from synthbench.training.layers.normalisation import softmax
        >>> scores = torch.tensor([[[[40.0, 0.0], [40.0, 0.0]]]])  # all look at the first key
        >>> key_mass(softmax(scores, None, 1.0)) > 1e-8
        tensor([[[ True, False]]])
        >>> key_mass(doubly_normalised(scores, None, 1.0)) > 1e-8
        tensor([[[True, True]]])
    """
    if mask is not None:
        weights = weights * mask[:, None, :, None]
    return weights.sum(dim=-2)
