"""What the tests of hostile files share."""

import pytest

from tests.hostile import made


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No source images are at hand but those that a test names."""
    monkeypatch.setenv("SYNTHBENCH_DATA", made.NOWHERE)


@pytest.fixture
def listops(tmp_path):
    """A dataset to be spoilt, with something beside it that nobody may touch."""
    yield made.copy_of("listops", tmp_path)
