"""Train all models of a study with several seeds, and compare the results with the paper's."""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, needs
from synthbench.dataset.output import OutputDirectory
from synthbench.engine.engine import check_workers
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.base import Task
from synthbench.tasks.registry import as_tasks
from synthbench.training.comparison import compare, markdown
from synthbench.training.directory import RUN, RunDirectory
from synthbench.training.models import LAYER
from synthbench.training.options import Setting
from synthbench.training.recipes import find_study
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.recipes.borrowed import named, own_recipes
from synthbench.training.runs import run_of
from synthbench.training.stored import with_stored

#: The file that marks the directory of `reproduce`.
_MARK = ".reproduce"


@checked
def reproduce(
    task: str | Task | Sequence[Task],
    *,
    profile: str = "cpu",
    study: str = "main",
    models: Sequence[str] | None = None,
    layers: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    out: str | PathLike[str] | None = None,
    dataset: str | PathLike[str] | None = None,
    stream: bool | None = None,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int | None = None,
    overwrite: bool = False,
    skip_checks: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train every model of a study with several seeds, and compare the results with the paper's.

    Each run is a run of `train`, in a directory of its own. The same call continues an interrupted
    one. Finished runs are only read.

    Args:
        task: the task, or the task in several variants. A name stands for the study's variants and
            parameters or, if the dataset exists, for those variants that it has and its parameters.
        profile: sizes of the recipes: "cpu" (two cores, at most 90 minutes a run), "paper", or
            "quick" (a minute, for a first look: its figures mean nothing).
        study: "main", or the name of another of the task: an ablation, or another size.
        models: names of models, or your own, as in `train`. Default: all of the study, or none
            of it if there are layers.
        layers: layers of your own, as in `train`. Each is one more line. Beside models of your own
            are the stored figures of the study's models, marked `(stored)`.
        options: options of the models and layers of your own, such as `num_layers`.
        seeds: how many seeds, from 0. Default: the study's number.
        out: the directory: new, empty or of `reproduce`, and outside any dataset. Default:
            `TASK-reproduced`. The table is written there as `TASK-PROFILE.json` and `.md`, or
            `TASK-STUDY-PROFILE` for an ablation.
        dataset: a dataset directory, made if it does not exist. Default: `data` in `out`. One that
            exists must have been made by this task. If a name is given, by the task of this name.
        stream: train on fresh rows from `stream` instead of the train split. Default: as the
            study does.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many runs at once, each with one thread, at most 256. Default: the usable
            cores, but 1 on a GPU or in a daemonic process.
        overwrite: replace runs of other recipes in `out`, and runs with files that cannot be read.
        skip_checks: train layers of your own even if they fail a check of `check_layer`.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The comparison, as written to the JSON file.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task,
            or no such device.
        DatasetError: a dataset or checkpoint that cannot be read.
        SynthbenchError: too little memory, a run that ended abruptly, a layer that fails a
            check, or PyTorch is not installed.

    Example:
        >>> import synthbench
        >>> both = [synthbench.task("clusters", name) for name in ("balanced", "unbalanced")]
        >>> data = synthbench.generate(both, out="data", rows={"test": 4})
        >>> comparison = synthbench.reproduce("clusters", models=["clusters-dnas"], dataset="data")
        >>> comparison["command"]
        'synthbench reproduce clusters --profile cpu --model clusters-dnas --dataset data'
    """
    started = time.perf_counter()
    most = check_workers(workers)
    setting = Setting(device, precision, compile, progress=False, threads=1)
    name = task if isinstance(task, str) else as_tasks(task)[0].name
    whole = find_study(name, profile, study)
    usual = PlannedDataset.choose_tasks(whole.usual, dataset)
    tasks = tuple(usual) if isinstance(task, str) else as_tasks(task)
    own = own_recipes(whole, models or (), layers or (), options or {})
    narrowed = _narrowed(whole, tasks, models, own, seeds, stream)
    path = Path(out or f"{name}-reproduced")
    place = Path(dataset or path / "data")
    output = OutputDirectory(path, _MARK, place)
    output.check()
    data = PlannedDataset(place, tasks, narrowed.rows_made, any_parameters=isinstance(task, str))
    with needs("'reproduce'", "PyTorch", "train"):  # slow, so after all names are checked
        from synthbench.training.plan import finish_runs, plan_runs

    if workers is None:
        workers = most if setting.device.type == "cpu" else 1
    runs = plan_runs(
        narrowed,
        data,
        range(narrowed.seeds),
        setting,
        lambda variant, recipe, seed: RunDirectory(path / variant / recipe.name / f"seed-{seed}"),
        workers=workers,
        overwrite=overwrite,
        again=False,
        skip_checks=skip_checks,
        progress=progress,
    )
    output.make()
    output.write_text(_MARK, "This directory was written by `synthbench reproduce`.\n")
    continued = any((run.directory.path / RUN).is_file() for run in runs)
    results = finish_runs(runs, workers, progress)
    by_line: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run, result in zip(runs, results, strict=True):
        line = by_line.setdefault((run.task.variant, run.recipe.title), [])
        line.append(run_of(result, narrowed))
    comparison = {
        "command": _command(whole, narrowed, setting, dataset),
        **with_stored(compare(narrowed, by_line), own),
        "workers": workers,
        "seconds": None if continued else round(time.perf_counter() - started, 1),
    }
    file = "-".join([name, *([study] if study != "main" else []), profile])
    output.write_json(f"{file}.json", comparison)
    output.write_text(f"{file}.md", markdown(comparison))
    return comparison


def _narrowed(
    study: Study,
    tasks: Sequence[Task],
    models: Sequence[str] | None,
    own: Sequence[Recipe],
    seeds: int | None,
    stream: bool | None,
) -> Study:
    """The part of a study that is asked for."""
    if seeds is not None:
        check_whole_number("Seeds", seeds, least=1)
    wanted = [recipe for model in models or () for recipe in named(study, model)]
    if tuple(tasks) != study.tasks():
        rows = PlannedDataset.at_most(tasks, study.rows)
        study = dataclasses.replace(study.of(tasks), rows=rows)
    return dataclasses.replace(
        study,
        recipes=(
            *(recipe for recipe in study.recipes if not (models or own) or recipe in wanted),
            *own,
        ),
        seeds=seeds or study.seeds,
        stream=study.stream if stream is None else stream,
    )


def _command(
    whole: Study, study: Study, setting: Setting, dataset: str | PathLike[str] | None
) -> str:
    """The command that makes this comparison again, of part of a whole study."""
    words = ["synthbench", "reproduce", study.task, "--profile", study.profile]
    if study.name != "main":
        words += ["--study", study.name]
    if study.recipes != whole.recipes:
        for option, name in dict.fromkeys(_named(recipe, whole) for recipe in study.recipes):
            words += [option, name]
        own = next((recipe for recipe in study.recipes if recipe not in whole.recipes), None)
        options = {} if own is None else own.options
        for name, value in options.items():
            words += ["--option", f"{name}={_text(value)}"]
    if study.variants != whole.variants:
        for variant in study.variants:
            words += ["--variant", variant]
    parameters, usual = (side.tasks()[0].parameters.to_dict() for side in (study, whole))
    for name, value in parameters.items():
        if value != usual[name]:
            words += ["--set", f"{name}={_text(value)}"]
    if study.seeds != whole.seeds:
        words += ["--seeds", str(study.seeds)]
    if study.stream != whole.stream:
        words.append("--stream" if study.stream else "--no-stream")
    if dataset is not None:
        words += ["--dataset", str(dataset)]
    if setting.device.type != "cpu":
        words += ["--device", setting.device.type]
    if setting.precision != "float32":
        words += ["--precision", setting.precision]
    return shlex.join(words)


def _named(recipe: Recipe, study: Study) -> tuple[str, str]:
    """The option that chooses a recipe, with its value."""
    if recipe in study.recipes:
        alone = len(named(study, recipe.title)) == 1
        return "--model", recipe.title if alone else recipe.name
    if recipe.model.startswith(LAYER):
        return "--layer", recipe.model.removeprefix(LAYER)
    return "--model", recipe.model


def _text(value: Any) -> str:
    """A value as on the command line."""
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
