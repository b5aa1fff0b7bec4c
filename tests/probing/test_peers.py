"""Generators of other packages, where these are installed."""

import importlib.util
import itertools
import shutil

import pytest

from synthbench.errors import UsageError
from synthbench.probing.functions import load_generator
from tests.support import ROOT

# A framework's own warnings are not ours; importing one takes seconds.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def needs(package):
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed"
    )


@needs("reasoning_gym")
def test_a_task_of_reasoning_gym_has_rows_and_a_scorer():
    made = load_generator("reasoning-gym:leg_counting")
    zero, one = ([*made.rows(seed, "train", 20)] for seed in (0, 1))
    assert [row["question"] for row in zero[1:]] == [row["question"] for row in one[:-1]]
    assert made.score(zero[0]["answer"], zero[0]) == 1
    assert made.score("no", zero[0]) == 0
    with pytest.raises(UsageError, match="Did you mean 'leg_counting'"):
        load_generator("reasoning-gym:leg_countin")


@needs("verifiers")
def test_a_taskset_of_verifiers_has_splits_and_rewards(tmp_path, monkeypatch):
    shutil.copy(ROOT / "synthbench/llm/synthbench_taskset.py", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    made = load_generator("verifiers:synthbench-taskset")
    train, test, other = (
        [*itertools.islice(made.rows(seed, split, 20), 20)]
        for seed, split in ((0, "train"), (0, "test"), (1, "train"))
    )
    questions = [{row["prompt"] for row in rows} for rows in (train, test, other)]
    assert not questions[0] & questions[1]
    assert not questions[0] & questions[2]
    row = train[0]
    assert made.score(f"The answer is {row['answer']}.", row) == 1.0
    assert made.score(f"The answer is {(int(row['answer']) + 1) % 10}.", row) == 0.0
    with pytest.raises(UsageError, match="verifiers:nothing"):
        load_generator("verifiers:nothing")
