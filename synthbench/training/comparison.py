"""The table of a study: our figures over several seeds beside the paper's."""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.tasks.registry import task_from
from synthbench.text.tables import Table, captioned
from synthbench.training.cells import fit_cell, fit_words, headings, ours_and_theirs
from synthbench.training.contrasts import contrasts_markdown, contrasts_notes, judge
from synthbench.training.least_layers import caption, least_layers
from synthbench.training.paper_size import data_differences, other_departures, sizes
from synthbench.training.recipes import QUICK_NOTE
from synthbench.training.recipes.base import Measure, Study
from synthbench.training.runs import Run, full_parameters
from synthbench.training.train_fit import FITTED, NOT_FITTED

if TYPE_CHECKING:
    from rich.console import Group

#: A comparison, or a part of one, as JSON values.
Json = Mapping[str, Any]
_KEPT = (
    *("seed", "steps", "seconds", "machine", "torch", "version", "commit"),
    *("golden", "note", "searched"),
)


def compare(study: Study, runs: Mapping[tuple[str, str], Sequence[Run]]) -> dict[str, Any]:
    """The comparison of all runs of a study, as JSON values.

    `runs` has rows of the table of runs, one for each seed, by variant and line of the table.
    """
    (first, *_), *_ = runs.values()
    firsts = [_figures(group[0]) for group in runs.values()]
    study = dataclasses.replace(study, measures=_measures(study, firsts))
    parameters = full_parameters(first)
    models = [_line(study, variant, title, group) for (variant, title), group in runs.items()]
    _add_percentages(study, models)
    return {
        "synthbench": first["version"],
        "task": study.task,
        "study": study.name,
        "profile": study.profile,
        "title": study.title,
        "seeds": max(map(len, runs.values())),
        "data": {
            "parameters": parameters,
            "rows": _rows(study, runs),
            "stream": first["stream"],
        },
        **({"least": study.least} if study.least else {}),
        "precision": first["recipe"].get("precision", "float32"),
        "run_seconds": round(sum(run["seconds"] for group in runs.values() for run in group), 1),
        "measures": [
            {
                "name": measure.name,
                "metric": measure.metric,
                "headline": measure.headline,
                "rows": _alike(
                    {line[measure.name]["rows"] for line in firsts if measure.name in line}
                ),
            }
            for measure in study.measures
        ],
        "models": models,
    }


def _measures(study: Study, lines: Sequence[Mapping[str, Json]]) -> tuple[Measure, ...]:
    """The study's measures. All rows of a split in place of measures on rows that no run had.

    A level may have other lengths than the study, so that some measures lack rows.
    """
    measures: dict[str, Measure] = {}
    for measure in study.measures:
        if not measure.percent_of and not any(line[measure.name]["rows"] for line in lines):
            measure = dataclasses.replace(measure, name=measure.split, where=None)
        measures.setdefault(measure.name, measure)
    return tuple(measures.values())


def _rows(study: Study, runs: Mapping[tuple[str, str], Sequence[Run]]) -> dict[str, int]:
    """The rows of splits that the study asks for, or that the runs had where these differ."""
    other: dict[str, int] = {}
    distinct = {(place[0], str(group[0]["rows"])): group[0] for place, group in runs.items()}
    for (variant, _), run in distinct.items():
        if run["rows"] == study.rows_made:
            continue
        task = task_from(study.task, variant, run["parameters"])
        planned = sizes(task, study.rows_made)
        for split, count in sizes(task, run["rows"]).items():
            if count != planned[split] and not (run["stream"] and split == "train"):
                other[split] = min(count, other.get(split, count))  # so many every variant has
    return {**study.rows, **other}


def _alike(counts: set[int]) -> int | None:
    """The number that all are, None if they differ."""
    return next(iter(counts)) if len(counts) == 1 else None


def _figures(run: Run) -> dict[str, Json]:
    return {figure["measure"]: figure for figure in run["figures"]}


def _line(study: Study, variant: str, title: str, runs: Sequence[Run]) -> dict[str, Any]:
    """One line of the table, with the runs that it summarises."""
    recipes = [recipe for recipe in study.recipes if recipe.title == title]
    figures, measures = [_figures(run) for run in runs], {}
    for measure in study.measures:
        published = recipes[0].published.get((variant, measure.name))
        measured = figures if not measure.percent_of else []
        measures[measure.name] = {
            **_mean([figure[measure.name]["value"] for figure in measured]),
            "rows": measured[0][measure.name]["rows"] if measured else None,
            "published": published and published.to_dict(),
        }
    return {
        "model": title,
        "variant": variant,
        "recipes": [recipe.for_variant(variant).to_dict() for recipe in recipes],
        "model_parameters": runs[0]["model_parameters"],
        "measures": measures,
        "by_bucket": _by_bucket(runs),
        "runs": [
            _run(run) | ({"recipe": run["recipe"].get("name", title)} if len(recipes) > 1 else {})
            for run in runs
        ],
    }


def _mean(values: list[float | None]) -> dict[str, Any]:
    """The values of all runs with their mean and deviation."""
    known = [value for value in values if value is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "deviation": statistics.stdev(known) if len(known) > 1 else None,  # of a sample
        "values": values,
    }


