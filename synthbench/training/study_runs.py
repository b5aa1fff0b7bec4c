"""The runs of a study, one for each model, variant and seed: checked, finished side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.engine.open import open_engine
from synthbench.text.progress import progress_bar
from synthbench.training.data import DataRequest
from synthbench.training.directory import RunDirectory
from synthbench.training.fitting import Trial
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.run import Run, command_without_data
from synthbench.training.setting import Setting


def check_runs(
    study: Study,
    request: DataRequest,
    dataset: DatasetDirectory | None,
    setting: Setting,
    path: Path,
    overwrite: bool,
) -> None:
    """Make sure that all runs can be made where they are to lie; writes nothing."""
    for variant in study.variants:
        trial = Trial.of(request, variant, dataset)
        for recipe in (one.for_variant(variant) for one in study.recipes):
            for seed in range(study.seeds):
                known = command_without_data(study, recipe, variant, seed, setting, request.stream)
                _directory(path, variant, recipe, seed).check(known, overwrite)
            trial.check(recipe, request.stream)


def _directory(path: Path, variant: str, recipe: Recipe, seed: int) -> RunDirectory:
    return RunDirectory(path / variant / recipe.name / f"seed-{seed}")


def runs_of(
    study: Study, dataset: DatasetDirectory, setting: Setting, stream: bool, path: Path
) -> list[tuple[RunDirectory, Run]]:
    """All runs and where they lie, in the table's order."""
    return [
        (
            _directory(path, variant, recipe, seed),
            Run(study, recipe.for_variant(variant), dataset, variant, seed, setting, stream),
        )
        for variant in study.variants
        for recipe in study.recipes
        for seed in range(study.seeds)
    ]


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
