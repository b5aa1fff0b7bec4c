"""All results at a glance: a matrix of models and tasks, and a small curve for every model."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from chance import chance
from gallery import by_bucket, by_size, curve_anchor, ends
from results import drawn_models
from shapes import line, svg, text

from synthbench.tasks.registry import task as make_task
from synthbench.training.cells import ONE_RUN, fit_words, of_one_run
from synthbench.training.contrasts import NO_SHARES
from synthbench.training.paper_size import task_differences

Line = Mapping[str, Any]
Comparison = Mapping[str, Any]
#: A panel's axes, in pixels; its curve is drawn over the whole width.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 190, 132, 26, 182, 26, 108
#: From this ratio of the last place to the first, the scale is logarithmic.
_WIDE = 16
#: Marks a figure of a single run.
_SINGLE = "\u2020"
#: At most so many columns of a matrix fit on a page.
_COLUMNS = 15
#: Names from this length on are written smaller.
_LONG = 26


# The matrix.


def matrices(comparisons: Sequence[Comparison]) -> str:
    """All tasks in as many matrices as are needed for none to be wider than its page."""
    parts: list[list[Comparison]] = [[]]
    for _, group in itertools.groupby(comparisons, lambda one: one["task"]):
        of_task = list(group)
        if parts[-1] and len(_columns([*parts[-1], *of_task])) > _COLUMNS:
            parts.append([])
        parts[-1] += of_task
    return "\n\n".join(map(matrix, parts))


def matrix(comparisons: Sequence[Comparison], curves: str = "../gallery/{task}.html") -> str:
    """Accuracy beyond what was trained on, as HTML: a row a model, a column a task and variant.

    The first row has what a guess scores.

    Args:
        comparisons: what `reproduce` wrote.
        curves: the page that has the curves of a task; empty: the same page.
    """
    columns = _columns(comparisons)
    found: dict[tuple[str, tuple[str, ...]], tuple[Comparison, Line]] = {}
    for key, lines in columns.items():
        for comparison, entry in lines:  # the main study comes first
            found.setdefault((entry["model"], key), (comparison, entry))
    models = sorted(
        dict.fromkeys(model for model, _ in found),
        key=lambda model: -sum(model == other for other, _ in found),
    )
    tasks = [(task, len(list(group))) for task, group in itertools.groupby(columns, _task_of)]
    head = "".join(f'<th colspan="{width}"><b>{escape(task)}</b></th>' for task, width in tasks)
    below = "".join(f"<th>{_column_head(key, columns)}</th>" for key in columns)
    rows = [_guesses(columns)]
    for model in models:
        cells = (
            _cell(*found[model, key], curves) if (model, key) in found else "<td></td>"
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
    for one in comparisons:
        measure = _beyond(one)
        for entry in one["models"]:
            known = measure and entry["measures"][measure]["mean"] is not None
            trial = re.search(r"-0\.\d+$", entry["model"])
            trial = trial or any(run["searched"] for run in entry["runs"])
            if known and not trial and all(run.get("fit") for run in entry["runs"]):
                data = json.dumps(one["data"]["parameters"], sort_keys=True)
                key = (one["task"], entry["variant"], one["profile"], data)
                columns.setdefault(key, []).append((one, entry))
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


def _cell(comparison: Comparison, entry: Line, curves: str) -> str:
    """A figure in its colour, with its marks; it leads to the curves, if the variant has any.

    The cell of a model that has not learned its training rows is grey and has no figure, except
    where Eureka-moments are counted.
    """
    measure = _beyond(comparison)
    figure = entry["measures"][measure]
    _, *states = fit_words(entry)
    told = [f"{entry['model']} on {comparison['task']}, {entry['variant']}, {measure}", *states]
    if entry not in drawn_models(comparison):
        return f'<td class="unlearned" title="{escape("; ".join(told))}"></td>'
    single = of_one_run(figure)
    told += [ONE_RUN] * single
    if figure["published"]:
        told.append(f"paper: {figure['published']['mean']:.2f}")
    mark = "*" * bool(states) + _SINGLE * single
    have, runs = sum(value is not None for value in figure["values"]), len(figure["values"])
    share = f" <small>{have}/{runs}</small>" if have < runs else ""
    shown = f'title="{escape("; ".join(told))}">{figure["mean"]:.2f}{mark}{share}'
    page = curves.format(task=comparison["task"])
    place = f"{page}#{curve_anchor(comparison, entry['variant'])}"
    return f'<td style="--share: {figure["mean"]:.3f}"><a href="{place}" {shown}</a></td>'


def _guesses(columns: Mapping[tuple[str, ...], Any]) -> str:
    """A row of the matrix: what a guess scores."""
    cells = []
    for (_, variant, *_), ((comparison, _), *_) in columns.items():
        share = chance(comparison, variant, str(_beyond(comparison)))
        cells.append(f'<td style="--share: {share:.3f}">{share:.2f}</td>')
    return f"<tr><th>chance</th>{''.join(cells)}</tr>"


# Small curves.


def panels(comparisons: Sequence[Comparison]) -> str:
    """The curve of every model over depth, length or size, beside the paper's figures, in HTML."""
    return "\n\n".join(part for one in comparisons for part in _panels_of(one))


