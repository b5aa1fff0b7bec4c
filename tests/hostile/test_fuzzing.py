"""A few cases of every target, the same ones each time.

With FUZZ=100 in the environment a hundred times as many, others each time.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.hostile import watching
from tests.hostile.targets import TARGETS

pytestmark = pytest.mark.slow

TIMES = int(os.environ.get("FUZZ", "1"))
if TIMES > 1:  # which listens for the rest of the process
    watching.install()
#: Cases of each target; those that verify a dataset for each take longest.
CASES = {"shard_tables": 12, "shard_bytes": 15, "manifest_file": 25, "card": 15, "leftovers": 15}


@pytest.mark.parametrize("name", list(TARGETS))
def test_whatever_is_written_is_read_as_it_stands_or_named(name):
    strategy, check = TARGETS[name]

    @settings(
        max_examples=TIMES * CASES.get(name, 40),
        derandomize=TIMES == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def cases(case):
        check(case)

    cases()
