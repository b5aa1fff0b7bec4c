"""A suite: layers of your own on several settings, beside stored baselines of the same recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, needs
from synthbench.dataset.output import OutputDirectory
from synthbench.engine.engine import check_workers
from synthbench.errors import unknown_name
from synthbench.text.tables import Table, captioned
from synthbench.training.cells import cell, fit_cell
from synthbench.training.comparison import made_with
from synthbench.training.options import Setting
from synthbench.training.recipes.borrowed import own_recipes
from synthbench.training.recipes.layers import SUITES
from synthbench.training.reproduce import reproduce, steps_to_take

#: What a row of the table means.
NOTES = (
    "training rows: the share of asked places, or of rows, that the model has right on rows that "
    "it was trained on. A model that is not fitted shows nothing by its other figures.",
    "as trained: the same on new rows of the sizes that it was trained on.",
    "beyond: on longer rows, or rows with more pairs; of modular-arithmetic on equations that are "
    "held out.",
    "All models of a setting have the same rows, steps and learning rate, and layers the same "
    "blocks and width unless an option changes them; nothing was tuned for any baseline.",
)
#: Positions at which layers are checked before the first setting. Longer rows are checked later.
_CHECKED_LENGTH = 256
#: The file that marks the directory of a suite.
_MARK = ".suite"
_HEAD = ("setting", "model", "seeds", "training rows", "as trained", "beyond", "seconds")


@checked
def reproduce_suite(
    suite: str = "layers",
    *,
    models: Sequence[str] | None = None,
    layers: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: int = 1,
    out: str | PathLike[str] | None = None,
    device: str = "auto",
    precision: str = "float32",
    workers: int | None = None,
    overwrite: bool = False,
    skip_checks: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train layers or models on every setting of a suite; one table, one picture and one file.

    Each setting is a study, and each run a run of `train`. The same call continues an interrupted
    one. Finished runs are only read.

    Args:
        suite: the name of the suite: "layers".
        models: models of your own, or baselines of the suite. See `reproduce`.
        layers: layers of your own. Without models and layers, all baselines are trained.
        options: options of your own models and layers.
        seeds: how many seeds, from 0.
        out: the directory: new, empty or of this call. Default: `SUITE-reproduced`. It has a
            directory for each study, and `SUITE.json`, `SUITE.md` and `SUITE.png`.
        device: see `reproduce`.
        precision: see `reproduce`.
        workers: see `reproduce`.
        overwrite: see `reproduce`.
        skip_checks: see `reproduce`.
        progress: see `reproduce`.

    Returns:
        The name of the `suite` and its `comparisons`, as written to `SUITE.json`.

    Raises:
        UsageError: an unknown suite, and as `reproduce`.
        SynthbenchError: as `reproduce`.
    """
    if suite not in SUITES:
        raise unknown_name("suite", suite, SUITES)
    # What `reproduce` checks, too, but only once the directory has been marked.
    check_whole_number("Seeds", seeds, least=1)
    check_workers(workers)
    setting = Setting(device, precision)
    path = Path(out or f"{suite}-reproduced")
    output = OutputDirectory(path, _MARK)
    output.check()
    own = [own_recipes(study, models or (), layers or (), options or {}) for study in SUITES[suite]]
    places = [path / f"{study.task}-{study.name}" for study in SUITES[suite]]
    with needs("'reproduce'", "PyTorch", "train"):  # slow, so after all names are checked
        from synthbench.training.layer_checks.before_training import check_before_training
        from synthbench.training.plan import steps_bar

        setting.device  # noqa: B018  (refuses a device that is not there)
        for recipe in [] if skip_checks else own[0]:
            check_before_training(recipe, {}, _CHECKED_LENGTH, setting)
    output.make()
    output.write_text(_MARK, "This directory was written by `synthbench reproduce --suite`.\n")
    steps = [
        steps_to_take(study, models, recipes, seeds, place)
        for study, recipes, place in zip(SUITES[suite], own, places, strict=True)
    ]
    total, noted = (sum(column) for column in zip(*steps, strict=True))
    with steps_bar(progress, f"reproduce {suite}", total, noted):
        comparisons = [
            reproduce(
                study.task,
                study=study.name,
                models=models,
                layers=layers,
                options=options,
                seeds=seeds,
                out=place,
                device=device,
                precision=precision,
                workers=workers,
                overwrite=overwrite,
                skip_checks=skip_checks,
                progress=progress,
            )
            for study, place in zip(SUITES[suite], places, strict=True)
        ]
    report = {"suite": suite, "comparisons": comparisons}
    output.write_json(f"{suite}.json", report)
    output.write_text(f"{suite}.md", suite_markdown(report))
    with output.writing(f"{suite}.png") as file:
        _draw(report, file)
    return report


