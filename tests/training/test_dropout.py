"""Dropout drops as often as it says and keeps the mean."""

import pytest
import torch

from synthbench.errors import ParameterError
from synthbench.training.layers.dropout import Dropout


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_units_are_dropped_with_the_chance_and_the_others_grow(chance):
    torch.manual_seed(0)
    dropped = Dropout(chance)(torch.ones(200, 501))
    share = (dropped == 0).float().mean().item()
    assert share == pytest.approx(chance, abs=5 * (chance * (1 - chance) / dropped.numel()) ** 0.5)
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - chance)))


def test_units_fall_independently_of_their_neighbours():
    torch.manual_seed(0)
    kept = (Dropout(0.5)(torch.ones(100_000)) != 0).double() - 0.5
    for distance in (1, 2, 3, 4, 8):  # four units share a word of random bits
        correlation = 4 * (kept[distance:] * kept[:-distance]).mean().item()
        assert abs(correlation) < 5 / len(kept) ** 0.5


def test_nothing_is_dropped_in_evaluation_or_without_a_chance():
    states = torch.randn(3, 4)
    assert Dropout(0.5).eval()(states) is states
    assert Dropout(0.0)(states) is states


def test_the_same_seed_drops_the_same_units():
    states = torch.randn(3, 7)
    torch.manual_seed(4)
    first = Dropout(0.3)(states)
    torch.manual_seed(4)
    assert torch.equal(Dropout(0.3)(states), first)
    assert not torch.equal(Dropout(0.3)(states), first)


def test_the_gradient_goes_through_the_same_mask():
    states = torch.randn(5, 6, requires_grad=True)
    dropped = Dropout(0.4)(states)
    dropped.sum().backward()
    torch.testing.assert_close(states.grad, torch.where(dropped == 0, 0.0, 1 / 0.6))


@pytest.mark.parametrize("chance", [1.0, -0.1])
def test_an_impossible_chance_is_refused(chance):
    with pytest.raises(ParameterError, match="below 1"):
        Dropout(chance)
