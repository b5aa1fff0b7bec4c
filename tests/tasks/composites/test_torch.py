"""A `DataLoader` over composites: images as tensors, and quadrants, which no tensor can hold."""

import itertools

import numpy as np
import pytest
import torch

import synthbench
from synthbench.streaming import rounds as streaming
from synthbench.streaming.torch import TorchStream


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", 64)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_loader_gives_quadrants_by_field(workers):
    batch = next(synthbench.stream("composites", seed=5, batch_size=6))
    loader = torch.utils.data.DataLoader(
        TorchStream("composites", seed=5, batch_size=6), batch_size=None, num_workers=workers
    )
    loaded = next(iter(loader))
    assert list(loaded) == list(batch)
    assert (loaded["image"].dtype, loaded["image"].shape) == (torch.uint8, (6, 56, 56, 3))
    quadrants = loaded["quadrants"]
    assert list(quadrants) == ["kind", "class", "color", "rgb", "source_index"]
    assert quadrants["rgb"].shape == (6, 4, 3)
    for name, field in quadrants.items():
        assert isinstance(field, np.ndarray) == (name in ("kind", "color"))
        np.testing.assert_array_equal(np.asarray(field), batch["quadrants"][name])


def test_single_rows_are_joined_to_the_same_batch():
    batch = next(synthbench.stream("composites", seed=5, batch_size=6))
    rows = TorchStream("composites", seed=5, batch_size=None)
    joined = next(iter(torch.utils.data.DataLoader(rows, batch_size=6)))
    assert list(joined) == list(batch)
    assert (joined["image"].dtype, joined["image"].shape) == (torch.uint8, (6, 56, 56, 3))
    for name, field in joined["quadrants"].items():
        assert isinstance(field, np.ndarray) == (name in ("kind", "color"))
        assert field.shape == batch["quadrants"][name].shape
    assert joined["label"].tolist() == [
        int(row["label"][0])
        for row in itertools.islice(synthbench.stream("composites", seed=5, batch_size=1), 6)
    ]
