"""What is to be run: all of it is checked before anything is written, then run side by side."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.engine.open import open_engine
from synthbench.errors import ParameterError, UsageError
from synthbench.generation.generate import generate
from synthbench.generation.request import plan_rows
from synthbench.sampling.plan import check_rows
from synthbench.sampling.preview import sample_rows
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.registry import make_task, task_class
from synthbench.text.progress import Bar, progress_bar
from synthbench.training.batches import check_batch_size
from synthbench.training.directory import RunDirectory
from synthbench.training.encoding import Encoding, Rows
from synthbench.training.models import build
from synthbench.training.predicting import read_longest
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, command_without_data
from synthbench.training.setting import Setting, isolated, memory_errors

#: Seconds between two looks at what runs in other processes have noted.
_LOOK = 1.0


@dataclasses.dataclass(frozen=True)
class Plan:
    """What `train` or `validate` is asked to run.

    Attributes:
        study: the models and variants, and the dataset's parameters and rows.
        seeds: the seeds of the runs.
        setting: how the runs compute.
        dataset: the directory of the dataset, made if it does not exist.
        directory_of: gives a run's directory from variant, recipe and seed.
        required: parameters that an existing dataset must have.
        workers: how many processes make the dataset.
        overwrite: replace other runs, and an interrupted dataset of another command.
        progress: show a bar while the dataset is made.
    """

    study: Study
    seeds: Sequence[int]
    setting: Setting
    dataset: Path
    directory_of: Callable[[str, Recipe, int], RunDirectory]
    workers: int
    overwrite: bool
    progress: bool
    required: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def runs(self) -> list[Run]:
        """The runs of each variant, recipe and seed.

        Everything is checked before anything is written: places, dataset or its sizes, and each
        model, which reads a few rows. Then the dataset is made, if there is none.

        Raises:
            UsageError: a place that cannot be used, other data than the study asks for, impossible
                parameters or rows, or a model or an option that does not fit them.
            SynthbenchError: too little memory, source images that are missing, or files that cannot
                be read.
        """
        study = self.study
        chosen = [
            (variant, recipe.for_variant(variant), seed)
            for variant in study.variants
            for recipe in study.recipes
            for seed in self.seeds
        ]
        for variant, recipe, seed in chosen:
            known = command_without_data(study, recipe, variant, seed, self.setting)
            self.directory_of(variant, recipe, seed).check(known, self.overwrite)
        found = finished(self.dataset)
        if found is not None:
            self._check_dataset(found)
        # A dataset must have a train split, even if training is on a stream.
        rows = {**study.rows, **({"train": 100} if study.stream else {})}
        for variant in study.variants:
            if found is not None:
                task, splits = found.make_task(variant), found.manifest.variants[variant]
                check_rows(task, study.rows)
                train_rows = splits["train"].rows if "train" in splits else 0
            else:
                task = make_task(study.task, variant, study.parameters, 0)
                planned = plan_rows(task, "paper", rows)
                has_train = any(split.name == "train" for split in task.splits)
                train_rows = planned.rows("train") if has_train else 0
            tried = _few_rows(task, found)
            for recipe in study.recipes:
                check_model(recipe.for_variant(variant), task, tried, train_rows, study.stream)
        if found is None:
            generate(
                study.task,
                variant=study.variants,
                out=self.dataset,
                rows=rows,
                parameters=study.parameters,
                workers=self.workers,
                overwrite=self.overwrite,
                progress=self.progress,
            )
            found = DatasetDirectory.open(self.dataset)
        return [
            Run(
                study,
                recipe,
                found,
                variant,
                seed,
                self.setting,
                self.directory_of(variant, recipe, seed),
                self.overwrite,
            )
            for variant, recipe, seed in chosen
        ]

    def _check_dataset(self, dataset: DatasetDirectory) -> None:
        manifest, study = dataset.manifest, self.study
        if manifest.task != study.task:
            raise UsageError(
                f"Data {str(dataset.path)!r} is of task {manifest.task!r}; "
                f"expected {study.task!r}, or a directory that does not exist yet."
            )
        for variant in study.variants:
            dataset.variant(variant)
        wanted = task_class(study.task).parameters_type.make(self.required).to_dict()
        for name in self.required:
            if manifest.parameters[name] != wanted[name]:
                raise UsageError(
                    f"Data {str(dataset.path)!r} has {name}={manifest.parameters[name]}; "
                    f"{name}={wanted[name]} was asked for. Name another --dataset."
                )


def _few_rows(task: Task, dataset: DatasetDirectory | None) -> Rows:
    """A few rows of the hardest split; if there is no dataset yet, newly drawn, one a bucket."""
    hardest = [split for split in task.splits if split.evaluation][-1]
    if dataset is None:
        sampled = sample_rows(task, hardest.name, len(hardest.buckets))
    else:
        sampled = list(itertools.islice(dataset.rows(task.variant, hardest.name), 64))
    encoding = Encoding.of(task)
    schema = arrow_schema({name: task.columns[name] for name in encoding.columns})
    return encoding.encode_table(pa.Table.from_pylist(sampled, schema=schema))


def check_model(recipe: Recipe, task: Task, rows: Rows, train_rows: int, stream: bool) -> None:
    """Check that a recipe fits a task: its model is built and reads the longest of `rows`.

    Args:
        recipe: the model and how it is trained.
        task: the task with its parameters.
        rows: a few of its rows.
        train_rows: the number of rows of the train split.
        stream: whether it is trained on fresh rows instead.

    Raises:
        UsageError: a model that reads other rows, or an impossible batch size.
        ParameterError: an option that the model does not have, a value that it refuses, rows that
            are too long for it, or smoothed labels without classes.
        SynthbenchError: too little memory.
    """
    if recipe.steps and stream:
        Rounds(task, "train", recipe.batch_size)
    elif recipe.steps:
        check_batch_size(recipe.batch_size, train_rows)
    encoding = Encoding.of(task)
    if recipe.label_smoothing and encoding.target != "classes":
        raise ParameterError(
            f"Recipe label_smoothing={recipe.label_smoothing}: rows without classes allow 0 only."
        )
    # One thread, because processes that `validate` forks later would lack PyTorch's other threads.
    setting = Setting(threads=1)
    with memory_errors(recipe, setting), isolated(0, setting):
        model = build(recipe.model, encoding.form, encoding.sizes(rows), recipe.options)
        if recipe.heat is not None and not hasattr(model, "set_temperature"):
            raise ParameterError(f"Recipe heat: model {recipe.model!r} has no temperature.")
        read_longest(model, rows)


def finish_runs(runs: Sequence[Run], workers: int, progress: bool) -> list[dict[str, Any]]:
    """The results of all runs, in order; the bar counts their steps as the runs note them."""

    def steps() -> int:
        return sum(run.directory.last_step for run in runs)

    total, done = sum(run.recipe.steps for run in runs), steps()
    with (
        progress_bar(progress, "validate", "steps", total, done) as bar,
        open_engine(workers=workers, calls=len(runs)) as engine,
    ):
        asked = []
        for run in runs:
            asked.append(engine.submit(run.finish))
            done = _show(bar, done, steps)
        for one in asked:
            while bar.is_shown and not one.done():
                time.sleep(_LOOK)
                done = _show(bar, done, steps)
        return [one.result() for one in asked]


def _show(bar: Bar, done: int, steps: Callable[[], int]) -> int:
    """Show how many steps are taken by now; returns them."""
    if bar.is_shown:
        now = steps()
        bar.update(now - done)
        return now
    return done
