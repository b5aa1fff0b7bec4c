"""From the names of a task and a model to a trained model and its result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.sources import use_source_dir
from synthbench.tables import text_table
from synthbench.train.data import DataRequest
from synthbench.train.directory import RunDirectory
from synthbench.train.recipes import find_study
from synthbench.train.run import Run
from synthbench.train.setting import Setting


def train(
    task: str,
    *,
    model: str,
    out: str | Path | None = None,
    profile: str = "cpu",
    study: str = "main",
    variant: str | None = None,
    data: str | Path | None = None,
    seed: int = 0,
    recipe: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
    stream: bool = False,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int = 1,
    source_dir: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train one model and evaluate it on every evaluation split.

    An interrupted run is continued by the same call, from its last validation; on a CPU it ends
    with the same numbers. A finished one is only read.

    Args:
        task: name of the task.
        model: name of a model that has a recipe for it.
        out: the run's directory; default: `runs/TASK/VARIANT/MODEL/seed-SEED`.
        profile: sizes of the recipe: "cpu", or "paper".
        study: "main", or an ablation of the papers.
        variant: one of the task's variants; default: the recipe's first.
        data: a dataset directory, made if it is not there; default: `data` in the run's.
        seed: of the model's parameters, dropout and the order of rows; the dataset that is made
            has the seed 0.
        recipe: fields of the recipe to change, such as `steps`.
        options: options of the model to change, such as `num_layers`.
        parameters: the task's parameters that differ from the recipe's.
        rows: rows of splits that differ from the recipe's.
        stream: train on fresh rows from `stream`, instead of the train split.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many processes make rows.
        source_dir: where source images lie, for tasks made from images.
        overwrite: replace another run that is there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The result, as written to `result.json`.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task
            or with other parameters, or no such device.
        ParameterError: an impossible recipe, option or parameter.
        DatasetError: a dataset or checkpoint that is not what it should be.
        SynthbenchError: too little memory.
    """
    group = find_study(task, profile, study)
    variant = variant or group.variants[0]
    chosen = group.recipe(model).for_variant(variant).changed(recipe or {}, options or {})
    setting = Setting.make(device, precision, compile, progress)
    path = Path(out or Path("runs", task, variant, chosen.name, f"seed-{seed}"))
    wanted = DataRequest(
        task,
        (variant,),
        {**group.parameters, **(parameters or {})},
        {**group.rows, **(rows or {})},
        insisted=parameters or {},
        stream=stream,
    )
    with use_source_dir(source_dir):
        dataset = wanted.open(Path(data or path / "data"), workers, progress)
        run = Run(group, chosen, dataset, variant, seed, setting, stream, workers)
        return run.finish(RunDirectory(path), overwrite)


def summary(result: Mapping[str, Any]) -> str:
    """A result for people: what was run, and each split's metrics."""
    metrics = [name for name in next(iter(result["splits"].values())) if name in result["metrics"]]
    head = ["split", "rows", *metrics]
    lines = [
        [name, f"{report['rows']:,}", *(shown(report[metric]) for metric in metrics)]
        for name, report in result["splits"].items()
    ]
    speed = result["steps_per_second"]
    title = (
        f"{result['task']}, {result['variant']}: {result['recipe']['name']}, "
        f"{result['steps']:,} steps" + (f" at {speed:.3g} a second" if speed else "")
    )
    return f"{title}\n\n{text_table(head, lines, right=range(1, len(head)))}"


def shown(value: float | None) -> str:
    """A metric for people."""
    if value is None:
        return "-"
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:.4f}"
