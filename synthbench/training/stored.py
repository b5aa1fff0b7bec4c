"""The stored results of the papers' models: comparisons of the table of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from synthbench.training.comparison import compare
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.runs import Run, stored_runs

#: Suffix of the name of a line that was not trained by the command.
MARK = "(stored)"


def comparisons(runs: Iterable[Run], studies: Iterable[Study] = STUDIES) -> list[dict[str, Any]]:
    """The comparisons of all studies that have runs, each with the `command` that repeats it."""
    by_study: dict[tuple[str, str, str], dict[tuple[str, str], list[Run]]] = {}
    for run in runs:
        lines = by_study.setdefault((run["task"], run["study"], run["profile"]), {})
        lines.setdefault((run["variant"], run["model"]), []).append(run)
    results = []
    for study in studies:
        lines = by_study.get((study.task, study.name, study.profile), {})
        titles = dict.fromkeys(recipe.title for recipe in study.recipes)
        places = [(variant, title) for variant in study.variants for title in titles]
        if kept := {place: lines[place] for place in places if place in lines}:
            comparison = compare(study, kept)
            words = ["synthbench reproduce", study.task, f"--profile {study.profile}"]
            words += [f"--study {study.name}"] * (study.name != "main")
            seeds = comparison["seeds"]
            words += [f"--seeds {seeds}"] * (seeds != study.seeds)
            results.append({"command": " ".join(words), **comparison})
    return results


def with_stored(comparison: dict[str, Any], own: Sequence[Recipe]) -> dict[str, Any]:
    """A comparison with a line for each stored model that it has not trained.

    Stored lines are of the same study, variants, parameters, measured rows and precision. They are
    added only beside models of the user's own.
    """
    if not own:
        return comparison
    place = tuple(comparison[name] for name in _STUDY)
    runs = [run for run in stored_runs() if tuple(run[name] for name in _STUDY) == place]
    (stored,) = comparisons(runs) or (None,)
    if stored is None or _setting(stored) != _setting(comparison):
        return comparison
    trained = {(line["model"], line["variant"]) for line in comparison["models"]}
    variants = {line["variant"] for line in comparison["models"]}
    names = {measure["name"] for measure in comparison["measures"]}
    lines = [
        {**line, "model": f"{line['model']} {MARK}"}
        for line in stored["models"]
        if line["variant"] in variants
        and (line["model"], line["variant"]) not in trained
        and names <= line["measures"].keys()
    ]
    return {**comparison, "models": [*comparison["models"], *lines]}


_STUDY = ("task", "study", "profile")


def _setting(comparison: dict[str, Any]) -> tuple[Any, ...]:
    """The setting that figures of one table have in common."""
    rows = {measure["name"]: measure["rows"] for measure in comparison["measures"]}
    parameters = comparison["data"]["parameters"]
    return parameters, comparison["data"]["stream"], comparison["precision"], rows
