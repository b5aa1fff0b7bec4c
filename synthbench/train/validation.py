"""Baselines against solutions: every model of a study, over several seeds, beside the paper."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from synthbench.dataset import Dataset
from synthbench.engine import open_engine, usable_cores
from synthbench.errors import check_whole_number, unknown_name
from synthbench.publishing import write_json, write_text
from synthbench.sources import use_source_dir
from synthbench.train.comparison import compare, markdown
from synthbench.train.data import DataRequest
from synthbench.train.directory import RUN, RunDirectory
from synthbench.train.recipes import find_study
from synthbench.train.recipes.base import Study
from synthbench.train.run import Run
from synthbench.train.setting import Setting


def validate(
    task: str,
    *,
    profile: str = "cpu",
    study: str = "main",
    models: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    seeds: int | None = None,
    out: str | Path | None = None,
    data: str | Path | None = None,
    stream: bool = False,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int | None = None,
    source_dir: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train every model of a study with several seeds, and set the figures beside the paper's.

    The runs are those of `train`, each in a directory of its own. An interrupted call is continued
    by the same call; finished runs are only read.

    Args:
        task: name of the task.
        profile: sizes of the recipes: "cpu" (two cores, ten minutes), or "paper".
        study: "main", or an ablation of the papers.
        models: names of models; default: all of the study.
        variants: variants of the task; default: all of the study.
        seeds: how many seeds, from 0; default: the study's number.
        out: the directory; default: `TASK-validation`. The table is written there as
            `TASK-PROFILE.json` and `.md`, with the name of an ablation in between.
        data: a dataset directory, made if it is not there; default: `data` in `out`.
        stream: train on fresh rows from `stream`, instead of the train split.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many runs at once, each with one thread; default: the usable cores, on a GPU
            one.
        source_dir: where source images lie, for tasks made from images.
        overwrite: replace runs of other recipes that are there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The comparison, as written to the JSON file.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task,
            or no such device.
        DatasetError: a dataset or checkpoint that is not what it should be.
        SynthbenchError: too little memory, or a run that ended abruptly.
    """
    started = time.perf_counter()
    chosen = _narrowed(find_study(task, profile, study), models, variants, seeds)
    setting = Setting.make(device, precision, compile, threads=1)
    if workers is None:
        workers = usable_cores() if setting.device.type == "cpu" else 1
    check_whole_number("Workers", workers, least=1)
    setting = dataclasses.replace(setting, progress=progress and workers == 1)
    path = Path(out or f"{task}-validation")
    request = DataRequest(task, chosen.variants, chosen.parameters, chosen.rows, stream=stream)
    with use_source_dir(source_dir):
        dataset = request.open(Path(data or path / "data"), workers, progress)
        runs = _runs(chosen, dataset, setting, stream, path)
        continued = any((directory.path / RUN).is_file() for directory, _ in runs)
        results = _finish(runs, workers, overwrite, progress)
    by_line: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (_, run), result in zip(runs, results, strict=True):
        by_line.setdefault((run.variant, run.recipe.title), []).append(result)
    comparison = {
        "command": _command(chosen, setting, stream),
        **compare(chosen, by_line),
        "workers": workers,
        "seconds": None if continued else round(time.perf_counter() - started, 1),
    }
    name = "-".join([task, *([study] if study != "main" else []), profile])
    write_json(path / f"{name}.json", comparison)
    write_text(path / f"{name}.md", markdown(comparison))
    return comparison


def _narrowed(
    study: Study,
    models: Sequence[str] | None,
    variants: Sequence[str] | None,
    seeds: int | None,
) -> Study:
    """The part of a study that is asked for."""
    if seeds is not None:
        check_whole_number("Seeds", seeds, least=1)
    lines = dict.fromkeys(recipe.title for recipe in study.recipes)
    for name in models or ():
        if name not in lines:
            raise unknown_name(f"model for {study.task} ({study.profile})", name, lines)
    return dataclasses.replace(
        study,
        recipes=tuple(one for one in study.recipes if not models or one.title in models),
        variants=tuple(variants or study.variants),
        seeds=seeds or study.seeds,
    )


def _runs(
    study: Study, dataset: Dataset, setting: Setting, stream: bool, path: Path
) -> list[tuple[RunDirectory, Run]]:
    """All runs and where they lie, in the table's order."""
    return [
        (
            RunDirectory(path / variant / recipe.name / f"seed-{seed}"),
            Run(study, recipe.for_variant(variant), dataset, variant, seed, setting, stream),
        )
        for variant in study.variants
        for recipe in study.recipes
        for seed in range(study.seeds)
    ]


def _finish(
    runs: Sequence[tuple[RunDirectory, Run]], workers: int, overwrite: bool, progress: bool
) -> list[dict[str, Any]]:
    """The results of all runs, in order."""
    with (
        tqdm(total=len(runs), unit=" runs", disable=None if progress else True) as bar,
        open_engine(workers=min(workers, len(runs))) as engine,
    ):
        asked = [engine.submit(run.finish, directory, overwrite) for directory, run in runs]
        results = []
        for one in asked:
            results.append(one.result())
            bar.update()
        return results


def _command(study: Study, setting: Setting, stream: bool) -> str:
    """The command that makes this comparison again."""
    whole = find_study(study.task, study.profile, study.name)
    words = ["synthbench validate", study.task, f"--profile {study.profile}"]
    if study.name != "main":
        words.append(f"--study {study.name}")
    if study.recipes != whole.recipes:
        words += [f"--model {one}" for one in dict.fromkeys(one.title for one in study.recipes)]
    if study.variants != whole.variants:
        words += [f"--variant {variant}" for variant in study.variants]
    if study.seeds != whole.seeds:
        words.append(f"--seeds {study.seeds}")
    if stream:
        words.append("--stream")
    if setting.device.type != "cpu":
        words.append(f"--device {setting.device.type}")
    if setting.precision != "float32":
        words.append(f"--precision {setting.precision}")
    return " ".join(words)
