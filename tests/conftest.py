"""Settings and fixtures that all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

from synthbench import registry
from tests.numbers_task import Numbers

# No test may fail because a machine is slow.
settings.register_profile("synthbench", deadline=None)
settings.load_profile("synthbench")


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> type[Numbers]:
    """The toy task `numbers`, known to the registry for one test."""
    monkeypatch.setitem(registry._registered, Numbers.name, Numbers)
    return Numbers
