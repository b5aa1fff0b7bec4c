"""The dataset that is evaluated."""

import pytest

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.generation.generate import generate
from tests.evaluation.making import SIZES, Made


@pytest.fixture(scope="package")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("evaluated") / "listops"
    generate("listops", out=path, rows=SIZES, workers=1, progress=False)
    opened = DatasetDirectory.open(path)
    return Made(path, {split: list(opened.rows("default", split)) for split in SIZES})
