"""Train layers on all settings of a suite: every rate with one seed, then the best with more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, needs
from synthbench.dataset.output import OutputDirectory
from synthbench.engine.engine import check_workers
from synthbench.errors import DatasetError, UsageError, unknown_name
from synthbench.generation.planned import PlannedDataset
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe
from synthbench.training.recipes.layers import SEEDS, SUITES, WIDTH
from synthbench.training.runs import stored_runs
from synthbench.training.suite.lines import SettingPlan, plans, read_rates
from synthbench.training.suite.report import best_rate, line_of, row_of, setting_of, stored_lines
from synthbench.training.suite.tables import csv_text, latex, markdown

PROFILES = ("quick", "cpu")
#: Positions at which layers are checked before the first setting. Longer rows are checked later.
_CHECKED_LENGTH = 256
#: The file that marks the directory of a suite.
_MARK = ".suite"


@checked
def reproduce_suite(
    suite: str = "layers",
    *,
    profile: str = "cpu",
    models: Sequence[str] | None = None,
    layers: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    width: int = WIDTH,
    rates: Sequence[float] | None = None,
    seeds: int | None = None,
    out: str | PathLike[str] | None = None,
    device: str = "auto",
    precision: str = "float32",
    workers: int | None = None,
    overwrite: bool = False,
    skip_checks: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train layers or models on every setting of a suite, and write tables, a figure and data.

    Each layer is trained at every learning rate with seed 0. The best rate on validation rows
    counts, and the other seeds are trained at that rate. The same call continues an interrupted
    call and only reads finished runs. After an interruption the files have what is finished.

    Args:
        suite: the name of the suite: "layers".
        profile: "cpu", or "quick": four settings, one rate and one seed.
        models: models of your own, or baselines of the suite, as in `reproduce`.
        layers: layers of your own. Without models and layers, all baselines are trained.
        options: options of your own models and layers.
        width: the size of a state of layers and baselines. Stored figures are of width 64.
        rates: the learning rates to try, by default those of the setting.
        seeds: the number of seeds at the best rate, by default 3, or 1 of "quick".
        out: the directory: new, empty or of this call (default `SUITE-reproduced`). It has a
            directory for each setting, and `SUITE.json`, `.md`, `.csv`, `.tex`, `.svg` and `.pdf`.
        device: see `reproduce`.
        precision: see `reproduce`.
        workers: see `reproduce`.
        overwrite: see `reproduce`.
        skip_checks: see `reproduce`.
        progress: see `reproduce`.

    Returns:
        The report, as written to `SUITE.json`.

    Raises:
        UsageError: an unknown suite or profile, or as `reproduce`.
        SynthbenchError: as `reproduce`.
    """
    if suite not in SUITES:
        raise unknown_name("suite", suite, SUITES)
    if profile not in PROFILES:
        raise unknown_name("profile of a suite", profile, PROFILES)
    quick = profile == "quick"
    tried = read_rates(rates)
    seeds = seeds if seeds is not None else 1 if quick else SEEDS
    check_whole_number("Seeds", seeds, least=1)
    check_whole_number("Width", width, least=1)
    most = check_workers(workers)
    setting = Setting(device, precision, progress=False, threads=1)
    path = Path(out or f"{suite}-reproduced")
    output = OutputDirectory(path, _MARK)
    output.check()
    settings = [setting for setting in SUITES[suite] if setting.quick or not quick]
    if quick and not tried:
        tried = (settings[0].study.recipes[0].learning_rate,)
    planned = plans(
        settings, path, models or (), layers or (), options or {}, width, tried, seeds
    )  # fmt: skip
    with needs("'reproduce'", "PyTorch", "train"):  # slow, so after all names are checked
        from synthbench.training.layer_checks.before_training import check_before_training
        from synthbench.training.plan import steps_bar

        workers = workers or (most if setting.device.type == "cpu" else 1)
        for line in () if skip_checks else planned[0].lines:
            check_before_training(line.recipes[0], {}, _CHECKED_LENGTH, setting)
    output.make()
    output.write_text(_MARK, "This directory was written by `synthbench reproduce --suite`.\n")

    def write() -> dict[str, Any]:
        report = _report(suite, profile, planned, width, precision)
        for name, text in (("md", markdown), ("csv", csv_text), ("tex", latex)):
            output.write_text(f"{suite}.{name}", text(report))
        output.write_json(f"{suite}.json", report)
        return report

    keywords = {
        "workers": workers, "overwrite": overwrite, "skip_checks": skip_checks,
        "progress": progress,
    }  # fmt: skip
    total, noted = (sum(column) for column in zip(*(plan.steps for plan in planned), strict=True))
    try:
        with steps_bar(progress, f"reproduce {suite}", total, noted):
            for plan in planned:
                _train(plan, setting, keywords)
    except KeyboardInterrupt:
        write()
        raise
    report = write()
    _draw(report, output, suite)
    return report


