"""The tables of results in the documentation, made from the table of runs."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.origins import origin
from docs.recipes import differences_table, recipe_differences, without_counterpart
from synthbench.errors import DatasetError
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table
from synthbench.training.cells import (
    ONE_RUN,
    cell,
    fit_cell,
    fit_words,
    headings,
    of_one_run,
    ours_and_theirs,
)
from synthbench.training.contrasts import HEAD, contrast_cells, judge
from synthbench.training.paper_size import (
    at_paper_size,
    other_departures,
    published_study,
    rows_differences,
    task_differences,
)
from synthbench.training.runs import read_runs, stored
from synthbench.training.stored import comparisons
from synthbench.training.train_fit import FITTED, NOT_FITTED, state_of

#: Opens a folded part of a page.
FOLD = '<details markdown="1"><summary>Differences from the paper, and origin</summary>'


def read_comparisons(file: Path | None = None) -> list[dict[str, Any]]:
    """All comparisons of a table of runs, ordered by task; main studies first, then by name.

    Raises:
        DatasetError: the table cannot be read.
    """
    order = list_tasks()
    return sorted(
        comparisons(read_runs(file or stored())),
        key=lambda comparison: (
            order.index(comparison["task"]),
            comparison["study"] != "main",
            comparison["study"],
            comparison["profile"],
        ),
    )


# Tables.


def section(comparison: Mapping[str, Any]) -> list[str]:
    """A comparison in Markdown: title, table, and a fold with differences and origin.

    The table has the models that have learned their training rows. One line names the others.
    """
    several = len({line["variant"] for line in comparison["models"]}) > 1
    learned = [line for line in comparison["models"] if _is_shown(line, comparison)]
    measures = [measure for measure in comparison["measures"] if measure["headline"]]
    head = ["model", *["variant"] * several, "parameters", "seeds", "steps", "training rows"]
    columns = [headings(measure, comparison) for measure in measures]
    head += [word for heads in columns for word in heads]
    lines = [
        [
            f"`{line['model']}`",
            *[line["variant"]] * several,
            f"{line['model_parameters']:,}",
            f"{len(line['runs'])}",
            f"{max(run['steps'] for run in line['runs']):,}",
            fit_cell(line),
            *(
                figure
                for measure, heads in zip(measures, columns, strict=True)
                for figure in ours_and_theirs(measure, line)[: len(heads)]
            ),
        ]
        for line in learned
    ]
    table = Table(head, lines, right=range(1 + several, len(head)))
    parts = [table.markdown()] if lines else []
    parts += filter(None, [_not_learned(comparison["models"], learned, several)])
    title = f"## {comparison['title']}" if comparison["study"] != "main" else "## Main study"
    title += f" (profile {comparison['profile']})"
    folded = [sizes(comparison), differences_table(comparison), origin(comparison)]
    return [title, *parts, FOLD, *filter(None, folded), "</details>"]


def _is_shown(line: Mapping[str, Any], comparison: Mapping[str, Any]) -> bool:
    """True for a model that learned its rows, and where runs with a Eureka-moment are counted."""
    counts_moments = any(measure["metric"] == "eureka_ratio" for measure in comparison["measures"])
    return counts_moments or state_of(line["runs"]) != NOT_FITTED


def _not_learned(
    lines: Sequence[Mapping[str, Any]], learned: Sequence[Mapping[str, Any]], several: bool
) -> str:
    """The models that have not learned their training rows, with their share, by steps."""
    by_steps: dict[int, list[str]] = {}
    for line in lines:
        if line not in learned:
            variant = f" on {line['variant']}" if several else ""
            steps = max(run["steps"] for run in line["runs"])
            learned_share, state = fit_words(line)
            part = state.partition(NOT_FITTED)[0]  # "2 of 5 " if only some runs have not
            name = f"`{line['model']}`{variant} ({part and f'{part}runs, '}{learned_share})"
            by_steps.setdefault(steps, []).append(name)
    return " ".join(
        f"Training rows not learned in {steps:,} steps: {', '.join(names)}."
        for steps, names in by_steps.items()
    )


def sizes(comparison: Mapping[str, Any]) -> str:
    """In what a comparison differs from the paper's, as a sentence."""
    other = "; ".join(other_departures(comparison))
    besides = f" Besides: {other}." if other else ""
    if at_paper_size(comparison):
        return "The paper's task and sizes" + (f", but for: {other}." if other else ".")
    task, rows = task_differences(comparison), rows_differences(comparison)
    words = f"**Not the paper's task**: {', '.join(task)}." if task else "The paper's task."
    if published_study(comparison) is None:
        words = "A study of our own, which no paper has."
    if any(run["searched"] for line in comparison["models"] for run in line["runs"]):
        words += " This size was searched for, with the figures of the models in view."
    if rows:
        words += f" Other numbers of rows: {', '.join(rows)}."
    if unlike := dict.fromkeys(
        f"`{difference.setting}`" for difference in recipe_differences(comparison)
    ):
        words += f" Recipes differ from those of the profile `paper` in {', '.join(unlike)}."
    if others := without_counterpart(comparison):
        words += f" Not in the profile `paper`: {', '.join(others)}."
    return words + besides


