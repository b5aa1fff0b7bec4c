"""`kill -9` at any moment: the same command goes on, to the same bytes, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.random_faults import FAULTS, Disturbed
from tests.faults.step_kills import KillsBeforeSteps

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="no /proc to find a run's processes in"
)


#: How often each fault strikes here; `python -m tests.faults` lets them strike as often as asked.
TIMES = dict.fromkeys(FAULTS, 2) | {"kill -9 of the main process": 5, "kill -9 of a worker": 3}


@pytest.mark.parametrize(("fault", "times"), TIMES.items())
def test_a_fault_at_random_moments_costs_no_finished_shard_and_changes_no_byte(
    tmp_path: Path, fault: str, times: int
) -> None:
    run = Disturbed(tmp_path, fault, seed=0)
    run.strike(times)


@pytest.mark.parametrize("overwriting", [False, True], ids=["new", "overwriting"])
def test_a_kill_before_any_step_that_publishes_loses_neither_the_old_dataset_nor_the_new(
    tmp_path: Path, overwriting: bool
) -> None:
    run = KillsBeforeSteps(tmp_path, overwriting)
    first = run.steps.index("open .ctl.partial/dataset/manifest.json.new 0")
    publishing = run.steps[first::2]
    assert ("os.rename .ctl.partial/dataset 0" in publishing) != overwriting
    for step in publishing:
        run.kill(step)