def _panels_of(comparison: Comparison) -> Iterator[str]:
    """For each variant a heading, and a panel a model."""
    task = make_task(comparison["task"], **comparison["data"]["parameters"])
    for variant in dict.fromkeys(entry["variant"] for entry in comparison["models"]):
        models = [entry for entry in drawn_models(comparison) if entry["variant"] == variant]
        curves = by_bucket(models) or by_size(models)
        if not curves:
            continue
        several = [variant] * (len(task.variants) > 1)
        title = ", ".join([comparison["task"], *several, f"profile {comparison['profile']}"])
        if comparison["study"] != "main":
            title += f", study {comparison['study']}"
        _, trained = ends(task, task.splits[0])
        if task_differences(comparison):  # the paper's figures are of other rows
            models = [{**entry, "measures": {}} for entry in models]
        spans = {split.name: ends(task, split) for split in task.splits}
        drawn = [_panel(one, curves[one["model"]][0], trained, spans) for one in models]
        place = f"../gallery/{comparison['task']}.html#{curve_anchor(comparison, variant)}"
        axis = task.bucket_name.replace("_", " ")
        yield f'<p class="panels"><a href="{place}">{escape(title)}</a>, by {escape(axis)}</p>'
        yield f'<div class="panels">{"".join(drawn)}</div>'


def _panel(
    entry: Line,
    points: Sequence[tuple[float, float]],
    trained: float,
    spans: Mapping[str, tuple[float, float]],
) -> str:
    """One model: its curve, where training ends, and the figures of its paper."""
    low, high = points[0][0], points[-1][0]
    scale = math.log if low > 0 and high >= _WIDE * low else float

    def across(x: float) -> float:
        share = (scale(min(max(x, low), high)) - scale(low)) / ((scale(high) - scale(low)) or 1)
        return _LEFT + (_RIGHT - _LEFT) * share

    def up(y: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * y

    parts = []
    if low <= trained < high:
        width = across(trained) - _LEFT
        height = _BOTTOM - _TOP
        parts.append(
            f'<rect x="{_LEFT}" y="{_TOP}" width="{width:.1f}" height="{height}" class="band"/>'
        )
    for share in (0, 0.5, 1):
        parts += [line(_LEFT, up(share), _RIGHT, up(share), "grid")]
        parts += [text(_LEFT - 13, up(share), f"{share:g}", "small")]
    parts += [text(across(x), _BOTTOM + 13, f"{x:g}", "small") for x in (low, high)]
    path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
    parts.append(f'<polyline points="{path}" class="curve-1"/>')
    parts += _published(entry, spans, across, up)
    name = entry["model"] + _SINGLE * (len(entry["runs"]) == 1)
    kind = "left small strong" if len(name) < _LONG else "left tiny strong"
    parts.append(text(_LEFT - 20, 11, name, kind))
    return svg(_WIDTH, _HEIGHT, parts, f"Accuracy of {entry['model']}")


def _published(entry: Line, spans: Mapping[str, Any], across: Any, up: Any) -> Iterator[str]:
    """The paper's figures: a point at a size, a bar over the depths or lengths of a split."""
    for name, figure in entry["measures"].items():
        if not figure["published"]:
            continue
        y = up(figure["published"]["mean"])
        if name in spans:
            left, right = (across(x) for x in spans[name])
            yield line(left - 3, y, right + 3, y, "published")
        elif (size := name.partition("x")[0]).isdigit():
            yield f'<circle cx="{across(float(size)):.1f}" cy="{y:.1f}" r="3.4" class="published"/>'
