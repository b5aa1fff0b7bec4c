"""The runs of a study: all are checked before anything is written, then run side by side."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.engine.open import open_engine
from synthbench.errors import UsageError
from synthbench.generation.generate import generate
from synthbench.generation.request import plan_rows
from synthbench.sampling.plan import check_rows
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.registry import make_task, task_class
from synthbench.text.progress import progress_bar
from synthbench.training.directory import RunDirectory
from synthbench.training.encoding import Encoding, Rows
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, check_fit, command_without_data
from synthbench.training.setting import Setting


def prepare_runs(
    study: Study,
    seeds: Sequence[int],
    setting: Setting,
    dataset: Path,
    directory_of: Callable[[str, Recipe, int], RunDirectory],
    *,
    required: Mapping[str, Any] | None = None,
    workers: int,
    overwrite: bool,
    progress: bool,
) -> list[tuple[RunDirectory, Run]]:
    """The runs of a study, for each variant, recipe and seed, with their directories.

    If there is no dataset yet, it is made after everything else has been checked.

    Args:
        study: the models and variants, and the dataset's parameters and rows.
        seeds: the seeds of the runs.
        setting: how the runs compute.
        dataset: the directory of the dataset.
        directory_of: gives a run's directory from variant, recipe and seed.
        required: parameters that an existing dataset must have.
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
        (variant, recipe.for_variant(variant), seed)
        for variant in study.variants
        for recipe in study.recipes
        for seed in seeds
    ]
    for variant, recipe, seed in chosen:
        known = command_without_data(study, recipe, variant, seed, setting)
        directory_of(variant, recipe, seed).check(known, overwrite)
    found = finished(dataset)
    if found is not None:
        _check_dataset(study, found, required or {})
    # A dataset must have a train split, even if training is on a stream.
    rows = {**study.rows, **({"train": 100} if study.stream else {})}
    for variant in study.variants:
        if found is not None:
            task, splits = found.make_task(variant), found.manifest.variants[variant]
            check_rows(task, study.rows)
            sizes = {name: split.rows for name, split in splits.items()}
        else:
            task = make_task(study.task, variant, study.parameters, 0)
            plan = plan_rows(task, "paper", rows)
            sizes = {split.name: plan.rows(split.name) for split in task.splits}
        tried = _few_rows(task, found)
        for recipe in study.recipes:
            check_fit(recipe.for_variant(variant), task, [tried], sizes, study)
    if found is None:
        generate(
            study.task,
            variant=study.variants,
            out=dataset,
            rows=rows,
            parameters=study.parameters,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
        found = DatasetDirectory.open(dataset)
    return [
        (directory_of(variant, recipe, seed), Run(study, recipe, found, variant, seed, setting))
        for variant, recipe, seed in chosen
    ]


def _check_dataset(study: Study, dataset: DatasetDirectory, required: Mapping[str, Any]) -> None:
    manifest = dataset.manifest
    if manifest.task != study.task:
        raise UsageError(
            f"Data {str(dataset.path)!r} is of task {manifest.task!r}; "
            f"expected {study.task!r}, or a directory that does not exist yet."
        )
    for variant in study.variants:
        dataset.variant(variant)
    wanted = task_class(study.task).parameters_type.make(required).to_dict()
    for name in required:
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


def finish_runs(
    runs: Sequence[tuple[RunDirectory, Run]], workers: int, overwrite: bool, progress: bool
) -> list[dict[str, Any]]:
    """The results of all runs, in order."""
    with (
        progress_bar(progress, "validate", "runs", len(runs)) as bar,
        open_engine(workers=workers, calls=len(runs)) as engine,
    ):
        asked = [engine.submit(run.finish, directory, overwrite) for directory, run in runs]
        results = []
        for one in asked:
            results.append(one.result())
            bar.update()
        return results
