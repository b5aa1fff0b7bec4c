"""What is to be run: all of it is checked before anything is written, then run side by side."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, UsageError
from synthbench.generation.generate import generate
from synthbench.sampling.plan import check_rows, plan_rows
from synthbench.sampling.preview import sample_rows
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.text.progress import progress_bar
from synthbench.training.directory import RunDirectory
from synthbench.training.forms import Form, form_of
from synthbench.training.forms.rows import Rows
from synthbench.training.layers.attention import Attention
from synthbench.training.models import build
from synthbench.training.predicting import read_longest
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, command_without_data
from synthbench.training.setting import Setting, isolated, memory_errors

#: Seconds between two looks at what runs in other processes have noted.
_LOOK = 1.0


def plan_runs(
    study: Study,
    tasks: Sequence[Task] | None,
    seeds: Sequence[int],
    setting: Setting,
    data: Path,
    directory_of: Callable[[str, Recipe, int], RunDirectory],
    *,
    workers: int,
    overwrite: bool,
    progress: bool,
) -> list[Run]:
    """The runs of each variant, recipe and seed.

    Everything is checked before anything is written: places, dataset or its sizes, and each model,
    which reads a few rows. Then the dataset is made, if there is none.

    Args:
        study: the models and variants, and the dataset's rows.
        tasks: the task in each of the study's variants, which an existing dataset must have been
            made by; None for the tasks of the dataset, or if there is none, of the study.
        seeds: the seeds of the runs.
        setting: how the runs compute.
        data: the directory of the dataset.
        directory_of: gives a run's directory from variant, recipe and seed.
        workers: how many processes make the dataset.
        overwrite: replace other runs, and an interrupted dataset of another command.
        progress: show a bar while the dataset is made.

    Raises:
        UsageError: a place that cannot be used, other data than the study asks for, impossible
            parameters or rows, or a model or an option that does not fit them.
        SynthbenchError: too little memory, source images that are missing, or files that cannot be
            read.
    """
    chosen = [
        (recipe.for_variant(variant), variant, seed, directory_of(variant, recipe, seed))
        for variant in study.variants
        for recipe in study.recipes
        for seed in seeds
    ]
    for recipe, variant, seed, directory in chosen:
        directory.check(command_without_data(study, recipe, variant, seed, setting), overwrite)
    dataset = finished(data)
    made = _tasks(study, tasks, dataset)
    # A dataset must have a train split, even if training is on a stream.
    rows = {**study.rows, **({"train": 100} if study.stream else {})}
    for task in made:
        if dataset is not None:
            splits = dataset.manifest.variants[task.variant]
            check_rows(task, study.rows)
            train_rows = splits["train"].rows if "train" in splits else 0
        else:
            planned = plan_rows(task, "paper", rows)
            has_train = any(split.name == "train" for split in task.splits)
            train_rows = planned.rows("train") if has_train else 0
        tried: dict[str, tuple[Form, Rows]] = {}  # by form
        for recipe in study.recipes:
            if recipe.steps and study.stream:
                Rounds(task, "train")  # checks that there are rows
            elif recipe.steps and not 1 <= recipe.batch_size <= train_rows:
                raise UsageError(
                    f"Batch size {recipe.batch_size}: train has {train_rows:,} rows; allowed are 1 "
                    f"to {train_rows:,}."
                )
            if recipe.form not in tried:
                form = form_of(task, recipe.form or None)
                tried[recipe.form] = form, _few_rows(task, form, dataset)
            _check_model(recipe.for_variant(task.variant), *tried[recipe.form])
    if dataset is None:
        generate(
            made,
            out=data,
            rows=rows,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
        dataset = DatasetDirectory.open(data)
        dataset.task_like(made[0])  # keeps its source directories
    return [
        Run(study, recipe, dataset, variant, seed, setting, directory, overwrite)
        for recipe, variant, seed, directory in chosen
    ]


def _tasks(
    study: Study, tasks: Sequence[Task] | None, dataset: DatasetDirectory | None
) -> Sequence[Task]:
    """The task in each of the study's variants: as given, or as the dataset or the study has it.

    Raises:
        UsageError: the dataset is not of these tasks.
    """
    if dataset is None:
        return tasks or study.tasks()
    if tasks is None:
        dataset.task_like(study.task)
        return [dataset.make_task(variant) for variant in study.variants]
    return [dataset.task_like(task) for task in tasks]


def _few_rows(task: Task, form: Form, dataset: DatasetDirectory | None) -> Rows:
    """A few rows of the hardest split; if there is no dataset yet, newly drawn, one a bucket."""
    hardest = [split for split in task.splits if split.evaluation][-1]
    if dataset is None:
        sampled = sample_rows(task, hardest.name, len(hardest.buckets))
    else:
        sampled = list(itertools.islice(dataset.rows(task.variant, hardest.name), 64))
    schema = arrow_schema({name: task.columns[name] for name in form.columns})
    return form.encode_table(pa.Table.from_pylist(sampled, schema=schema))


def _check_model(recipe: Recipe, form: Form, rows: Rows) -> None:
    """Check that a recipe fits a task: its model is built and reads the longest of `rows`."""
    if recipe.label_smoothing and not form.chooses:
        raise ParameterError(
            f"Recipe label_smoothing={recipe.label_smoothing}: rows without classes allow 0 only."
        )
    # One thread, because processes that `reproduce` forks later would lack PyTorch's other threads.
    setting = Setting(threads=1)
    with memory_errors(recipe, setting), isolated(0, setting):
        model = build(recipe.model, form, form.sizes(rows), recipe.options)
        if recipe.heat is not None and not any(
            isinstance(one, Attention) for one in model.modules()
        ):
            raise ParameterError(f"Recipe heat: model {recipe.model!r} has no temperature.")
        read_longest(model, rows)


def finish_runs(runs: Sequence[Run], workers: int, progress: bool) -> list[dict[str, Any]]:
    """The results of all runs, in order; the bar counts their steps as the runs note them."""
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