# Contrasts.


def contrasts_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The papers' contrasts between models that have learned their training rows, in Markdown.

    Empty if there are none.
    """
    lines = [
        [f"`{comparison['task']}`", comparison["profile"], *contrast_cells(finding)]
        for comparison in comparisons
        for finding in judge(comparison)
        if finding.p is not None
    ]
    return Table(["task", "profile", *HEAD], lines).markdown() if lines else ""


# Pictures and sentences.


def drawn_models(comparison: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The models of a comparison that have learned their training rows. No other is drawn.

    A study that counts Eureka-moments expects some runs to fail, so each of its models has the runs
    alone that have learned theirs.
    """
    lines = comparison["models"]
    if any(measure["metric"] == "eureka_ratio" for measure in comparison["measures"]):
        lines = [_learned_part(line) for line in lines]
    return [line for line in lines if line["runs"] and state_of(line["runs"]) != NOT_FITTED]


def _learned_part(line: Mapping[str, Any]) -> dict[str, Any]:
    """A model with the runs that have learned their training rows, and figures of these runs."""
    kept = [run["fit"] is None or run["fit"]["state"] == FITTED for run in line["runs"]]
    return {
        **line,
        "runs": [*itertools.compress(line["runs"], kept)],
        "by_bucket": {},
        "measures": {
            name: _figure_of([*itertools.compress(figure["values"], kept)], figure)
            for name, figure in line["measures"].items()
        },
    }


def _figure_of(values: Sequence[float | None], figure: Mapping[str, Any]) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    return {**figure, "values": values, "mean": statistics.fmean(known) if known else None}


def figure(comparisons: Sequence[Mapping[str, Any]], name: str) -> str:
    """The figure that a sentence rests on; it says so if its model is not fitted, or of one run.

    Args:
        comparisons: all results.
        name: task, profile, variant, model and measure, as in `ctl cpu forward ndr test`;
            `cpu/NAME` for the study NAME of a profile; `training` in place of the measure asks for
            the training rows.

    Raises:
        DatasetError: there is no such figure.
    """
    task, profile, variant, model, measure = name.split(maxsplit=4)
    profile, _, study = profile.partition("/")
    for comparison in comparisons:
        for line in comparison["models"]:
            place = (comparison["task"], comparison["profile"], line["variant"], line["model"])
            if place != (task, profile, variant, model) or comparison["study"] != (study or "main"):
                continue
            measures = {entry["name"]: entry for entry in comparison["measures"]}
            if measure == "training":
                return ", ".join(fit_words(line) + [ONE_RUN] * (len(line["runs"]) == 1))
            if measure in measures:
                figures = line["measures"][measure]
                _, *states = fit_words(line)
                states += [ONE_RUN] * of_one_run(figures)
                mark = f" ({', '.join(states)})" if states else ""
                return cell(measures[measure]["metric"], figures, len(figures["values"])) + mark
    raise DatasetError(f"Figure {name!r}: no result has it.")
