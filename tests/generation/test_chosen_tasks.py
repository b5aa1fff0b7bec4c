"""The same choices again, on the dataset that the first command made."""

import dataclasses
import re

import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import ParameterError, UsageError
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.registry import changed
from synthbench.training.directory import RunDirectory
from synthbench.training.recipes import STUDIES, find_study

#: A study of several variants for each task that has such a study.
OF_SEVERAL = {study.task: study for study in STUDIES if len(study.variants) > 1}
ROWS = 8
choose_tasks = PlannedDataset.choose_tasks


def make(tmp_path, tasks):
    """A small dataset of tasks; its name."""
    rows = {split.name: ROWS for split in tasks[0].splits}
    return PlannedDataset(tmp_path / "data", tasks, rows).make(workers=1, progress=False).path


def choices(study):
    """What a user may choose beside the variant: nothing, a level, or its parameters."""
    task = study.tasks()[0]
    yield {}
    for level in list(task.levels)[:1]:
        yield {"level": level}
        yield {"parameters": changed(task, level=level).parameters.to_dict()}


@pytest.mark.parametrize("study", OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_the_same_choices_name_the_task_of_the_dataset_that_they_made(study, tmp_path):
    for number, choice in enumerate(choices(study)):
        for variant in (study.variants[0], study.variants[-1]):
            place = tmp_path / f"{number}-{variant}"
            asked = next(choose_tasks(study.usual, place, variants=[variant], **choice))
            data = make(place, [asked])
            for again in ({"variants": [variant]}, {}):  # with and without its name
                (same,) = choose_tasks(study.usual, data, **again, **choice)
                assert same == asked
                assert PlannedDataset(data, [same]).tasks == (asked,)
            (same,) = choose_tasks(study.usual, data)  # the dataset knows its level and parameters
            assert same == asked


@pytest.mark.parametrize("study", {study.task: study for study in STUDIES}.values())
def test_a_level_chooses_all_parameters(study, tmp_path):
    task = study.tasks()[0]
    levels = {level: synthbench.task(task.name, task.variant, level=level) for level in task.levels}
    for level, made in levels.items():
        assert next(choose_tasks(study.usual, variants=[task.variant], level=level)) == made
    if len(levels) > 1:
        data = make(tmp_path, [levels["easy"]])
        for level, made in levels.items():
            (chosen,) = choose_tasks(study.usual, data, level=level)
            assert chosen == made
            if made != levels["easy"]:
                with pytest.raises(UsageError, match="was asked for"):
                    PlannedDataset(data, [chosen])


def test_at_a_level_with_few_rows_a_study_asks_for_fewer():
    study = find_study("automaton", "cpu")
    task = synthbench.task("automaton", level="easy")
    there = PlannedDataset.at_most([task], study.rows)
    assert 0 < there["iid"] < study.rows["iid"]
    PlannedDataset.sizes(task, there)  # so many exist
    assert PlannedDataset.at_most(study.tasks(), study.rows) == study.rows


def test_of_a_study_the_variants_are_taken_that_a_dataset_has(tmp_path):
    study = find_study("chomsky", "cpu")
    names = ["bucket-sort", "parity-check"]
    data = make(tmp_path, [synthbench.task("chomsky", name, seed=3) for name in names])
    tasks = list(choose_tasks(study.usual, data))
    assert [task.variant for task in tasks] == names[::-1]  # the study's order
    assert {task.seed for task in tasks} == {3}
    with pytest.raises(UsageError, match=r"Unknown variant .*'even-pairs'. Allowed: bucket-sort"):
        list(choose_tasks(study.usual, data, variants=["even-pairs"]))


def test_a_variant_that_is_not_needed_refuses_nothing(tmp_path):
    study = find_study("modular-arithmetic", "cpu")
    study = dataclasses.replace(study, variants=("add", "divide"))
    even = {"parameters": {"modulus": 10}}  # divide needs a prime
    task = next(choose_tasks(study.usual, **even))
    assert (task.variant, task.parameters.modulus) == ("add", 10)
    data = make(tmp_path, [task])
    assert list(choose_tasks(study.usual, data, **even)) == [task]
    with pytest.raises(ParameterError):
        list(choose_tasks(study.usual, **even))


@pytest.mark.slow
@pytest.mark.torch
def test_a_command_may_be_given_again_and_another_model_takes_its_dataset(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)

    def command(line):
        assert _run(commands, [*line.split(), "--dataset", "data"]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    sizes = "--rows train=200 --rows iid=40 --rows validation=40 --rows test=40"
    train = f"train state-tracking --level easy --recipe steps=1 {sizes}"
    first = command(f"{train} --model lstm --out one")
    assert command(f"{train} --model lstm --out one") == first
    command(f"{train} --model transformer --out two")
    command("train state-tracking --model lstm --recipe steps=1 --out three")
    results = [RunDirectory(tmp_path / name).result for name in ("one", "two", "three")]
    assert results[0]["data"] == results[1]["data"] == results[2]["data"]
    reproduce = "reproduce state-tracking --profile quick --level easy --model lstm --seeds 1"
    table = command(f"{reproduce} --workers 1")
    assert "length 64" not in table  # a level with other lengths is measured on its own rows
    assert re.search(r"^ +test +[01]\.[0-9]{3}$", table, re.MULTILINE)
    assert command(f"{reproduce} --workers 1") == table
