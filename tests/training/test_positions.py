"""Positions against the papers' formulas, entry by entry."""

import math

import pytest
import torch

from synthbench.training.layers.positions import of_offsets, sinusoidal


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