def _add_percentages(study: Study, models: Sequence[dict[str, Any]]) -> None:
    """Fill in measures that are in per cent of another line's mean epoch.

    They stay empty if that line was not run, or had no moment.
    """
    epoch = next(
        (measure.name for measure in study.measures if measure.metric == "eureka_epoch"), ""
    )
    whole = {(line["model"], line["variant"]): line["measures"].get(epoch) for line in models}
    for measure, model in itertools.product(study.measures, models):
        if measure.percent_of:
            line = whole.get((measure.percent_of, model["variant"]))
            values = model["measures"][epoch]["values"]
            shares = [100 * value / line["mean"] if value and line else None for value in values]
            model["measures"][measure.name] |= _mean(shares)


def _run(run: Run) -> dict[str, Any]:
    fit = {
        "metric": run["training_metric"],
        "chosen": run["training"],
        "learned": run["learned"],
        "state": FITTED if run["fitted"] else NOT_FITTED,
    }
    kept = {name: run[name] for name in _KEPT}
    return {**kept, "fit": fit if run["training_metric"] else None, "curve": run["curve"]}


def _by_bucket(runs: Sequence[Run]) -> dict[str, float]:
    """The mean of the metric that was trained for, by depth, length or size."""
    by_bucket: dict[str, list[float]] = {}
    for run in runs:
        for bucket, value in (run["buckets"] or {}).items():
            by_bucket.setdefault(bucket, []).append(value)
    return {bucket: statistics.fmean(values) for bucket, values in by_bucket.items()}


# Tables.


def markdown(comparison: Json) -> str:
    """The comparison as Markdown: one line for each model and variant."""
    names, measures = _names(comparison), comparison["measures"]
    columns = (word for measure in measures for word in headings(measure, comparison))
    head = [*names, "training rows", *columns]
    lines = []
    for model in comparison["models"]:
        words = [f"`{model['model']}`", *(model[name] for name in names[1:]), fit_cell(model)]
        figures = [
            figure
            for measure in measures
            for figure in ours_and_theirs(measure, model)[: len(headings(measure, comparison))]
        ]
        steps = max(run["steps"] for run in model["runs"])
        sizes = [f"{model['model_parameters']:,}", f"{steps:,}", _seconds(model)]
        lines.append([*words, *figures, *sizes])
    head += ["parameters", "steps", "seconds"]
    table = Table(head, lines, range(len(names), len(head))).markdown()
    notes = [f"- {note}" for note in _notes(comparison)]
    parts = [f"# {comparison['task']}: {comparison['title']}", "", table, "", *notes, ""]
    if (layers := least_layers(comparison)) is not None:
        parts += [f"{caption(comparison)}:", "", layers.markdown(), ""]
    if section := contrasts_markdown(judge(comparison)):
        parts += [section, ""]
    return "\n".join(parts)


def comparison_table(comparison: Json) -> Group:
    """The comparison for a terminal: measures below each other, so that it is narrow."""
    names, measures = _names(comparison), comparison["measures"]
    lines = []
    remarks: dict[str, list[str]] = {}
    for model in comparison["models"]:
        line = ", ".join(model[name] for name in names)
        figures = [(measure["name"], *ours_and_theirs(measure, model)) for measure in measures]
        learned, *states = fit_words(model)
        for state in states:
            remarks.setdefault(state, []).append(line)
        if learned:
            figures.insert(0, ("training rows", learned, ""))
        columns = map("\n".join, zip(*figures, strict=True))  # measures below each other
        lines.append([line, *columns, _seconds(model)])
    head = [", ".join(names), "measure", "here", "paper", "seconds"]
    title = f"{comparison['task']}: {comparison['title']}"
    table = Table(head, lines, range(2, 5), whole=[1], keys=2, apart=len(measures) > 1)
    notes = [f"{state.capitalize()}: {'; '.join(titles)}." for state, titles in remarks.items()]
    shown = captioned(
        title, table, [*notes, *contrasts_notes(judge(comparison)), *_notes(comparison)]
    )
    if (layers := least_layers(comparison)) is None:
        return shown
    from rich.console import Group

    return Group(captioned(caption(comparison), layers), "", shown)


def _names(comparison: Json) -> list[str]:
    """The names of a line: its model and, if there are several variants, its variant."""
    several = len({model["variant"] for model in comparison["models"]}) > 1
    return ["model", "variant"] if several else ["model"]


def _seconds(model: Json) -> str:
    """The mean time of a model's runs, `-` if there was nothing to train."""
    seconds = statistics.fmean(run["seconds"] for run in model["runs"])
    shown = "<1" if seconds < 1 else f"{seconds:,.0f}"
    return shown if any(run["steps"] for run in model["runs"]) else "-"


def _notes(comparison: Json) -> list[str]:
    """Notes on how the figures were measured."""
    seeds = comparison["seeds"]
    of_seeds = "one seed" if seeds == 1 else f"mean and standard deviation of {seeds} seeds"
    notes = [
        f"`{comparison['command']}`: {of_seeds}.",
        f"{made_with(comparison)}.",
        f"{comparison['precision']}, training of all runs {comparison['run_seconds']:,.0f} s.",
    ]
    if comparison["profile"] == "quick":
        notes.insert(0, QUICK_NOTE)
    if unlike := [*data_differences(comparison), *other_departures(comparison)]:
        notes.insert(0, f"Other than in the paper: {'; '.join(unlike)}.")
    return notes


def made_with(comparison: Json) -> str:
    """The machines and the code of all runs."""
    machines: dict[str, None] = {}
    for run in (run for model in comparison["models"] for run in model["runs"]):
        code, _, dirty = (run["commit"] or "").partition("-")
        words = f"{run['machine']}, PyTorch {run['torch']}, synthbench {run['version']}"
        words += f" at commit {code[:7]}" if code else ""
        machines[words + (" with changes" if dirty else "")] = None
    return "; ".join(machines)
