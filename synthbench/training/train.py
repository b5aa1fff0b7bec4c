"""From the names of a task and a model to a trained model and its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.engine.engine import check_workers
from synthbench.errors import check_whole_number, needs
from synthbench.sampling.plan import check_rows
from synthbench.tasks.images.source_dirs import SourceDir, use_source_dir
from synthbench.tasks.registry import make_task
from synthbench.text.tables import Table, stack, styled
from synthbench.training.fit import UNFINISHED
from synthbench.training.recipes import QUICK_NOTE, find_study

if TYPE_CHECKING:
    from rich.console import Group


@checked
def train(
    task: str,
    *,
    model: str,
    out: str | PathLike[str] | None = None,
    profile: str = "cpu",
    study: str = "main",
    variant: str | None = None,
    dataset: str | PathLike[str] | None = None,
    seed: int = 0,
    recipe: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
    stream: bool | None = None,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int = 1,
    source_dir: SourceDir | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train one model and evaluate it on every evaluation split.

    The same call continues an interrupted run from its last validation; on a CPU it ends with the
    same numbers. A finished run is only read. A call that is refused writes nothing.

    Args:
        task: name of the task.
        model: name of a model that has a recipe for it.
        out: the run's directory: new, empty or of this run, and outside any dataset; default:
            `runs/TASK/VARIANT/MODEL/seed-SEED`.
        profile: sizes of the recipe: "cpu", "paper" or "quick".
        study: "main", or the name of an ablation.
        variant: one of the task's variants; default: the study's first.
        dataset: a dataset directory, made if it does not exist; default: `data` in `out`.
        seed: determines the model's parameters, dropout and the order of rows; a dataset that is
            made has the seed 0.
        recipe: fields of the recipe to change, such as `steps`.
        options: options of the model to change, such as `num_layers`.
        parameters: the task's parameters that differ from the study's.
        rows: numbers of rows of splits that differ from the study's.
        stream: train on fresh rows from `stream` instead of the train split; default: as the study
            does.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many processes make rows, at most 256.
        source_dir: where source images are, as in `synthbench.generate`.
        overwrite: replace another run in `out`.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The result, as written to `result.json`.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task
            or with other parameters, or no such device.
        ParameterError: an impossible recipe, option or parameter.
        DatasetError: a dataset or checkpoint that cannot be read.
        SynthbenchError: too little memory, or PyTorch is not installed.

    Example:
        >>> import synthbench
        >>> result = synthbench.train("clusters", model="clusters-dnas", rows={"test": 4})
        >>> result["splits"]["test"]["separated"]  # clusters that stay apart
        1.0
    """
    check_workers(workers)
    check_whole_number("Seed", seed, least=0, most=2**64 - 1)  # as PyTorch allows
    whole = find_study(task, profile, study)
    variant = whole.variants[0] if variant is None else variant
    changed = {**whole.parameters, **(parameters or {})}
    check_rows(make_task(task, variant, changed), rows)
    chosen = whole.recipe(model).for_variant(variant).changed(recipe or {}, options or {})
    with needs("'train'", "PyTorch", "train"):  # slow, so after all names are checked
        from synthbench.training.directory import RunDirectory
        from synthbench.training.plan import plan_runs
        from synthbench.training.setting import Setting, find_device

    narrowed = dataclasses.replace(
        whole,
        recipes=(chosen,),
        variants=(variant,),
        parameters=changed,
        rows={**whole.rows, **(rows or {})},
        stream=whole.stream if stream is None else stream,
    )
    setting = Setting(find_device(device), precision, compile, progress, workers=workers)
    path = Path(out or Path("runs", task, variant, chosen.name, f"seed-{seed}"))
    place = Path(dataset or path / "data")
    with use_source_dir(source_dir):
        (run,) = plan_runs(
            narrowed,
            [seed],
            setting,
            place,
            lambda *_: RunDirectory(path, place),
            workers=workers,
            overwrite=overwrite,
            progress=progress,
            required=parameters,
        )
        return run.finish()


def summary(result: Mapping[str, Any]) -> Group:
    """A result for the terminal: what was run, and the metrics of each split."""
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
        f"{result['steps']:,} steps" + (f" at {speed:.3g} a second" if speed else "")
    )
    if fit and fit["state"] == UNFINISHED:
        title += f"; {UNFINISHED}"
    if result["study"]["profile"] == "quick":
        title += f". {QUICK_NOTE}"
    return stack(styled(title, "bold"), "", Table(head, lines, right=range(1, len(head))))


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:.4f}"
