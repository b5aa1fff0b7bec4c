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


FIXED = """
import verifiers.v1 as vf

__all__ = ["Fixed"]

class Data(vf.TaskData):
    answer: str

class Asked(vf.Task[Data]):
    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        return float(self.data.answer in trace.last_reply)

class Fixed(vf.Taskset[Asked, vf.TasksetConfig]):
    def load(self):
        for number in range(9):
            yield Asked(Data(prompt=f"{number} + 1?", answer=str(number + 1)), self.config.task)
"""


@needs("verifiers")
def test_a_taskset_without_seeds_and_splits_has_only_the_usual_rows(tmp_path, monkeypatch):
    (tmp_path / "fixed_taskset.py").write_text(FIXED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    made = load_generator("verifiers:fixed-taskset")
    rows = [*made.rows(0, "train", 20)]
    assert [row["prompt"] for row in rows] == [f"{number} + 1?" for number in range(9)]
    assert [*made.rows(1, "train", 20)] == [*made.rows(0, "test", 20)] == []
    assert made.score("It is 1.", rows[0]) == 1.0


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
