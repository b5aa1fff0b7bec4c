"""A few cases of every target, the same ones each time; `python -m tests.hostile` has no end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.hostile.targets import TARGETS

pytestmark = pytest.mark.slow

#: Cases of each target; those that verify a dataset for each take longest.
CASES = {"shard_tables": 12, "shard_bytes": 15, "manifest_file": 25, "card": 15, "leftovers": 15}


@pytest.mark.parametrize("name", list(TARGETS))
def test_whatever_is_written_is_read_as_it_stands_or_named(name: str) -> None:
    strategy, check = TARGETS[name]

    @settings(
        max_examples=CASES.get(name, 40),
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def cases(case: Any) -> None:
        check(case)

    cases()
