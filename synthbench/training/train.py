"""From the names of a task and a model to a trained model and its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, needs
from synthbench.errors import UsageError
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.base import Task
from synthbench.text.tables import Table, captioned
from synthbench.training.directory import RunDirectory
from synthbench.training.models import LAYER
from synthbench.training.options import Setting
from synthbench.training.recipes import QUICK_NOTE, find_study
from synthbench.training.recipes.borrowed import find_recipe
from synthbench.training.recipes.plain import NOTE as PLAIN_NOTE
from synthbench.training.recipes.plain import PLAIN
from synthbench.training.train_fit import NOT_FITTED, state_of

if TYPE_CHECKING:
    from rich.console import Group


@checked
def train(
    task: str | Task,
    *,
    model: str | None = None,
    layer: str | None = None,
    out: str | PathLike[str] | None = None,
    profile: str = "cpu",
    study: str = "main",
    dataset: str | PathLike[str] | None = None,
    seed: int = 0,
    recipe: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
    stream: bool | None = None,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int = 1,
    overwrite: bool = False,
    skip_checks: bool = False,
    keep_checkpoints: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """Train one model and evaluate it on every evaluation split.

    The same call continues an interrupted run from its last validation. On a CPU it ends with the
    same numbers. A finished run is only read. A call that is refused writes nothing.

    Args:
        task: the task. A name stands for the study's first variant and its parameters, or, if the
            dataset exists, for the first of the study's variants that it has, and its parameters.
        model: name of a model, or where one of your own is, as `my_model.py:Make` or
            `my_package.models:Make`: called as `Make(vocabulary=, outputs=, **options)`, its
            `forward(tokens)` or `forward(tokens, lengths)` takes int64 `(rows, width)` and gives
            scores `(rows, width, outputs)`, or `(rows, outputs)` for a class of each row.
            A model without a recipe for the task is trained by that of the study's first model.
        layer: instead of a model, where a layer of your own is, as `my_layer.py:Layer`: made with
            the width, its `forward(states)` gives states `(rows, width, d_model)`, or a tuple that
            begins with them. It is put into our blocks, whose depth and width are options.
        out: the run's directory: new, empty or of this run, and outside any dataset. Default:
            `runs/TASK/VARIANT/MODEL/seed-SEED`.
        profile: sizes of the recipe: "cpu", "paper" or "quick".
        study: "main", or the name of another of the task: an ablation, or another size.
        dataset: a dataset directory, made if it does not exist. Default: `data` in `out`. One that
            exists must have been made by this task. If a name is given, by the task of this name.
        seed: determines the model's parameters, dropout and the order of rows, and of a stream all
            seeds have the same rows in the same order, unless the recipe has `one_length`.
        recipe: fields of the recipe to change, such as `steps`.
        options: options of the model to change, such as `num_layers`.
        rows: numbers of rows of splits that differ from the study's.
        stream: train on fresh rows from `stream` instead of the train split. Default: as the study
            does.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many processes make rows, at most 256.
        overwrite: replace another run in `out`.
        skip_checks: train layers of your own even if they fail a check of `check_layer`.
        keep_checkpoints: how many checkpoints stay in `out`, at equal distances, for the figures
            that show a model during training.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The result, as written to `result.json`.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task
            or with other parameters, or no such device.
        ParameterError: an impossible recipe or option.
        DatasetError: a dataset or checkpoint that cannot be read.
        SynthbenchError: too little memory, a model of your own that fails, a layer that fails a
            check, or PyTorch is not installed.

    Example:
        >>> import synthbench
        >>> result = synthbench.train("clusters", model="clusters-dnas", rows={"test": 4})
        >>> result["splits"]["test"]["separated"]  # clusters that stay apart
        1.0
    """
    if (model is None) == (layer is None):
        raise UsageError("Name a model or a layer to train, and not both.")
    setting = Setting(device, precision, compile, progress, workers=workers)
    check_whole_number("Seed", seed, least=0, most=2**64 - 1)  # as PyTorch allows
    check_whole_number("Checkpoints to keep", keep_checkpoints, least=0)
    name = task if isinstance(task, str) else task.name
    whole = find_study(name, profile, study)
    usual = PlannedDataset.choose_tasks(whole.usual, dataset)
    wanted = next(usual) if isinstance(task, str) else task
    run_recipe = (
        find_recipe(whole, model or f"{LAYER}{layer}")
        .for_variant(wanted.variant)
        .changed(recipe or {}, options or {})
    )
    narrowed = dataclasses.replace(
        whole.of([wanted]),
        recipes=(run_recipe,),
        rows={**PlannedDataset.at_most([wanted], whole.rows), **(rows or {})},
        stream=whole.stream if stream is None else stream,
    )
    path = Path(out or Path("runs", name, wanted.variant, run_recipe.name, f"seed-{seed}"))
    place = Path(dataset or path / "data")
    directory = RunDirectory(path, place)
    directory.output.check()
    data = PlannedDataset(place, [wanted], narrowed.rows_made, any_parameters=isinstance(task, str))
    with needs("'train'", "PyTorch", "train"):  # slow, so after all names are checked
        from synthbench.training.plan import plan_runs

    (run,) = plan_runs(
        narrowed,
        data,
        [seed],
        setting,
        lambda *_: directory,
        workers=workers,
        overwrite=overwrite,
        again=True,
        skip_checks=skip_checks,
        keep=keep_checkpoints,
        progress=progress,
    )
    return run.finish()


def summary(result: Mapping[str, Any]) -> Group:
    """A result for the terminal: the run, and the metrics of each split."""
    metrics = [name for name in next(iter(result["splits"].values())) if name in result["metrics"]]
    head = ["split", "rows", *metrics]
    lines = [
        [name, f"{report['rows']:,}", *(_shown(report[metric]) for metric in metrics)]
        for name, report in result["splits"].items()
    ]
    if fit := result["fit"]:
        cells = [_shown(fit["chosen"]) if name == fit["metric"] else "" for name in metrics]
        lines.insert(0, ["train", f"{fit['rows']:,}", *cells])
    speed = result["steps_per_second"]
    title = (
        f"{result['task']}, {result['variant']}: {result['recipe']['name']}, "
        f"{result['steps']:,} steps"
        + (" on fresh rows" if result["stream"] and result["steps"] else "")
        + (f" at {speed:.3g} a second" if speed else "")
    )
    if state_of([result]) == NOT_FITTED:
        title += f"; {NOT_FITTED}"
    if result["study"]["profile"] == "quick":
        title += f". {QUICK_NOTE}"
    if result["study"]["name"] == PLAIN:
        title += f". {PLAIN_NOTE}"
    return captioned(title, Table(head, lines, right=range(1, len(head))))


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:.4f}"
