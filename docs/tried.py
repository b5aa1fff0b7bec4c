"""The page *Every size tried* and the budget of tuning, from the table of runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from synthbench.tasks.registry import task_class
from synthbench.text.tables import Table
from synthbench.training.cells import number
from synthbench.training.paper_size import as_typed
from synthbench.training.recipes import STUDIES
from synthbench.training.runs import Run, setting_of

_METRICS = {
    (study.task, measure.name): measure.metric for study in STUDIES for measure in study.measures
}


def tried_section(runs: Iterable[Run]) -> str:
    """All runs in Markdown: a table for each size, with a row for each setting and version."""
    sizes: dict[str, dict[tuple[str, ...], list[Run]]] = {}
    for run in trained(runs):
        place = (run["model"], setting_of(run), _made_with(run))
        sizes.setdefault(_title(run), {}).setdefault(place, []).append(run)
    parts = []
    for title, lines in sorted(sizes.items()):
        parts += [f"## {title}", _table([lines[place] for place in sorted(lines)])]
    return "\n\n".join(parts)


def budget_section(runs: Iterable[Run]) -> str:
    """The tuning of every model: settings, runs and steps, by task and model."""
    models: dict[tuple[str, str], list[Run]] = {}
    for run in trained(runs):
        models.setdefault((run["task"], run["model"]), []).append(run)
    lines = []
    for (task, model), group in sorted(models.items()):
        settings = len(set(map(setting_of, group)))
        steps = sum(run["steps"] or 0 for run in group)
        lines.append([f"`{task}`", f"`{model}`", f"{settings}", f"{len(group)}", f"{steps:,}"])
    head = ["task", "model", "settings", "runs", "steps of all runs"]
    return Table(head, lines, right=range(2, 5)).markdown()


def trained(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """The runs with something to learn, each once, without learning rates in names of models.

    A run may belong to two studies, one of them a study of learning rates.
    """
    distinct: dict[str, dict[str, Any]] = {}
    for run in runs:
        rate = run["recipe"].get("learning_rate", 1e-3)
        recipe = {name: value for name, value in run["recipe"].items() if name != "name"}
        plain = {**run, "model": run["model"].removesuffix(f"-{rate:g}"), "recipe": recipe}
        figures = [[figure["measure"], figure["value"]] for figure in run["figures"]]
        known = json.dumps([setting_of(plain), run["seed"], run["learned"], figures])
        if run["steps"] != 0:
            distinct.setdefault(known if run["study"] else f"{known} {len(distinct)}", plain)
    return list(distinct.values())


def _table(lines: Sequence[Sequence[Run]]) -> str:
    """The settings of one size."""
    measures = list(
        dict.fromkeys(
            figure["measure"] for runs in lines for run in runs for figure in run["figures"]
        )
    )
    head = ["model", "steps", "runs", "training rows", *measures, "recipe", "made with"]
    rows = []
    for runs in lines:
        first, notes = runs[0], dict.fromkeys(run["note"] for run in runs if run["note"])
        cells = [f"`{first['model']}`", "" if first["steps"] is None else f"{first['steps']:,}"]
        cells += [f"{len(runs)}", _fit(runs), *(_figure(runs, measure) for measure in measures)]
        rows.append([*cells, _recipe(first), "; ".join([_made_with(first), *notes])])
    return Table(head, rows, right=range(1, 4 + len(measures))).markdown()


def _made_with(run: Run) -> str:
    if run["source"]:
        return str(run["source"])
    commit = f" at commit {run['commit'][:7]}" if run["commit"] else ""
    return f"synthbench {run['version']}{commit}"


def _title(run: Run) -> str:
    """A size in words: its differences from the task as its paper describes it."""
    words = [f"{name} {_plain(value)}" for name, value in run["parameters"].items()]
    words += ["fresh rows"] * bool(run["stream"])
    words += [f"{count:,} rows of {split}" for split, count in run["rows"].items()]
    variant = f" {run['variant']}" if len(task_class(run["task"]).variants) > 1 else ""
    return f"{run['task']}{variant}: {', '.join(words) or 'the task as it is'}"


def _fit(runs: Sequence[Run]) -> str:
    shares = [run["learned"] for run in runs if run["learned"] is not None]
    states = [run["fitted"] for run in runs if run["fitted"] is not None]
    words = [f"{statistics.fmean(shares):.3f}"] if shares else []
    if unfitted := states.count(False):
        words.append("not fitted" if unfitted == len(runs) else f"{unfitted} not fitted")
    elif states:
        words.append("fitted")
    return ", ".join(words)


def _figure(runs: Sequence[Run], measure: str) -> str:
    figures = [figure for run in runs for figure in run["figures"] if figure["measure"] == measure]
    values = [figure["value"] for figure in figures if figure["value"] is not None]
    if not values:
        return ""
    metric = _METRICS.get((runs[0]["task"], measure), "accuracy")
    if metric == "eureka_ratio":
        return f"{sum(values):.0f}/{len(values)}"
    return number(metric, statistics.fmean(values))


def _recipe(run: Run) -> str:
    """The fields and options of a recipe, as after `--recipe` and `--option`."""
    fields = {k: v for k, v in run["recipe"].items() if k not in ("model", "options")}
    words = [f"{k}={_plain(v)}" for k, v in (fields | run["recipe"]["options"]).items()]
    return f"`{' '.join(words)}`" if words else ""


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return as_typed([_plain(entry) if isinstance(entry, float) else entry for entry in value])
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("True", "true")
