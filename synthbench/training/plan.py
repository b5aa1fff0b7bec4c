"""What is to be run: all of it is checked before anything is written, then run side by side."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from synthbench.engine.open import open_engine
from synthbench.errors import DatasetError, UsageError
from synthbench.generation.planned import PlannedDataset
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.text.progress import note, progress_bar
from synthbench.training.directory import RunDirectory
from synthbench.training.forms import form_of
from synthbench.training.fresh import FreshModel
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, command_without_data
from synthbench.training.setting import Setting

#: Seconds between two looks at what runs in other processes have noted.
_LOOK = 1.0
#: More fresh rows than that are no batch: they would not fit into memory as numbers.
_LARGEST_BATCH = 1 << 20


def plan_runs(
    study: Study,
    data: PlannedDataset,
    seeds: Sequence[int],
    setting: Setting,
    directory_of: Callable[[str, Recipe, int], RunDirectory],
    *,
    workers: int,
    overwrite: bool,
    again: bool = True,
    progress: bool,
) -> list[Run]:
    """The runs of each variant, recipe and seed.

    Everything is checked before anything is written: the directories, the recipes, and of each
    recipe the model of the first seed, which reads a few rows. Then the dataset is made, if there
    is none.

    Args:
        study: the models.
        data: the dataset, with the task in each variant.
        seeds: the seeds of the runs.
        setting: how the runs compute.
        directory_of: gives a run's directory from variant, recipe and seed.
        workers: how many processes make the dataset.
        overwrite: replace other runs, and an interrupted dataset of another command.
        again: with `overwrite`, replace runs of the same command, too.
        progress: show a bar while the dataset is made.

    Raises:
        UsageError: a place that cannot be used, or a model or an option that does not fit the data.
        ParameterError: a recipe that does not fit them.
        SynthbenchError: too little memory, source images that are missing, or files that cannot be
            read.
    """
    # Processes cannot use a GPU that was used before they were forked.
    alone = min(workers, len(data.tasks) * len(study.recipes) * len(seeds)) == 1
    device = setting.device if alone else torch.device("cpu")
    trial = Setting(device, setting.precision, threads=1)
    chosen = []
    for task, one in itertools.product(data.tasks, study.recipes):
        recipe = _fitting(one.for_variant(task.variant), study, data.count(task, "train"))
        form = form_of(task, recipe.form or None)
        for seed in seeds:
            directory = directory_of(task.variant, recipe, seed)
            chosen.append((task, FreshModel(recipe, form, seed, trial), directory))
    for task, model, directory in chosen:
        directory.check(command_without_data(study, task, model, setting), overwrite)
    for task, model, directory in chosen:
        if model.seed == seeds[0] and (overwrite or directory.result is None):
            _check(study, data, task, model)
    dataset = data.make(workers=workers, overwrite=overwrite, progress=progress)
    return [
        Run(study, dataset, task, model, setting, directory, overwrite, again)
        for task, model, directory in chosen
    ]


def _fitting(recipe: Recipe, study: Study, train_rows: int) -> Recipe:
    """The recipe with at most as many rows in a batch as the train split has; a note says so."""
    if study.stream or not recipe.steps or not 1 <= train_rows < recipe.batch_size:
        return recipe
    note(
        f"{recipe.name}: batches of {train_rows:,} rows instead of {recipe.batch_size:,}, because "
        f"train has {train_rows:,} rows."
    )
    return dataclasses.replace(recipe, batch_size=train_rows)


def _check(study: Study, data: PlannedDataset, task: Task, model: FreshModel) -> None:
    """Check that a recipe fits the data: there are rows to train on, and its model reads some."""
    recipe, needed = model.recipe, list[str]()
    if recipe.steps:
        needed += ["train"] * (not study.stream) + [*study.eval_splits]
        needed += [study.select] if study.select else []
    evaluated = [split.name for split in task.splits if split.evaluation]
    if absent := [name for name in needed if not data.count(task, name)]:
        raise UsageError(
            f"Split {absent[0]!r} is left out of the dataset, but {recipe.name!r} needs it to be "
            f"trained: keep {', '.join(dict.fromkeys(needed))}."
        )
    if not any(data.count(task, name) for name in evaluated):
        raise UsageError(
            f"No evaluation split is in the dataset: keep one of {', '.join(evaluated)}."
        )
    if recipe.steps and study.stream:
        Rounds(task, "train")  # checks that there are rows
        if recipe.batch_size > _LARGEST_BATCH:
            raise UsageError(
                f"Batch size {recipe.batch_size:,} on fresh rows: allowed are 1 to "
                f"{_LARGEST_BATCH:,}."
            )
    try:
        rows = model.form.encode_table(data.few_rows(task))
    except ValueError as error:
        raise DatasetError(f"{data.path}: {error}") from error
    model.build(rows)


def finish_runs(runs: Sequence[Run], workers: int, progress: bool) -> list[dict[str, Any]]:
    """The results of all runs, in order; the bar counts their steps as the runs note them."""
    if workers > 1:
        for run in runs:
            run.model.forget()  # it is built in the process that trains it
    total, done = sum(run.recipe.steps for run in runs), _steps_noted(runs)
    with (
        progress_bar(progress, "reproduce", "steps", total, done) as bar,
        open_engine(workers=workers, calls=len(runs)) as engine,
    ):

        def show() -> None:
            nonlocal done
            if bar.is_shown:
                before, done = done, _steps_noted(runs)
                bar.update(done - before)

        asked = []
        for run in runs:
            asked.append(engine.submit(run.finish))
            show()  # a run in this process is finished by now
        for one in asked:
            while bar.is_shown and not one.done():
                time.sleep(_LOOK)
                show()
        return [one.result() for one in asked]


def _steps_noted(runs: Sequence[Run]) -> int:
    return sum(run.directory.last_step for run in runs)
