"""What the tests of hostile files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import made


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No source images are at hand but those that a test names."""
    monkeypatch.setenv("SYNTHBENCH_DATA", made.NOWHERE)


@pytest.fixture
def listops(tmp_path: Path) -> Iterator[Path]:
    """A dataset to be spoilt, with something beside it that nobody may touch."""
    yield made.copy_of("listops", tmp_path)
