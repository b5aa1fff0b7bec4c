"""Our tasks in reasoning-gym: its own functions make, mix and score them."""

import importlib.util
import json
import warnings

import pytest

if importlib.util.find_spec("reasoning_gym") is None:
    pytest.skip("reasoning-gym is not installed: the extra dev has it", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SyntaxWarning)  # of a library that it brings
    import reasoning_gym
    from reasoning_gym.composite import DatasetSpec

import synthbench
from synthbench.errors import ParameterError, UsageError
from synthbench.llm.reasoning_gym import register
from synthbench.tasks.spec import task_of
from tests.llm.test_rewards import TEXTS

pytestmark = [pytest.mark.dev, pytest.mark.filterwarnings("default")]


@pytest.fixture(autouse=True)
def registered():
    assert [name.removeprefix("synthbench_") for name in register()] == TEXTS
    assert [name.removeprefix("synthbench_") for name in register()] == TEXTS  # nothing is new
    assert "synthbench_countdown" in register()


def test_a_parameter_that_is_named_as_the_number_of_rows_has_another_name():
    (name,) = register(["maze"])
    dataset = reasoning_gym.create_dataset(name, size=3, seed=1, maze_size=(11,))
    assert len(dataset) == 3
    assert dataset.config.make_task() == synthbench.task("maze", size=(11,))


def test_a_task_that_fails_is_named_and_left_out(monkeypatch):
    names = ["listops", "broken", "parity"]
    monkeypatch.setattr("synthbench.llm.reasoning_gym.list_tasks", lambda: names)
    with pytest.warns(UserWarning, match="Left out: Unknown task 'broken'"):
        assert register() == ["listops", "parity"]


def test_every_task_makes_rows_whose_answers_score():
    for name in register():
        dataset = reasoning_gym.create_dataset(name, size=3, seed=1, split="test", level="easy")
        again = reasoning_gym.create_dataset(name, size=3, seed=1, split="test", level="easy")
        assert list(dataset) == list(again)
        assert len(dataset) == 3
        score = reasoning_gym.get_score_answer_fn(name)
        for index, entry in enumerate(dataset):
            assert entry["metadata"]["source_dataset"] == name.removeprefix("synthbench_")
            assert entry["metadata"]["source_index"] == index
            assert score(entry["answer"], entry) == 1.0
            assert score(f"<answer>{entry['answer']}</answer>", entry) == 1.0
            assert score("I cannot say.", entry) == score(None, entry) == 0.0
            task = task_of(entry["metadata"]["task"])
            assert synthbench.is_held_out(task, json.loads(entry["metadata"]["row"]))


def test_rows_are_those_of_the_stream_and_other_seeds_give_other_rows():
    batch = synthbench.stream("parity", seed=7, batch_size=20)[0]
    rows = reasoning_gym.create_dataset("parity", seed=7, size=20)
    assert [one["metadata"]["id"] for one in rows] == batch["id"].tolist()
    other = reasoning_gym.create_dataset("parity", seed=8, size=20)
    assert len({one["question"] for one in rows} & {one["question"] for one in other}) < 10


def test_a_composite_with_a_task_of_reasoning_gym():
    config = {"level": "easy", "operators": ("MIN", "MAX")}
    both = reasoning_gym.create_dataset(
        "composite",
        size=30,
        seed=1,
        datasets=[
            DatasetSpec("listops", 2, config),
            DatasetSpec("leg_counting", 1, {}),
        ],
    )
    names = [entry["metadata"]["source_dataset"] for entry in both]
    assert set(names) == {"listops", "leg_counting"}
    for entry in both:
        assert both.score_answer(entry["answer"], entry) == 1.0
    ours = [entry for entry in both if entry["metadata"]["source_dataset"] == "listops"]
    assert all("SM" not in entry["question"].rpartition("\n\n")[2] for entry in ours)
    assert set(ours[0]["metadata"]["difficulty"]) == {"dependency_depth", "depth", "length"}


def test_impossible_choices_are_refused():
    for name, options, kind, said in (
        ("listops", {"level": "harder"}, UsageError, "Unknown level"),
        ("listops", {"split": "tests"}, UsageError, "Unknown split"),
        ("listops", {"max_length": 2}, ParameterError, "too short"),
        ("listops", {"size": 0}, UsageError, "Size 0"),
        ("listops", {"lengths": 2}, TypeError, "unexpected keyword"),
    ):
        with pytest.raises(kind, match=said):
            reasoning_gym.create_dataset(name, **options)
    for names, said in ((["composites"], "its rows are images"), (["listop"], "Unknown task")):
        with pytest.raises(UsageError, match=said):
            register(names)
    with pytest.raises(IndexError):
        reasoning_gym.create_dataset("parity", size=2)[2]


def test_entries_that_are_not_ours_are_refused():
    register(["parity"])
    dataset = reasoning_gym.create_dataset("parity", size=1, seed=1)
    for entry in ({}, None, 3, [], {"metadata": None}, {"metadata": {"task": "parity"}}, "x"):
        with pytest.raises(UsageError, match="Expected 'task' and 'row'"):
            dataset.score_answer("1", entry)
