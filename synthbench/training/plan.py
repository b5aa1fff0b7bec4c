"""Runs: checked before anything is written, then run side by side."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from types import FrameType
from typing import Any

import torch

from synthbench.engine.open import open_engine
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.generation.planned import PlannedDataset
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.text.progress import Bar, note, progress_bar
from synthbench.training.directory import RunDirectory
from synthbench.training.forms import form_of
from synthbench.training.fresh import FreshModel
from synthbench.training.layer_checks.before_training import check_before_training
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, command_without_data

#: Seconds between two looks at what runs in other processes have noted.
_LOOK = 1.0
#: Seconds that runs in other processes have to save their step once Control-C came.
_PATIENCE = 10.0
#: The bar that counts steps now.
_STEPS_BAR: ContextVar[Bar | None] = ContextVar("steps_bar", default=None)
#: A batch has at most so many fresh rows: more would not fit into memory as numbers.
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
    skip_checks: bool = False,
    keep: int = 0,
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
        skip_checks: ask no questions about layers of the user's own.
        keep: how many checkpoints of each run stay in its directory.
        progress: show a bar while the dataset is made.

    Raises:
        UsageError: a place that cannot be used, or a model or an option that does not fit the data.
        ParameterError: a recipe that does not fit them.
        SynthbenchError: too little memory, a layer that fails a check, source images that are
            missing, or files that cannot be read.
    """
    # Processes cannot use a GPU that was used before they were forked.
    alone = min(workers, len(data.tasks) * len(study.recipes) * len(seeds)) == 1
    name = setting.device_name if alone else "cpu"
    trial = Setting(name, setting.precision, threads=1)
    planned = []
    for task, study_recipe in itertools.product(data.tasks, study.recipes):
        recipe = _fitting(study_recipe.for_variant(task.variant), study, data.count(task, "train"))
        form = form_of(task, recipe.form or None, recipe.start)
        for seed in seeds:
            directory = directory_of(task.variant, recipe, seed)
            planned.append((task, FreshModel(recipe, form, seed, trial), directory))
    for task, model, directory in planned:
        directory.check(command_without_data(study, task, model, setting), overwrite)
    for task, model, directory in planned:
        if model.seed == seeds[0] and (overwrite or directory.result is None):
            _check(study, data, task, model, skip_checks)
    dataset = data.make(workers=workers, overwrite=overwrite, progress=progress)
    return [
        Run(study, dataset, task, model, setting, directory, overwrite, again, keep)
        for task, model, directory in planned
    ]


def _fitting(recipe: Recipe, study: Study, train_rows: int) -> Recipe:
    """The recipe with at most as many rows in a batch as the train split has. A note says so."""
    if study.stream or not recipe.steps or not 1 <= train_rows < recipe.batch_size:
        return recipe
    note(
        f"{recipe.name}: batches of {train_rows:,} rows instead of {recipe.batch_size:,}, because "
        f"train has {train_rows:,} rows."
    )
    return dataclasses.replace(recipe, batch_size=train_rows)


def _check(
    study: Study, data: PlannedDataset, task: Task, model: FreshModel, skip_checks: bool
) -> None:
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
    if rows.lengths is not None and not skip_checks:
        sizes, longest = model.form.sizes(rows), int(rows.lengths.max())
        check_before_training(recipe, sizes, longest, model.setting)


@contextlib.contextmanager
def steps_bar(shown: bool, title: str, total: int, done: int) -> Iterator[Bar]:
    """A bar that counts the steps of runs. Within another bar of its kind, that bar.

    Args:
        shown: see `progress_bar`.
        title: the activity.
        total: number of steps of all runs.
        done: how many of them were noted before.
    """
    if (outer := _STEPS_BAR.get()) is not None:
        yield outer
        return
    with progress_bar(shown, title, "steps", total, done) as bar:
        token = _STEPS_BAR.set(bar)
        try:
            yield bar
        finally:
            _STEPS_BAR.reset(token)


def finish_runs(runs: Sequence[Run], workers: int, progress: bool) -> list[dict[str, Any]]:
    """The results of all runs, in order. The bar counts their steps and names those at hand.

    Raises:
        KeyboardInterrupt: Control-C. Its note names the steps that are saved.
    """
    if workers > 1:
        for run in runs:
            run.model.forget()  # it is built in the process that trains it
    total, noted = sum(run.recipe.steps for run in runs), _steps_noted(runs)
    submitted: list[tuple[Run, Future[dict[str, Any]]]] = []
    with steps_bar(progress, "reproduce", total, noted) as bar:
        others = bar.done - noted  # steps of other runs

        def show(at_hand: Sequence[Run]) -> None:
            if bar.is_shown:
                more = f" and {len(at_hand) - 1} more" if len(at_hand) > 1 else ""
                bar.title = f"{_described(at_hand[0])}{more}" if at_hand else bar.title
                bar.update(others + _steps_noted(runs) - bar.done, now="")

        try:
            with open_engine(workers=workers, calls=len(runs), patience=_PATIENCE) as engine:
                here = min(workers, len(runs)) == 1
                for run in runs:
                    if here:
                        show([run])
                        submitted.append((run, engine.submit(run.finish, bar)))
                    else:
                        submitted.append((run, engine.submit(_finish_or_save, run)))
                for _, future in submitted:
                    while bar.is_shown and not future.done():
                        show([run for run, other in submitted if other.running()])
                        time.sleep(_LOOK)
                show([])
                return [future.result() for _, future in submitted]
        except KeyboardInterrupt as interruption:
            if saved := [text for run, _ in submitted if (text := _saved(run))]:
                interruption.add_note(f"Saved: {' and '.join(saved)}")
            raise


def _described(run: Run) -> str:
    """A run as the bar names it: setting, model and seed."""
    variant = "" if run.task.variant == "default" else f" {run.task.variant}"
    return f"{run.task.name}{variant}, {run.recipe.name}, seed {run.model.seed}:"


def _finish_or_save(run: Run) -> dict[str, Any]:
    """`Run.finish` in a worker process, which saves the step that it has reached at SIGTERM."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    return run.finish()


def _saved(run: Run) -> str | None:
    """The step from which an unfinished run of another process will go on, or None."""
    with contextlib.suppress(SynthbenchError):
        if run.directory.result is None and (state := run.directory.load(torch.device("cpu"))):
            return f"step {state['step']:,} of {run.recipe.steps:,} of {_described(run)[:-1]}"
    return None


def _steps_noted(runs: Sequence[Run]) -> int:
    return sum(run.directory.steps_done(run.recipe.steps) for run in runs)
