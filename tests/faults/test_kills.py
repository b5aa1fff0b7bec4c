"""`kill -9` at any moment: the same command goes on, to the same bytes, and nothing is lost."""

import os
from pathlib import Path

import pytest

from tests.faults.random_faults import FAULTS, Disturbed
from tests.faults.step_kills import KillsBeforeSteps

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/task").exists(), reason="no /proc to find a run's processes in"
    ),
]


#: How often each fault strikes. With more than one, a kill comes before every step there is.
TIMES = int(os.environ.get("FAULTS", "1"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_random_moments_costs_no_finished_shard_and_changes_no_byte(tmp_path, fault):
    Disturbed(tmp_path, fault, seed=0).strike(TIMES)


#: Just before these is where a kill could hurt most.
STEPS = [
    "os.rename .ctl.partial/command.json.new 0",
    "open .ctl.partial/finished.jsonl 7",
    "open .ctl.partial/finished.jsonl 9",
    "os.rename .ctl.partial/dataset/manifest.json.new 0",
    "os.rename .ctl.partial/dataset 0",
    "os.remove .ctl.partial/finished.jsonl 0",
    "os.rmdir .ctl.partial 0",
]
OVERWRITING_STEPS = [
    "os.rename ctl 0",
    "os.rename .ctl.partial/dataset 0",  # between the two renames
    "os.rename .ctl.partial/old 0",
    "os.rmdir .ctl.partial/removed 0",
    "os.remove .ctl.partial/lock 0",
]


@pytest.mark.parametrize(
    ("overwriting", "steps"),
    [(False, STEPS), (True, OVERWRITING_STEPS)],
    ids=["new", "overwriting"],
)
def test_a_kill_just_before_a_step_loses_neither_the_old_dataset_nor_what_is_finished_of_the_new(
    tmp_path, overwriting, steps
):
    run = KillsBeforeSteps(tmp_path, overwriting)
    for step in steps if TIMES == 1 else run.steps():
        run.kill(step)
