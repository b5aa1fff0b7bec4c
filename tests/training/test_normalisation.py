"""Attention weights against their formulas, evaluated entry by entry."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.training.layers import normalisation as weigh

TEMPERATURE = 1.5
WEIGH = {
    "softmax": lambda scores, mask: weigh.softmax(scores, mask, TEMPERATURE),
    "deviation": lambda scores, mask: weigh.normsoftmax(scores, mask, TEMPERATURE),
    "variance": lambda scores, mask: weigh.normsoftmax(scores, mask, 9.0, "variance"),
    "deviation of the map": lambda scores, mask: weigh.normsoftmax(
        scores, mask, TEMPERATURE, over="map"
    ),
    "doubly-normalised": lambda scores, mask: weigh.doubly_normalised(scores, mask, TEMPERATURE),
    "hybrid": lambda scores, mask: weigh.hybrid(
        scores, mask, TEMPERATURE, torch.tensor([0.2, 0.9], dtype=scores.dtype)
    ),
    "geometric": weigh.geometric,
    "geometric, L1": weigh.geometric_l1,
    "unnormalised": lambda scores, mask: weigh.unnormalised(scores, mask, TEMPERATURE),
}
each_way = pytest.mark.parametrize("way", list(WEIGH))


def scores_of(rows=3, heads=2, length=6, scale=2.0, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(rows, heads, length, length, generator=generator, dtype=dtype)


def mask_of(*lengths):
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def closest_match(matches):
    """NDR, eqs. 7 and 8, evaluated as they stand: `matches` is P, `(N, N)`."""
    size = len(matches)
    weights = torch.zeros_like(matches)
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            weights[i, j] = matches[i, j]
            for k in set(range(size)) - {i, j}:
                closer = abs(i - k) < abs(i - j) if i < j else abs(i - k) <= abs(i - j)
                if closer:
                    weights[i, j] *= 1 - matches[i, k]
    return weights


@pytest.mark.parametrize("lengths", [(1,), (2,), (5, 5), (7, 1, 4), (8, 3)])
def test_geometric_attention_is_the_product_over_all_closer_keys(lengths):
    logits = scores_of(len(lengths), 2, max(lengths))
    weights = weigh.geometric(logits, mask_of(*lengths))
    for row, length in enumerate(lengths):
        for head in range(2):
            real = logits[row, head, :length, :length]
            expected = closest_match(torch.sigmoid(real))
            torch.testing.assert_close(weights[row, head, :length, :length], expected)
            assert not weights[row, head, :, length:].any()


def test_geometric_weights_can_be_divided_by_their_sum():
    logits, lengths = scores_of(2, 2, 6), (6, 3)
    weights = weigh.geometric_l1(logits, mask_of(*lengths))
    for row, length in enumerate(lengths):
        for head in range(2):
            plain = closest_match(torch.sigmoid(logits[row, head, :length, :length]))
            expected = plain / plain.sum(-1, keepdim=True)
            torch.testing.assert_close(weights[row, head, :length, :length], expected)
    # A column that has nothing to look at gets nothing.
    assert not weigh.geometric_l1(scores_of(1, 1, 1), None).any()


def test_the_order_of_keys_is_that_of_the_papers_figure_1():
    expected = [[0, 1, 2, 3, 4], [2, 0, 1, 3, 4], [4, 2, 0, 1, 3], [4, 3, 2, 0, 1], [4, 3, 2, 1, 0]]
    nearest = weigh.Nearest.of(5)
    assert nearest.rank.tolist() == expected
    assert torch.equal(nearest.rank.gather(-1, nearest.order), torch.arange(5).expand(5, 5))


def test_certain_matches_and_misses_stay_exact_in_float32():
    logits = torch.full((1, 1, 5, 5), -200.0)
    logits[0, 0, :, 1] = 200.0
    logits[0, 0, :, 4] = 200.0
    logits.requires_grad_()
    weights = weigh.geometric(logits, None)
    chosen = [1, 4, 1, 4, 1]  # column 2 is as far from 1 as 3 is from 4; none is its own match
    assert torch.equal(weights[0, 0].round(), torch.eye(5)[chosen])
    weights.sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_softmax_divides_by_the_temperature():
    scores = scores_of()
    expected = (scores / TEMPERATURE).exp()
    expected /= expected.sum(-1, keepdim=True)
    torch.testing.assert_close(weigh.softmax(scores, None, TEMPERATURE), expected)


@pytest.mark.parametrize("over", ["query", "map"])
@pytest.mark.parametrize(("statistic", "power"), [("deviation", 1), ("variance", 2)])
@pytest.mark.parametrize("scale", [0.1, 3.0])
def test_normsoftmax_divides_by_the_spread_of_scores_up_to_the_temperature(
    statistic, power, scale, over
):
    scores = scores_of(scale=scale)
    weights = weigh.normsoftmax(scores, None, TEMPERATURE, statistic, over=over)
    whole = slice(None)
    for part in itertools.product(range(3), range(2), range(6) if over == "query" else [whole]):
        entries = scores[part].flatten().tolist()
        mean = math.fsum(entries) / len(entries)
        variance = math.fsum((one - mean) ** 2 for one in entries) / len(entries)
        divisor = min(math.sqrt(variance) ** power, TEMPERATURE)
        expected = (scores[part] / divisor).softmax(-1)
        torch.testing.assert_close(weights[part], expected)


@pytest.mark.parametrize("statistic", ["deviation", "variance"])
def test_normsoftmax_of_equal_scores_is_uniform_and_has_a_gradient(statistic):
    scores = torch.full((1, 1, 4, 4), 0.7, requires_grad=True)
    weights = weigh.normsoftmax(scores, None, TEMPERATURE, statistic)
    torch.testing.assert_close(weights, torch.full((1, 1, 4, 4), 0.25))
    weights[0, 0, 0, 0].backward()
    assert torch.isfinite(scores.grad).all()


def test_doubly_normalised_attention_is_one_step_of_sinkhorn():
    scores = scores_of()
    start = (scores / TEMPERATURE).exp()
    share = start / start.sum(-2, keepdim=True)
    expected = share / share.sum(-1, keepdim=True)  # DNAS, eqs. 5 and 10
    weights = weigh.doubly_normalised(scores, None, TEMPERATURE)
    torch.testing.assert_close(weights, expected)
    for _ in range(300):
        weights = weigh.doubly_normalised(weights.log(), None, 1.0)
    torch.testing.assert_close(weights.sum(-2), torch.ones(3, 2, 6, dtype=torch.float64))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(1, 12),
    real=st.integers(1, 12),
    scale=st.sampled_from([0.1, 1.0, 10.0, 300.0]),
)
def test_no_key_of_doubly_normalised_attention_is_explained_away(seed, length, real, scale):
    real = min(real, length)
    scores = scores_of(1, 2, length, scale, seed)
    mask = torch.arange(length)[None] < real
    weights = weigh.doubly_normalised(scores, mask, 1.0)
    mass = weigh.key_mass(weights, mask)[..., :real]
    assert mass.min() >= 1 / real - 1e-9  # DNAS, theorem 2


@pytest.mark.parametrize("real", [6, 4])
def test_iterations_make_doubly_normalised_attention_doubly_stochastic(real):
    scores = torch.randn(
        1, 2, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    scores.requires_grad_()
    mask = torch.arange(6)[None] < real
    weights = weigh.doubly_normalised(scores, mask, 1.0, iterations=50)
    kept = weights[..., :real, :]
    assert torch.allclose(kept.sum(dim=-1), torch.ones(1, 2, real, dtype=torch.float64))
    assert torch.allclose(kept.sum(dim=-2)[..., :real], torch.ones(1, 2, real, dtype=torch.float64))
    assert (weights[..., real:] == 0).all()
    kept.square().sum().backward()
    assert scores.grad.isfinite().all()


def test_softmax_explains_a_key_away_that_no_query_wants():
    scores = torch.zeros(2, 1, 4, 4)
    scores[0, 0, :, 2] = -30.0
    mask = mask_of(4, 3)
    mass = weigh.key_mass(weigh.softmax(scores, mask, 1.0), mask)
    assert (mass < 1e-8).nonzero().tolist() == [[0, 0, 2], [1, 0, 3]]  # the second is padding


def test_hybrid_attention_mixes_each_head_by_its_own_weight():
    scores, mask = scores_of(), mask_of(6, 2, 4)
    mixed = weigh.hybrid(scores, mask, 1.0, torch.tensor([0.0, 0.75], dtype=torch.float64))
    single = weigh.softmax(scores, mask, 1.0)
    doubly = weigh.doubly_normalised(scores, mask, 1.0)
    torch.testing.assert_close(mixed[:, 0], single[:, 0])
    torch.testing.assert_close(mixed[:, 1], 0.75 * doubly[:, 1] + 0.25 * single[:, 1])


def test_without_normalisation_weights_grow_with_the_scores():
    scores = scores_of()
    weights = weigh.unnormalised(scores, mask_of(6, 2, 4), 4.0)
    torch.testing.assert_close(weights[0], scores[0] / 4)
    torch.testing.assert_close(weights[1, :, :, :2], scores[1, :, :, :2] / 4)
    assert not weights[1, :, :, 2:].any()


@each_way
def test_padding_changes_no_weight(way):
    scores, lengths = scores_of(), (6, 1, 4)
    weights = WEIGH[way](scores, mask_of(*lengths))
    assert torch.isfinite(weights).all()
    for row, length in enumerate(lengths):
        alone = WEIGH[way](scores[row : row + 1, :, :length, :length], None)
        torch.testing.assert_close(weights[row : row + 1, :, :length, :length], alone)
        assert not weights[row, :, :, length:].any()


@each_way
def test_gradients_are_those_of_the_formula(way):
    scores = scores_of(2, 2, 4).requires_grad_()
    for mask in (None, mask_of(4, 2)):
        assert torch.autograd.gradcheck(lambda given, mask=mask: WEIGH[way](given, mask), scores)
