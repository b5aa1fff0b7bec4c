"""What tests of streams share."""

import pytest

from synthbench.streaming import rounds as streaming


@pytest.fixture
def short_rounds(monkeypatch):
    """Rounds that are soon made, for what is tried with every task."""
    monkeypatch.setattr(streaming, "ROUND_ROWS", 500)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", 100)
