"""The table of a study: our figures over several seeds beside the paper's."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.registry import as_tasks, task_from
from synthbench.text.tables import Table, captioned
from synthbench.training.cells import cell, heading
from synthbench.training.contrast_tables import contrasts_markdown, contrasts_notes
from synthbench.training.contrasts import ONE_RUN, judge
from synthbench.training.paper_size import data_differences, other_departures
from synthbench.training.recipes import QUICK_NOTE
from synthbench.training.recipes.base import Measure, Study
from synthbench.training.train_fit import FITTED, NOT_FITTED, UNFINISHED, rises

if TYPE_CHECKING:
    from rich.console import Group

#: A result of `train`, or a part of one, as JSON values.
Json = Mapping[str, Any]
#: The entries of a run's result that a comparison keeps.
_KEPT = (
    "seed", "steps", "best_step", "steps_per_second", "seconds", "fit", "eureka", "halting",
    "curve", "commit", "machine",
)  # fmt: skip


def compare(study: Study, results: Mapping[tuple[str, str], Sequence[Json]]) -> dict[str, Any]:
    """The results of all runs of a study as JSON values.

    `results` has the results of `train`, one for each seed, by variant and line of the table.
    """
    study = dataclasses.replace(study, measures=_measures(study, results))
    (first, *_), *_ = results.values()
    every = [result for runs in results.values() for result in runs]
    seconds = sum(result["seconds"] + result["evaluation_seconds"] for result in every)
    parameters = first["data"]["parameters"]
    return {
        "synthbench": first["synthbench"],
        "task": study.task,
        "study": study.name,
        "profile": study.profile,
        "title": study.title,
        "seeds": study.seeds,
        "data": {
            "parameters": parameters,
            "changed": {name: parameters[name] for name in study.parameters},
            "rows": _rows(study, results),
            "stream": first["stream"],
        },
        "precision": first["precision"],
        "machine": first["machine"],
        "run_seconds": round(seconds, 1),
        "measures": [
            {
                "name": measure.name,
                "metric": measure.metric,
                "headline": measure.headline,
                "rows": _alike(_count(measure, runs[0]) for runs in results.values()),
            }
            for measure in study.measures
        ],
        "models": [
            _line(study, variant, title, runs) for (variant, title), runs in results.items()
        ],
    }


def _measures(
    study: Study, results: Mapping[tuple[str, str], Sequence[Json]]
) -> tuple[Measure, ...]:
    """The study's measures; all rows of a split in place of measures on rows that no run had.

    A level may have other lengths than the study, so that some measures lack rows.
    """
    runs = [each[0] for each in results.values()]
    measures: dict[str, Measure] = {}
    for measure in study.measures:
        if not any(_count(measure, run) for run in runs):
            measure = dataclasses.replace(measure, name=measure.split, where=None)
        measures.setdefault(measure.name, measure)
    return tuple(measures.values())


def _rows(study: Study, results: Mapping[tuple[str, str], Sequence[Json]]) -> dict[str, int]:
    """The rows of splits that the study asks for, or that the runs had where these differ."""
    other: dict[str, int] = {}
    for (variant, _), (run, *_) in results.items():
        task = task_from(study.task, variant, run["data"]["parameters"])
        planned = PlannedDataset.sizes(task, study.rows_made)
        had = run.get("rows") or {name: one["rows"] for name, one in run["splits"].items()}
        unread = "train" if run["stream"] else ""
        for split, count in had.items():
            if count != planned.get(split) and split != unread:
                other[split] = min(count, other.get(split, count))  # so many every variant has
    return {**study.rows, **other}


def _alike(counts: Iterable[int]) -> int | None:
    """The number that all are, None if they differ."""
    return next(iter(found)) if len(found := set(counts)) == 1 else None


def _line(study: Study, variant: str, title: str, runs: Sequence[Json]) -> dict[str, Any]:
    """One line of the table, with the runs that it summarises."""
    recipes = [recipe for recipe in study.recipes if recipe.title == title]
    measures = {}
    for measure in study.measures:
        values = [figure_of(measure, run) for run in runs]
        known = [value for value in values if value is not None]
        published = recipes[0].published.get((variant, measure.name))
        measures[measure.name] = {
            "mean": statistics.fmean(known) if known else None,
            "deviation": statistics.stdev(known) if len(known) > 1 else None,  # of a sample
            "values": values,
            "rows": _count(measure, runs[0]),
            "published": published and published.to_dict(),
        }
    return {
        "model": title,
        "variant": variant,
        "recipes": [recipe.for_variant(variant).to_dict() for recipe in recipes],
        "model_parameters": runs[0]["model_parameters"],
        "measures": measures,
        "by_bucket": _by_bucket(study.task, runs),
        "runs": [
            {name: run.get(name) for name in _KEPT}
            | ({"recipe": run["recipe"]["name"]} if len(recipes) > 1 else {})
            for run in runs
        ],
    }


def _by_bucket(task: str, runs: Sequence[Json]) -> dict[str, float]:
    """The mean of the metric that was trained for, by depth, length or size, over all splits."""
    column = as_tasks(task)[0].bucket_name
    means: dict[str, list[float]] = {}
    for run in runs:
        metric = run["fit"]["metric"] if run["fit"] else run["metrics"][0]
        for report in run["splits"].values():
            for value, score in report["by"].get(column, {}).items():
                if score[metric] is not None:
                    means.setdefault(value, []).append(score[metric])
    return {value: statistics.fmean(found) for value, found in means.items()}


def figure_of(measure: Measure, run: Json) -> float | None:
    """A measure of one run of `train`, None if the run has none."""
    if measure.metric == "eureka_ratio":
        return float(run["eureka"] is not None)
    if measure.metric == "eureka_epoch":
        return run["eureka"]["epoch"] if run["eureka"] else None
    if measure.metric == "halting":
        return run["halting"][measure.split] if run["halting"] else None
    if measure.metric == "eureka_accuracy" and not run["eureka"]:
        return None
    name = "accuracy" if measure.metric == "eureka_accuracy" else measure.metric
    report = _report(measure, run)
    metric: float | None = None if report is None else report[name]
    return metric


def _report(measure: Measure, run: Json) -> Json | None:
    """The score of the rows that a measure is taken on; None if a level has no such rows."""
    report: Json = run["splits"][measure.split]
    if measure.where is None:
        return report
    column, value = measure.where
    bucket: Json | None = report["by"][column].get(str(value))
    return bucket


def _count(measure: Measure, run: Json) -> int:
    """The number of rows that a measure is taken on."""
    report = _report(measure, run)
    return 0 if report is None else report["rows"]


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
    if findings := judge(comparison):
        parts += [contrasts_markdown(findings), ""]
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
    if findings := judge(comparison):
        notes += contrasts_notes(findings)
    return captioned(title, table, [*notes, *_notes(comparison)])


def _names(comparison: Json) -> list[str]:
    """What names a line: its model and, if there are several variants, its variant."""
    several = len({model["variant"] for model in comparison["models"]}) > 1
    return ["model", "variant"] if several else ["model"]


def _seconds(model: Json) -> str:
    """The mean time of a model's runs, `-` if there was nothing to train."""
    seconds = statistics.fmean(run["seconds"] for run in model["runs"])
    if not any(run["steps"] for run in model["runs"]):
        return "-"
    return "<1" if seconds < 1 else f"{seconds:,.0f}"


