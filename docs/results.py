"""The tables of results in the documentation, made from the table of runs."""

from __future__ import annotations

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
    rows_differences,
    task_differences,
)
from synthbench.training.runs import read_runs, stored
from synthbench.training.stored import comparisons
from synthbench.training.train_fit import NOT_FITTED, state_of

#: Opens a folded part of a page, as tables of all results are long on a telephone.
FOLD = '<details markdown="1"><summary>Table, differences and origin</summary>'


def read_comparisons(file: Path | None = None) -> list[dict[str, Any]]:
    """All comparisons of a table of runs, ordered by task; main studies first, then by name.

    Raises:
        DatasetError: the table cannot be read.
    """
    order = list_tasks()
    return sorted(
        comparisons(read_runs(file or stored())),
        key=lambda one: (
            order.index(one["task"]),
            one["study"] != "main",
            one["study"],
            one["profile"],
        ),
    )


# Results.


def results_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Every comparison in Markdown: what differs from the paper, its table, and how it was made."""
    return "\n\n".join(part for one in comparisons for part in _section(one))


def _section(comparison: Mapping[str, Any]) -> list[str]:
    several = len({line["variant"] for line in comparison["models"]}) > 1
    measures = [one for one in comparison["measures"] if one["headline"]]
    head = ["model", *["variant"] * several, "parameters", "seeds", "steps", "training rows"]
    columns = [headings(one, comparison) for one in measures]
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
                for one, heads in zip(measures, columns, strict=True)
                for figure in ours_and_theirs(one, line)[: len(heads)]
            ),
        ]
        for line in comparison["models"]
    ]
    table = Table(head, lines, right=range(1 + several, len(head)))
    title = f"### {comparison['task']}, profile {comparison['profile']}"
    if comparison["study"] != "main":
        title += f", study {comparison['study']}: {comparison['title']}"
    folded = [sizes(comparison), table.markdown(), differences_table(comparison)]
    return [title, FOLD, *filter(None, folded), origin(comparison), "</details>"]


def sizes(comparison: Mapping[str, Any]) -> str:
    """In what a comparison differs from the paper's, as a sentence."""
    other = "; ".join(other_departures(comparison))
    besides = f" Besides: {other}." if other else ""
    if at_paper_size(comparison):
        return "The paper's task and sizes" + (f", but for: {other}." if other else ".")
    task, rows = task_differences(comparison), rows_differences(comparison)
    words = f"**Not the paper's task**: {', '.join(task)}." if task else "The paper's task."
    if any(run["searched"] for line in comparison["models"] for run in line["runs"]):
        words += " This size was searched for, with the figures of the models in view."
    if rows:
        words += f" Other numbers of rows: {', '.join(rows)}."
    if unlike := dict.fromkeys(f"`{one.setting}`" for one in recipe_differences(comparison)):
        words += f" Recipes differ from those of the profile `paper` in {', '.join(unlike)}."
    if others := without_counterpart(comparison):
        words += f" Not in the profile `paper`: {', '.join(others)}."
    return words + besides


def models_sizes(comparison: Mapping[str, Any]) -> str:
    """The seeds and the parameters of a comparison's models, as a sentence."""
    counts: dict[str, list[str]] = {}
    for line in comparison["models"]:
        counts.setdefault(f"`{line['model']}`", []).append(f"{line['model_parameters']:,}")
    named = (f"{model} {' or '.join(dict.fromkeys(found))}" for model, found in counts.items())
    return f"{_seeds(comparison)}; parameters: {', '.join(named)}."


def _seeds(comparison: Mapping[str, Any]) -> str:
    """How many seeds were run; which variants have how many, if not all have the same."""
    variants: dict[int, dict[str, None]] = {}
    for line in comparison["models"]:
        variants.setdefault(len(line["runs"]), {})[line["variant"]] = None
    words = [
        f"{number} seed{'s' if number > 1 else ''}"
        + (f" of {', '.join(variants[number])}" if len(variants) > 1 else "")
        for number in sorted(variants, reverse=True)
    ]
    return " and ".join(words)


def budget(comparison: Mapping[str, Any]) -> str:
    """The steps of training and the rows that figures are of, as a sentence."""
    made = dict.fromkeys(
        f"{line['runs'][0]['steps']:,} steps of {line['recipes'][0]['batch_size']} rows"
        for line in comparison["models"]
    )
    rows = dict.fromkeys(f"{one['rows']:,}" for one in comparison["measures"])
    return f"Trained for {' or '.join(made)}, scored on {' or '.join(rows)} rows."


# Contrasts.


def contrasts_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The papers' contrasts between models that have learned their training rows, in Markdown."""
    lines = [
        [f"`{one['task']}`", one["profile"], *contrast_cells(finding)]
        for one in comparisons
        for finding in judge(one)
        if finding.p is not None
    ]
    return Table(["task", "profile", *HEAD], lines).markdown()


# Pictures and sentences.


def drawn_models(comparison: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The models of a comparison that have learned their training rows. No other is drawn.

    A study that counts Eureka-moments shows all of its models.
    """
    of_moments = any(one["metric"] == "eureka_ratio" for one in comparison["measures"])
    return [
        line for line in comparison["models"] if of_moments or state_of(line["runs"]) != NOT_FITTED
    ]


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
    for one in comparisons:
        for line in one["models"]:
            place = (one["task"], one["profile"], line["variant"], line["model"])
            if place != (task, profile, variant, model) or one["study"] != (study or "main"):
                continue
            measures = {entry["name"]: entry for entry in one["measures"]}
            if measure == "training":
                return ", ".join(fit_words(line) + [ONE_RUN] * (len(line["runs"]) == 1))
            if measure in measures:
                found = line["measures"][measure]
                _, *states = fit_words(line)
                states += [ONE_RUN] * of_one_run(found)
                mark = f" ({', '.join(states)})" if states else ""
                return cell(measures[measure]["metric"], found, len(found["values"])) + mark
    raise DatasetError(f"Figure {name!r}: no result has it.")
