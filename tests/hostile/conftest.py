"""What the tests of hostile files share."""

import pytest

from tests.hostile import made


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No source images are at hand but those that a test names."""
    monkeypatch.setenv("SYNTHBENCH_DATA", made.NOWHERE)