def suite_markdown(report: Mapping[str, Any]) -> str:
    """The table of a suite in Markdown, and what its rows mean."""
    table = Table(_HEAD, list(_lines(report)), right=range(2, len(_HEAD))).markdown()
    made = dict.fromkeys(made_with(one) for one in report["comparisons"])
    notes = "\n".join(f"- {note}" for note in (*NOTES, *made))
    return f"# The suite `{report['suite']}`\n\n{table}\n\n{notes}\n"


def suite_table(report: Mapping[str, Any]) -> Any:
    """The same for a terminal."""
    table = Table(_HEAD, list(_lines(report)), right=range(2, len(_HEAD)), keys=2)
    return captioned(f"The suite {report['suite']}", table, NOTES)


def _lines(report: Mapping[str, Any]) -> Iterator[list[str]]:
    for comparison, line in _settings(report):
        figures = {
            measure["headline"]: cell(
                measure["metric"], line["measures"][measure["name"]], len(line["runs"])
            )
            for measure in comparison["measures"]
        }
        seconds = sum(run["seconds"] for run in line["runs"]) / len(line["runs"])
        yield [
            _title(comparison, line),
            line["model"],
            str(len(line["runs"])),
            fit_cell(line),
            figures.get("in", ""),
            figures["out"],
            f"{seconds:,.0f}",
        ]


def _settings(report: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Every line of every comparison, all lines of a setting together."""
    for comparison in report["comparisons"]:
        for variant in dict.fromkeys(line["variant"] for line in comparison["models"]):
            for line in comparison["models"]:
                if line["variant"] == variant:
                    yield comparison, line


def _title(comparison: Mapping[str, Any], line: Mapping[str, Any]) -> str:
    if line["variant"] != "default":
        return f"{comparison['task']}, {line['variant']}"
    parameters = comparison["data"]["parameters"]
    return f"{comparison['task']}, {parameters['pairs']} pairs in {parameters['length']} places"


def _draw(report: Mapping[str, Any], file: Path) -> None:
    """A panel for each setting: accuracy by length, or by step where rows have one length."""
    import matplotlib.style
    from matplotlib.figure import Figure as Canvas

    from synthbench.training.figures.figure import panels

    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for comparison, line in _settings(report):
        curves.setdefault(_title(comparison, line), {})[line["model"]] = _curve(line)
    with matplotlib.style.context("default"):
        canvas = Canvas(layout="constrained", dpi=100)
        every = panels(canvas, len(curves), width=3.2, height=2.6)
        for axes, (title, models) in zip(every, curves.items(), strict=True):
            for model, points in models.items():
                axes.plot(*zip(*points, strict=True), label=model, markersize=4)
            axes.set_title(title, fontsize=8)
            axes.set_ylim(-0.03, 1.03)
        every[0].legend(fontsize=6)
        canvas.savefig(file, format="png", metadata={"Software": None})


def _curve(line: Mapping[str, Any]) -> list[tuple[float, float]]:
    if line["by_bucket"]:
        return sorted((float(size), share) for size, share in line["by_bucket"].items())
    return [
        (point["step"], point["accuracy"])
        for point in line["runs"][0]["curve"]
        if point["split"] == "test"
    ]
