"""Positions against the papers' formulas, entry by entry."""

import math

import pytest
import torch

from synthbench.training.layers.positions import Direction, Relative, of_offsets, sinusoidal


def test_sinusoids_are_those_of_vaswani():
    table = sinusoidal(torch.tensor([0, 7, -3]), 6)
    for row, position in enumerate([0, 7, -3]):
        for place in range(6):
            angle = position / 10_000 ** ((place - place % 2) / 6)
            expected = math.cos(angle) if place % 2 else math.sin(angle)
            assert table[row, place].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("d_model", [1, 5])
def test_an_odd_size_ends_in_a_sine(d_model):
    assert sinusoidal(torch.arange(3), d_model).shape == (3, d_model)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_scores_by_offset_come_to_their_keys(length):
    offsets = torch.arange(-(length - 1), length + 1).expand(3, length, 2 * length)
    keys = torch.arange(length)
    assert torch.equal(of_offsets(offsets), (keys - keys[:, None]).expand(3, length, length))


@pytest.mark.parametrize("gated", [False, True])
def test_relative_scores_are_those_of_ndr_equations_16_and_17(gated):
    torch.manual_seed(0)
    rows, heads, length, d_model = 2, 2, 5, 8
    relative = Relative(d_model, heads, gated=gated)
    torch.nn.init.normal_(relative.query_bias)
    states = torch.randn(rows, length, d_model)
    queries = torch.randn(rows, heads, length, d_model // heads)
    scores = relative(queries, states)
    keys = relative.key.weight.view(heads, d_model // heads, d_model)
    for row in range(rows):
        for head in range(heads):
            for i in range(length):
                query = queries[row, head, i] + relative.query_bias[head, 0]
                share = 1.0
                if gated:
                    share = torch.sigmoid(relative.gate(states[row, i]))[head]
                for j in range(length):
                    distance, place = sinusoidal(torch.tensor([i - j, j]), d_model)
                    position = distance * share + place * (1 - share)
                    expected = query @ keys[head] @ position
                    torch.testing.assert_close(scores[row, head, i, j], expected)


def test_direction_has_one_score_from_the_own_column_on_and_one_before_it():
    torch.manual_seed(0)
    direction = Direction(6, 2)
    states = torch.randn(3, 4, 6)
    scores = Direction.spread(direction(states))
    onward, backward = direction(states).unbind(-1)
    for i in range(4):
        for j in range(4):
            expected = (onward if i <= j else backward)[:, :, i]  # NDR, eq. 9
            torch.testing.assert_close(scores[:, :, i, j], expected)
