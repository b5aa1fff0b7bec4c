"""The real sets, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from synthbench.tasks.images import load
from tests.tasks.tiny_sources import SPLITS

pytestmark = pytest.mark.slow

REAL = os.environ.get("SYNTHBENCH_DATA")
needs_real = pytest.mark.skipif(
    not REAL or not Path(REAL, "MNIST").is_dir(),
    reason="SYNTHBENCH_DATA does not name a directory with the real MNIST and Fashion-MNIST",
)


@needs_real
@pytest.mark.parametrize(("kind", "title"), [("mnist", "MNIST"), ("fashion", "FashionMNIST")])
def test_real_sets_are_read_as_torchvision_reads_them(monkeypatch, kind, title):
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    monkeypatch.setenv("SYNTHBENCH_DATA", REAL)
    source = load.load(kind)
    parts = [getattr(datasets, title)(REAL, train=train) for train in (True, False)]
    assert np.array_equal(source.pixels, np.concatenate([part.data.numpy() for part in parts]))
    assert np.array_equal(source.labels, np.concatenate([part.targets.numpy() for part in parts]))
    assert list(source.classes[1:]) == [name.split(" - ")[0] for name in parts[0].classes[1:]]
    sizes = [source.pool(split, range(10)).size.sum() for split in SPLITS]
    assert sum(sizes) == 70_000 and sizes[2] == 10_000 and 5_995 <= sizes[1] <= 6_010


@needs_real
def test_the_real_sets_have_known_checksums(monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", REAL)
    assert [load.load(kind).describe()["sha256"][:16] for kind in ("mnist", "fashion")] == [
        "e0e40263401c36a8",
        "b49933a8748a955f",
    ]
