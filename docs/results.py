"""The table of results in the documentation, made from the files that `reproduce` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench import __version__
from synthbench.errors import DatasetError
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table
from synthbench.training.comparison import (
    contrasts_markdown,
    fit_cell,
    made_with,
    ours_and_theirs,
)
from synthbench.training.contrasts import CONTRASTS, NOT_RUN, SHOWN, Finding, judge
from synthbench.training.fit import UNFINISHED, state_of

_HEAD = (
    "task",
    "profile",
    "model",
    "training rows",
    "in distribution",
    "paper",
    "out of distribution",
    "paper",
)


def read_comparisons(directory: str | Path) -> list[dict[str, Any]]:
    """All comparisons in a directory, ordered by task, then by file name.

    Raises:
        DatasetError: there is none, or one cannot be read.
    """
    comparisons = []
    for file in sorted(Path(directory).glob("*.json")):
        try:
            comparison = json.loads(file.read_text(encoding="utf-8"))
            comparison["task"], comparison["profile"], comparison["study"]
            [run["fit"] for model in comparison["models"] for run in model["runs"]]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"{file} is no comparison of `reproduce`: {error!r}") from None
        comparisons.append(comparison)
    if not comparisons:
        raise DatasetError(f"No results in {str(directory)!r}: it has no .json files.")
    order = list_tasks()
    return sorted(comparisons, key=lambda one: order.index(one["task"]))


def results_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The table of all comparisons in Markdown, and the commands that make them again."""
    lines = [_line(one, model) for one in comparisons for model in one["models"]]
    table = Table(_HEAD, lines, right=range(4, 8)).markdown()
    return "\n".join([table, "", *map(_origin, comparisons)])


def contrasts_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """What our runs say of every contrast that the papers claim, in Markdown."""
    judged = {finding.contrast: finding for finding in judge(comparisons)}
    findings = [judged.get(one, Finding(one, NOT_RUN)) for one in CONTRASTS]
    shown = sum(finding.state == SHOWN for finding in findings)
    return f"{shown} of {len(findings)} are shown.\n\n{contrasts_markdown(findings)}"


def fitted_models(comparison: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The models of a comparison that may be drawn: all of their runs were trained to the end."""
    return [one for one in comparison["models"] if state_of(one["runs"]) != UNFINISHED]


def figure(comparisons: Sequence[Mapping[str, Any]], name: str) -> str:
    """The figure that a sentence rests on.

    Args:
        comparisons: all results.
        name: task, profile, variant, model and measure, as in `ctl cpu forward ndr test`;
            `training` in place of the measure asks for the training rows.

    Raises:
        DatasetError: there is no such figure, or the model was not trained to the end.
    """
    task, profile, variant, model, measure = name.split()
    for one in comparisons:
        for line in one["models"]:
            place = (one["task"], one["profile"], line["variant"], line["model"])
            if place != (task, profile, variant, model) or one["study"] != "main":
                continue
            if measure == "training":
                return fit_cell(line)
            if state_of(line["runs"]) == UNFINISHED:
                raise DatasetError(f"Figure {name!r}: this model was not trained to the end.")
            measures = {entry["name"]: entry for entry in one["measures"]}
            if measure in measures:
                return ours_and_theirs(measures[measure], line)[0]
    raise DatasetError(f"Figure {name!r}: no result has it.")


def _line(comparison: Mapping[str, Any], model: Mapping[str, Any]) -> list[str]:
    several = len({line["variant"] for line in comparison["models"]}) > 1
    task = f"`{comparison['task']}`" + (f" {model['variant']}" if several else "")
    cells = [task, comparison["profile"], f"`{model['model']}`", fit_cell(model)]
    for side in ("in", "out"):
        ours = theirs = ""
        for measure in comparison["measures"]:
            if measure["headline"] == side:
                figure, theirs = ours_and_theirs(measure, model)
                ours = f"{measure['name']}: {figure}"
        cells += [ours, theirs]
    return cells


def _origin(comparison: Mapping[str, Any]) -> str:
    """The command, the machine and the code that one comparison was made with."""
    seeds, seconds = comparison["seeds"], comparison["seconds"]
    taken = f", {seconds:,.0f} s with {comparison['workers']} at once" if seconds else ""
    other = "" if comparison["synthbench"] == __version__ else f"; this is {__version__}"
    return (
        f"- `{comparison['command']}`: {seeds} seed{'s' if seeds > 1 else ''}{taken}, "
        f"{made_with(comparison)}{other}."
    )