def _train(plan: SettingPlan, setting: Setting, keywords: Mapping[str, Any]) -> None:
    """All runs of a setting."""
    from synthbench.training.plan import finish_runs, plan_runs

    def train(recipes: Sequence[Recipe], seeds: Sequence[int]) -> list[dict[str, Any]]:
        study = plan.study(recipes)
        data = PlannedDataset(plan.path / "data", study.tasks(), study.rows_made)
        runs = plan_runs(
            study,
            data,
            seeds,
            setting,
            lambda _, recipe, seed: plan.directory(recipe, seed),
            again=False,
            **keywords,
        )
        return finish_runs(runs, keywords["workers"], keywords["progress"])

    results = train([recipe for line in plan.lines for recipe in line.recipes], [0])
    if plan.seeds == 1:
        return
    best = []
    for line in plan.lines:
        mine, results = results[: len(line.recipes)], results[len(line.recipes) :]
        rows = [row_of(result, plan.setting) for result in mine]
        best.append(line.recipes[best_rate(rows)])
    train(best, range(plan.seeds))


def _report(
    suite: str, profile: str, planned: Sequence[SettingPlan], width: int, precision: str
) -> dict[str, Any]:
    """The report on all finished runs."""
    settings = []
    for plan in planned:
        lines = [
            line_of(line.name, rows, plan.seeds, tried=len(line.recipes))
            for line in plan.lines
            if (rows := list(_finished(plan, line.recipes)))
        ]
        if any(line.own for line in plan.lines) and width == WIDTH and precision == "float32":
            trained = {line.name for line in plan.lines}
            lines += [
                line
                for line in stored_lines(stored_runs(), plan.setting)
                if line["model"] not in trained
            ]
        settings.append(setting_of(plan.setting, lines))
    return {
        "suite": suite,
        "profile": profile,
        "width": width,
        "precision": precision,
        "settings": settings,
    }


def _finished(plan: SettingPlan, recipes: Sequence[Recipe]) -> Iterator[dict[str, Any]]:
    for recipe in recipes:
        for seed in range(plan.seeds):
            if (result := plan.directory(recipe, seed).result) is not None:
                yield row_of(result, plan.setting)


def _draw(report: Mapping[str, Any], output: OutputDirectory, suite: str) -> None:
    """The figure as SVG and PDF."""
    from synthbench.training.suite.draw import draw

    for kind in ("svg", "pdf"):
        with output.writing(f"{suite}.{kind}") as file:
            draw(report, file, kind)


def read_report(run: str | PathLike[str]) -> dict[str, Any]:
    """The report of a finished or interrupted suite.

    Args:
        run: the directory of the suite, or its JSON file.

    Raises:
        UsageError: no such report.
        DatasetError: a report that cannot be read.
    """
    path = Path(run)
    candidates = [path] if path.is_file() else [path / f"{name}.json" for name in SUITES]
    file = next((candidate for candidate in candidates if candidate.is_file()), None)
    if file is None:
        raise UsageError(f"No report of a suite at {str(path)!r}: expected {candidates[0]}.")
    try:
        report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{file} cannot be read: {error}") from None
    if not isinstance(report, dict) or not {"suite", "settings", "width"} <= report.keys():
        raise DatasetError(f"{file} is not a report of a suite.")
    return report