def _notes(comparison: Json) -> list[str]:
    """How the figures were measured."""
    seeds = comparison["seeds"]
    notes = [
        f"`{comparison['command']}`: "
        f"{'one seed' if seeds == 1 else f'mean and standard deviation of {seeds} seeds'}.",
        f"{made_with(comparison)}.",
        f"{comparison['precision']}; all runs together {comparison['run_seconds']:,.0f} s.",
    ]
    if comparison["profile"] == "quick":
        notes.insert(0, QUICK_NOTE)
    if unlike := [*data_differences(comparison), *other_departures(comparison)]:
        notes.insert(0, f"Other than in the paper: {'; '.join(unlike)}.")
    return notes


def made_with(comparison: Json) -> str:
    """The machine and the code that the runs were made with; all of them, if there are several.

    Files of older versions name the machine of the first run, and no commit.
    """
    found: dict[str, None] = {}
    for run in (run for model in comparison["models"] for run in model["runs"]):
        machine = run.get("machine") or comparison["machine"]
        code, _, dirty = (run.get("commit") or "").partition("-")
        words = f"{machine['gpu'] or machine['processor']}, PyTorch {machine['torch']}, "
        words += f"synthbench {run.get('synthbench') or comparison['synthbench']}"
        words += f" at commit {code[:7]}" if code else ""
        found[words + (" with changes" if dirty else "")] = None
    return "; ".join(found)


def headings(measure: Json, comparison: Json) -> list[str]:
    """The heading of a measure's column, and of the paper's beside it if it has any figure."""
    published = (model["measures"][measure["name"]]["published"] for model in comparison["models"])
    return [heading(measure), *["paper"] * any(published)]


def of_one_run(figure: Json) -> bool:
    """Whether a single run has this figure, so that nothing is known of its spread."""
    return sum(value is not None for value in figure["values"]) == 1


def ours_and_theirs(measure: Json, model: Json) -> tuple[str, str]:
    """A model's figure for a measure and the paper's, as tables show them.

    Ours says so if one of several runs has it.
    """
    figure = model["measures"][measure["name"]]
    published = figure["published"]
    ours = cell(measure["metric"], figure, len(figure["values"]))
    if len(figure["values"]) > 1 and of_one_run(figure):
        ours += f" ({ONE_RUN})"
    return ours, cell(measure["metric"], published, published and published["runs"])


def fit_cell(model: Json) -> str:
    """How well a model's runs have learned their training rows; empty if they learned nothing."""
    return ", ".join(fit_words(model))


def fit_words(model: Json) -> list[str]:
    """The figure of `fit_cell`, then remarks if not all runs are fitted.

    `model` may have the result of a run of twice the steps as `doubled`, with its `steps`, the
    share of training rows that it and the shorter run (`single`) have learned, and whether it was
    trained on `other_rows`.
    """
    fits = [run["fit"] for run in model["runs"] if run["fit"]]
    if not fits:
        return [""]
    metric, runs = fits[0]["metric"], len(fits)
    figure = {"mean": statistics.fmean(fit["chosen"] for fit in fits), "deviation": None}
    words = [cell(metric, figure, None)]
    if unfitted := sum(fit["state"] != FITTED for fit in fits):
        which = "" if unfitted == runs else f"{unfitted} of {runs} "
        seen = ""
        if longer := model.get("doubled"):
            single, double = longer["single"], longer["doubled"]
            remark = f" {UNFINISHED}" * rises(longer) + " on other rows" * longer["other_rows"]
            seed = f"one seed{remark}{', share of the variance' * (metric == 'mse')}"
            seen = f" ({seed}: {single:.3f}, in {longer['steps']:,} steps {double:.3f})"
        steps = max(run["steps"] for run in model["runs"])
        words.append(f"{which}{NOT_FITTED} in {steps:,} steps{seen}")
    return words
