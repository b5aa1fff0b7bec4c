"""What is evaluated: a dataset, and rows of one task after the other."""

import pytest

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.generation.generate import generate
from tests.evaluation.asked import TASKS, asked
from tests.evaluation.making import SIZES, Made


@pytest.fixture(scope="package")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("evaluated") / "listops"
    generate("listops", out=path, rows=SIZES, workers=1, progress=False)
    opened = DatasetDirectory.open(path)
    return Made(path, {split: list(opened.rows("default", split)) for split in SIZES})


@pytest.fixture(params=TASKS, ids=lambda pair: "-".join(pair))
def case(request):
    return asked(*request.param)
