"""Rewards are objects: they pickle, and one of them judges the rows of several tasks."""

import pickle

import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.llm.prompts import why_not_askable
from synthbench.tasks.registry import list_tasks, task

TEXTS = [
    name
    for name in list_tasks()
    if why_not_askable(task(name)) is None and task(name).image_column is None
]


def columns_of(rows):
    return {name: rows[name] for name in rows.column_names}


def judged(reward, rows, answers=None):
    answers = rows["answer"] if answers is None else answers
    return reward([f"Answer: {one}" for one in answers], **columns_of(rows))


def test_a_reward_that_was_pickled_judges_alike():
    for name in TEXTS:
        reward = llm.trl_reward(name)
        again = pickle.loads(pickle.dumps(reward))
        rows = llm.prompts(name, limit=5, preset="small")
        assert judged(again, rows) == judged(reward, rows) == [1.0] * 5
        assert again.__name__ == reward.__name__ == f"synthbench_{name.replace('-', '_')}"


def test_one_reward_judges_a_mixture_of_all_tasks():
    mixture = {name: 1 + number % 3 for number, name in enumerate(TEXTS)}
    mixture[synthbench.task("ctl", "backward", symbols=4)] = 1
    size = sum(mixture.values())
    rows = llm.prompts(mixture, limit=2 * size, preset="small")
    reward = pickle.loads(pickle.dumps(llm.trl_reward(mixture)))
    assert judged(reward, rows) == [1.0] * 2 * size
    moved = [*rows["answer"][1:], rows["answer"][0]]  # answers of other tasks
    assert sum(judged(reward, rows, moved)) < size / 2
    assert {one: rows["task"].count(one) for one in set(rows["task"])} == {
        'ctl {"variant": "backward", "symbols": 4}': 2,
        **{name: 2 * weight for name, weight in mixture.items() if isinstance(name, str)},
    }


def test_rows_of_a_mixture_are_those_of_its_tasks():
    rows = llm.prompts({"listops": 2, "parity": 1}, limit=9, preset="small", shots=1)
    for name, count in (("listops", 6), ("parity", 3)):
        alone = llm.prompts(name, limit=count, preset="small", shots=1)
        mixed = rows.filter(lambda row, name=name: row["task"] == name, load_from_cache_file=False)
        for column in ("id", "prompt", "answer"):
            assert mixed[column] == alone[column]
    examples = llm.sft_examples(["parity", "listops"], limit=2, preset="small")
    assert examples["task"] == ["parity", "listops"]


def test_without_a_limit_the_weights_hold_exactly():
    rows = llm.prompts({"parity": 3, "ctl": 1}, rows={"test": 100}, preset="small")
    assert (rows["task"].count("parity"), rows["task"].count("ctl")) == (99, 33)


def test_what_cannot_be_mixed_or_judged_is_refused():
    for mixture, said in (
        (["parity", synthbench.task("parity")], "Task parity: it may be in a mixture once"),
        (["composites", "parity"], "its rows are images"),
    ):
        with pytest.raises(UsageError, match=said):
            llm.prompts(mixture, limit=2, preset="small")
    reward = llm.trl_reward(["parity", "listops"])
    for columns, said in (
        ({"label": [7]}, "Expected 'task' and 'row'"),
        ({"task": ["mqar"], "row": ["{}"]}, "Unknown task of this reward 'mqar'"),
        ({"task": ["parity"], "row": ["{}"]}, "has no column 'label'"),
    ):
        with pytest.raises(UsageError, match=said):
            reward(["7"], **columns)


def test_a_reward_is_shown_as_the_call_that_makes_it():
    for tasks in ("parity", ["parity", "ctl"]):
        reward = llm.trl_reward(tasks)
        assert " at 0x" not in repr(reward)
        again = eval(repr(reward), {"synthbench": synthbench})
        assert repr(again) == repr(reward)
