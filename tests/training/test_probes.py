"""Linear probes: they find what is linearly there, and nothing else."""

import numpy as np
import pytest
import torch

from synthbench.training.figures import probing as probes


def states(rows=300, size=6):
    return np.random.default_rng(0).normal(size=(rows, size))


def test_a_probe_reads_what_a_plane_divides():
    vectors = states()
    assert probes.accuracy(vectors, (vectors[:, 2] > 0).astype(np.int64)) > 0.95


def test_a_probe_cannot_read_a_parity():
    vectors = states()
    odd = ((vectors[:, 0] > 0) ^ (vectors[:, 1] > 0)).astype(np.int64)
    assert probes.accuracy(vectors, odd) < 0.7


def test_rows_that_a_probe_is_scored_on_are_none_it_was_fitted_on():
    """Noise of many dimensions can be learned by heart, but says nothing about other rows."""
    classes = np.random.default_rng(1).integers(2, size=90)
    assert probes.accuracy(states(90, 200), classes) < 0.75


def test_there_is_no_probe_of_what_never_differs():
    assert probes.accuracy(states(30), np.zeros(30, np.int64)) is None


def test_the_majority_is_that_of_the_first_rows():
    classes = np.array([1, 1, 1, 0, 0, 1, 2, 1, 0])
    assert probes.majority(classes) == pytest.approx(1 / 3)


def test_tokens_are_read_at_the_last_real_column_and_their_mean_leaves_padding_out():
    hidden = torch.arange(24.0).view(2, 4, 3)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    vectors = probes.of_tokens(hidden, mask, first=False)
    assert torch.equal(vectors["read-out"], torch.stack([hidden[0, 3], hidden[1, 1]]))
    assert torch.equal(vectors["mean"][1], hidden[1, :2].mean(dim=0))
    assert torch.equal(probes.of_tokens(hidden, mask, first=True)["read-out"], hidden[:, 0])
    assert torch.equal(probes.of_tokens(hidden, None, first=False)["read-out"], hidden[:, 3])


def test_images_are_read_quadrant_by_quadrant():
    square = torch.zeros(1, 4, 4, 2)
    for number, (top, left) in enumerate([(0, 0), (0, 2), (2, 0), (2, 2)]):
        square[0, top : top + 2, left : left + 2] = number
    places = square.flatten(1, 2)
    expected = torch.tensor([[0.0, 1, 2, 3, 0, 1, 2, 3]])
    assert torch.equal(probes.of_images(places)["quadrants"], expected)
    with_token = torch.cat([torch.full((1, 1, 2), 9.0), places], dim=1)
    vectors = probes.of_images(with_token)
    assert torch.equal(vectors["class token"], torch.tensor([[9.0, 9.0]]))
    assert torch.equal(vectors["quadrants"], expected)
    assert set(probes.of_images(places)) == {"quadrants"}
