"""Parameters far beyond the papers': the same code, the same checks."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc
import pytest

import synthbench
from synthbench.generation.generate import generate
from synthbench.verification.verify import verify
from tests.support import stored_rows

DEEP: dict[str, Any] = {
    "max_length": 500,
    "train_depths": 20,
    "validation_depths": 1,
    "test_depths": 2,
}


def made(place, task, parameters, rows):
    """A small dataset that is what it says."""
    generate(synthbench.task(task, **parameters), out=place, rows=rows, workers=1, progress=False)
    verdict = verify(place, workers=1, progress=False)
    assert verdict.ok, str(verdict)
    return place


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "column"), [("listops", "dependency_depth"), ("arithmetic", "depth")]
)
def test_expressions_of_up_to_500_tokens_are_20_deep(tmp_path, task, column):
    rows = {"train": 200, "iid": 1, "validation": 1, "test": 1}
    train = stored_rows(made(tmp_path / task, task, DEEP, rows), "default", "train")
    assert set(train[column].to_pylist()) == {20}
    assert 100 < pc.mean(train["length"]).as_py() <= pc.max(train["length"]).as_py() <= 500


def test_grids_have_50_by_50_cells(tmp_path):
    sizes = {f"{name}_sizes": 50 for name in ("train", "iid", "test")}
    place = made(tmp_path / "grids", "grid-count", sizes, {"train": 30, "iid": 5, "test": 5})
    train = stored_rows(place, "default", "train")
    assert {len(grid) for grid in train["grid"].to_pylist()} == {50}
    assert {len(row) for grid in train["grid"].to_pylist() for row in grid} == {50}
