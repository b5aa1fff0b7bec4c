"""The datasets that are looked at, and copies to be spoilt."""

import shutil

import pytest

from tests.verification.spoiling import ROWS, SHARD_ROWS, make


@pytest.fixture(scope="package")
def listops(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made") / "listops", "listops", ROWS, SHARD_ROWS)


@pytest.fixture(scope="package")
def ctl(tmp_path_factory):
    rows = {"train": 20, "iid": 5, "validation": 5, "test": 5}
    out = tmp_path_factory.mktemp("made") / "ctl"
    return make(out, "ctl", rows, 12, variant="all", parameters={"functions": 3, "symbols": 4})


@pytest.fixture
def there(listops, tmp_path):
    """A copy of the listops dataset, to be spoilt."""
    return shutil.copytree(listops, tmp_path / "there")
