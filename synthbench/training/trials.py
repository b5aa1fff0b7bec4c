"""Trials: every setting that was trained, with the figures of its runs, whatever they show.

A trial is a dict of JSON values:

- `task`, `variant` and `model`, the line of a table;
- `parameters` and `rows` of splits, as far as they differ from the task's own, and `stream`,
  whether training was on fresh rows (None if that is not known);
- `recipe`: fields and options that differ from those that a recipe has if nothing is said, and the
  `precision` if it is not float32;
- `runs`: of each run its `seed`, the share of its `training` rows that it has learned, whether it
  is `fitted` (each None if that was not noted), and its `figures` by measure;
- `source`: where the figures stand or stood, its `date`, and a `note` if words are needed.

`python -m benchmarks tried` collects them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.output import OutputDirectory
from synthbench.errors import SynthbenchError
from synthbench.tasks.registry import task_from
from synthbench.training.comparison import figure_of
from synthbench.training.recipes import find_study
from synthbench.training.recipes.base import Recipe
from synthbench.training.stored import MARK
from synthbench.training.train_fit import FITTED, LEARNED, learned_share

#: A trial, a comparison or a result, as JSON values.
Json = Mapping[str, Any]
#: What makes a setting; trials of one setting differ in source and runs.
_SETTING = ("task", "variant", "model", "parameters", "rows", "stream", "recipe")
#: The fields of a recipe that a trial has, and the values that go without saying.
_OTHERS = (
    "name", "options", "by_variant", "variant_steps", "published", "line", "log_gradients"
)  # fmt: skip
_UNSAID = {
    field.name: None if field.default is dataclasses.MISSING else field.default
    for field in dataclasses.fields(Recipe)
    if field.name not in _OTHERS
} | {"precision": "float32"}
#: Fields that a longer run of the same recipe changes.
_LENGTH = ("steps", "validate_every")
#: From this day on some streams have other rows of the same distribution.
_NEW_ROWS = "2026-11-26"
#: Digits of a figure that are kept.
_DIGITS = 6


def from_comparison(comparison: Json, source: str, date: str) -> list[dict[str, Any]]:
    """The trials of a comparison of `reproduce`, one for each recipe that it has trained."""
    data, found = comparison["data"], []
    for line in comparison["models"]:
        if not line["recipes"][0]["steps"] or line["model"].endswith(MARK):
            continue
        place = (comparison["task"], line["variant"], line["model"])
        sizes = (data["parameters"], data["rows"], data["stream"])
        for recipe in line["recipes"]:
            setting = _setting(*place, *sizes, {**recipe, "precision": comparison["precision"]})
            runs = [
                _run(run, {name: one["values"][number] for name, one in line["measures"].items()})
                for number, run in enumerate(line["runs"])
                if run.get("recipe", recipe["name"]) == recipe["name"]
            ]
            found.append({**setting, "runs": runs, "source": source, "date": date})
    return found


def from_result(result: Json, source: str, date: str) -> dict[str, Any]:
    """The trial of one run, from its `result.json`."""
    recipe = {**result["recipe"], "precision": result["precision"]}
    rows = {name: report["rows"] for name, report in result["splits"].items()}
    with contextlib.suppress(SynthbenchError):  # the dataset may have gone
        splits = DatasetDirectory.open(result["dataset"]).manifest.variants[result["variant"]]
        rows = {name: split.rows for name, split in splits.items()}
    study = find_study(result["task"], result["study"]["profile"], result["study"]["name"])
    figures = {one.name: figure_of(one, result) for one in study.measures}
    titles = {one.name: one.title for one in study.recipes}
    place = (result["task"], result["variant"], titles.get(recipe["name"], recipe["name"]))
    setting = _setting(*place, result["data"]["parameters"], rows, result["stream"], recipe)
    return {**setting, "runs": [_run(result, figures)], "source": source, "date": date}


def _setting(
    task: str, variant: str, model: str, parameters: Json, rows: Json, stream: Any, recipe: Json
) -> dict[str, Any]:
    made = task_from(task, variant)
    usual = made.parameters.to_dict()
    own = {split.name: split.rows for split in made.splits if split.evaluation or not stream}
    rate = recipe.get("learning_rate", _UNSAID["learning_rate"])
    return {
        "task": task,
        "variant": variant,
        "model": model.removesuffix(f"-{rate:g}"),  # which names have in studies of rates
        "parameters": {k: v for k, v in parameters.items() if v != usual.get(k)},
        "rows": {k: count for k, count in rows.items() if count != own.get(k, count)},
        "stream": stream,
        "recipe": {
            **{k: recipe[k] for k, value in _UNSAID.items() if recipe.get(k, value) != value},
            "options": recipe["options"],
        },
    }


def _run(run: Json, figures: Mapping[str, float | None]) -> dict[str, Any]:
    fit = run.get("fit")
    return {
        "seed": run["seed"],
        "training": _rounded(learned_share(fit)),
        "fitted": fit and fit["state"] == FITTED,
        "figures": {name: _rounded(value) for name, value in figures.items()},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def merged(trials: Iterable[Json], more: Iterable[Json]) -> list[dict[str, Any]]:
    """The trials with the runs of others that they do not have yet, ordered by task and date.

    A run is there already if one of the same setting and seed has the same figures; it takes from
    the other what it has learned, where it does not say it itself.
    """
    found = [{**trial, "runs": [dict(run) for run in trial["runs"]]} for trial in trials]
    for trial in more:
        same = [one for one in found if setting_of(one) == setting_of(trial)]
        known, new = [run for one in same for run in one["runs"]], []
        for run in trial["runs"]:
            there = next((one for one in known if _equal(run, one)), None)
            if there is None:
                new.append(run)
            else:
                there |= {k: run[k] for k in ("training", "fitted") if there[k] is None}
        at_source = [one for one in same if one["source"] == trial["source"]]
        if new and at_source:
            at_source[0]["runs"] += new
        elif new:
            found.append({**trial, "runs": new})
    return sorted(found, key=lambda one: (one["task"], one["date"], setting_of(one)))


def setting_of(trial: Json) -> str:
    """What was tried, without runs and source, as one text."""
    return json.dumps([trial[name] for name in _SETTING], sort_keys=True)


def _equal(one: Json, other: Json) -> bool:
    """Whether two runs of one setting are the same, told by all figures that both have."""
    both = one["figures"].keys() & other["figures"].keys()
    same = all(one["figures"][name] == other["figures"][name] for name in both)
    if one["seed"] != other["seed"] or not same:
        return False
    return bool(both) or one["training"] == other["training"]


def read_trials(directory: Path) -> list[dict[str, Any]]:
    """The trials of all files of a directory; none if it does not exist."""
    files = sorted(directory.glob("*.json"))
    return [trial for file in files for trial in json.loads(file.read_text(encoding="utf-8"))]


def write_trials(directory: Path, trials: Iterable[Json]) -> None:
    """Write the trials of each task to a file of its own."""
    output = OutputDirectory(directory)
    output.make()
    by_task: dict[str, list[Json]] = {}
    for trial in trials:
        by_task.setdefault(trial["task"], []).append(trial)
    for task, group in by_task.items():
        output.write_json(f"{task}.json", group)


def doubled(comparison: Json, line: Json, trials: Sequence[Json]) -> dict[str, Any] | None:
    """The run of twice the steps of a line of a comparison, as `comparison.fit_words` reads it.

    It differs from a run of that setting in its length, and in its rows if those of the stream have
    changed between the two. It has the same seed: the first of those that have not learned their
    training rows. A seed's latest run decides whether it has learned them. If that run has, the
    run stored in the comparison decides instead: the two can differ in their rows, or in how the
    share was measured.
    """
    held = comparison.get("held") or {"date": _NEW_ROWS, "same_rows": True}
    shorter = from_comparison({**comparison, "models": [line]}, "", held["date"])
    if len(shorter) != 1:  # nothing is trained, or the line has several recipes
        return None
    (short,) = shorter
    setting, but_for_length = setting_of(short), _without_length(short)
    of_task = [trial for trial in trials if trial["task"] == short["task"]]
    stored = _shares([short])
    latest = _shares([short, *(trial for trial in of_task if setting_of(trial) == setting)])
    steps = 2 * short["recipe"]["steps"]
    long = [one for one in of_task if one["recipe"].get("steps") == steps]
    longer = _shares(one for one in long if _without_length(one) == but_for_length)
    for seed in sorted(latest.keys() & longer):
        double, later = longer[seed]
        single, date = latest[seed]
        if single >= LEARNED and seed in stored:
            single, date = stored[seed]
        if single < LEARNED:
            other_rows = not held["same_rows"] and date < _NEW_ROWS <= later
            return {"steps": steps, "single": single, "doubled": double, "other_rows": other_rows}
    return None


def _shares(trials: Iterable[Json]) -> dict[int, tuple[float, str]]:
    """What the latest run of each seed has learned of its training rows, where known, and its date.

    Older ones were measured on other rows.
    """
    return {
        run["seed"]: (run["training"], trial["date"])
        for trial in trials
        for run in trial["runs"]
        if None not in (run["seed"], run["training"])
    }


def _without_length(trial: Json) -> str:
    """A setting without what a longer run changes."""
    recipe = {k: value for k, value in trial["recipe"].items() if k not in _LENGTH}
    return setting_of({**trial, "recipe": recipe})
