"""All results at a glance: a matrix of models and tasks."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from chance import chance
from curves import curve_anchor, has_curves
from results import drawn_models

from synthbench.tasks.registry import task as make_task
from synthbench.training.cells import ONE_RUN, fit_words, of_one_run
from synthbench.training.contrasts import NO_SHARES
from synthbench.training.paper_size import task_differences

Line = Mapping[str, Any]
Comparison = Mapping[str, Any]
#: Marks a figure of a single run.
_SINGLE = "\u2020"
#: At most so many columns of a matrix fit on a page.
_COLUMNS = 15


def matrices(comparisons: Sequence[Comparison]) -> str:
    """All tasks in as many matrices as are needed for none to be wider than its page."""
    parts: list[list[Comparison]] = [[]]
    for _, group in itertools.groupby(comparisons, lambda comparison: comparison["task"]):
        of_task = list(group)
        if parts[-1] and len(_columns([*parts[-1], *of_task])) > _COLUMNS:
            parts.append([])
        parts[-1] += of_task
    return "\n\n".join(map(matrix, parts))


#: Small studies of a paper's explanations, which are on the paper's page.
_OF_PAPERS = ("doubly-normalised", "readout", "steps", "commonest", "large-grids")


def matrix(comparisons: Sequence[Comparison], curves: str = "tasks/{task}.html") -> str:
    """Accuracy beyond what was trained on, as HTML: a row a model, a column a task and variant.

    The first row has what a guess scores.

    Args:
        comparisons: what `reproduce` wrote.
        curves: the page that has the curves of a task; empty: the same page.
    """
    columns = _columns(comparisons)
    entries: dict[tuple[str, tuple[str, ...]], tuple[Comparison, Line]] = {}
    for key, lines in columns.items():
        for comparison, entry in lines:  # the main study comes first
            entries.setdefault((entry["model"], key), (comparison, entry))
    models = sorted(
        dict.fromkeys(model for model, _ in entries),
        key=lambda model: -sum(model == other for other, _ in entries),
    )
    tasks = [(task, len(list(group))) for task, group in itertools.groupby(columns, _task_of)]
    head = "".join(f'<th colspan="{width}"><b>{escape(task)}</b></th>' for task, width in tasks)
    below = "".join(f"<th>{_column_head(key, columns)}</th>" for key in columns)
    rows = [_guesses(columns)]
    for model in models:
        cells = (
            _cell(*entries[model, key], curves) if (model, key) in entries else "<td></td>"
            for key in columns
        )
        rows.append(f"<tr><th><code>{escape(model)}</code></th>{''.join(cells)}</tr>")
    return (
        f'<div class="matrix"><table class="matrix"><thead><tr><th></th>{head}</tr>'
        f"<tr><th></th>{below}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _task_of(key: tuple[str, ...]) -> str:
    return key[0]


def _columns(comparisons: Sequence[Comparison]) -> dict[tuple[str, ...], list[Any]]:
    """Trained models that have an accuracy beyond training, by task, variant, profile and data.

    Models named after a learning rate, such as `lstm-0.001`, and sizes that were searched are left
    out.
    """
    columns: dict[tuple[str, ...], list[Any]] = {}
    for comparison in comparisons:
        if comparison["study"] in _OF_PAPERS:
            continue
        measure = _beyond(comparison)
        for entry in comparison["models"]:
            known = measure and entry["measures"][measure]["mean"] is not None
            trial = re.search(r"-0\.\d+$", entry["model"])
            trial = trial or any(run["searched"] for run in entry["runs"])
            if known and not trial and all(run.get("fit") for run in entry["runs"]):
                data = json.dumps(comparison["data"]["parameters"], sort_keys=True)
                key = (comparison["task"], entry["variant"], comparison["profile"], data)
                columns.setdefault(key, []).append((comparison, entry))
    return columns


def _beyond(comparison: Comparison) -> str | None:
    """The share that is the comparison's headline beyond training."""
    for measure in comparison["measures"]:
        if measure["headline"] == "out" and measure["metric"] not in NO_SHARES:
            return str(measure["name"])
    return None


def _column_head(key: tuple[str, ...], columns: Mapping[tuple[str, ...], Any]) -> str:
    """What tells the column from others of the same task, and its measure.

    A mark says that the task differs from the paper's.
    """
    name, variant, profile, _ = key
    of_task = [other for other in columns if other[0] == name]
    comparison = columns[key][0][0]
    words = []
    if len({other[1] for other in of_task}) > 1 or len(make_task(name).variants) > 1:
        words.append(variant)
    words += [profile] * (len({other[2] for other in of_task}) > 1)
    if sum(other[:3] == key[:3] for other in of_task) > 1:
        words.append(comparison["study"])
    lines = [*map(escape, [*words, _beyond(comparison) or ""])]
    if unlike := task_differences(comparison):
        lines.append(f'<abbr title="{escape(", ".join(unlike))}">\u2260 paper</abbr>')
    return "<br>".join(lines)


def learned_figures(comparisons: Sequence[Comparison]) -> list[float]:
    """The figures of all cells of models that have learned their training rows."""
    return [
        drawn["measures"][_beyond(comparison)]["mean"]
        for lines in _columns(comparisons).values()
        for comparison, entry in lines
        if (drawn := _drawn(comparison, entry))
    ]


def _drawn(comparison: Comparison, entry: Line) -> Line | None:
    """The runs of a model that count, None if it has not learned its training rows."""
    place = entry["model"], entry["variant"]
    lines = (line for line in drawn_models(comparison) if (line["model"], line["variant"]) == place)
    return next(lines, None)


def _cell(comparison: Comparison, entry: Line, curves: str) -> str:
    """A figure in its colour, with its marks; it leads to the curves, if the variant has any.

    The cell of a model that has not learned its training rows is grey and has no figure.
    """
    measure = _beyond(comparison)
    _, *states = fit_words(entry)
    words = [f"{entry['model']} on {comparison['task']}, {entry['variant']}, {measure}", *states]
    drawn = _drawn(comparison, entry)
    if drawn is None:
        return f'<td class="unlearned" title="{escape("; ".join(words))}"></td>'
    figure, runs = drawn["measures"][measure], len(entry["runs"])
    single = of_one_run(figure)
    words += [ONE_RUN] * single
    if figure["published"]:
        words.append(f"paper: {figure['published']['mean']:.2f}")
    have = sum(value is not None for value in figure["values"])
    share = f" <small>{have}/{runs}</small>" if have < runs else ""
    shown = f'title="{escape("; ".join(words))}">{figure["mean"]:.2f}{_SINGLE * single}{share}'
    place, variant = curves.format(task=comparison["task"]), entry["variant"]
    if has_curves(comparison, variant):
        place += f"#{curve_anchor(comparison, variant)}"
    return f'<td style="--share: {figure["mean"]:.3f}"><a href="{place}" {shown}</a></td>'


def _guesses(columns: Mapping[tuple[str, ...], Any]) -> str:
    """A row of the matrix: what a guess scores."""
    cells = []
    for (_, variant, *_), ((comparison, _), *_) in columns.items():
        share = chance(comparison, variant, str(_beyond(comparison)))
        cells.append(f'<td style="--share: {share:.3f}">{share:.2f}</td>')
    return f"<tr><th>chance</th>{''.join(cells)}</tr>"
