"""The report of a suite as JSON values: settings, lines, and what each run scored.

A line has figures only if all its runs have learned their training rows.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synthbench.training.recipes.layers import RATES, SuiteSetting
from synthbench.training.runs import Run, run_of

#: States of a line.
LEARNED, NOT_LEARNED, UNFINISHED = "learned", "not learned", "unfinished"


def row_of(result: Mapping[str, Any], setting: SuiteSetting) -> dict[str, Any]:
    """A run in the report, from the result of `train`."""
    seconds = result["seconds"]
    return {
        **_row(run_of(result, setting.study), setting),
        "seconds": seconds,
        "tokens_per_second": round(result["tokens"] / seconds) if seconds else None,
    }


def _row(run: Run, setting: SuiteSetting) -> dict[str, Any]:
    """The same from a row of the table of runs."""
    figures = {figure["measure"]: figure["value"] for figure in run["figures"]}
    recipe, steps = setting.study.recipes[0], run["steps"]
    return {
        "seed": run["seed"],
        "rate": run["recipe"].get("learning_rate", 1e-3),
        "steps": steps,
        "learned_at": steps - recipe.cooldown if steps < recipe.steps else None,
        "training": run["training"],
        "fitted": bool(run["fitted"]),
        "validation": figures.get("validation"),
        "beyond": figures["beyond"],
        "by_size": dict(run["buckets"] or {}),
        "curve": list(run["curve"] or []),
        "parameters": run["model_parameters"],
        "machine": run["machine"],
        "torch": run["torch"],
        "version": run["version"],
        "seconds": None,  # of another machine
        "tokens_per_second": None,
    }


def best_rate(rows: Sequence[Mapping[str, Any]]) -> int:
    """The place of the best of several runs, one for each rate.

    That is the run with the highest validation figure among those that have learned their training
    rows, or among all runs. Of equal runs, that with fewer steps counts, then the first.
    """

    def merit(place: int) -> tuple[Any, ...]:
        row = rows[place]
        return row["fitted"], row["validation"] or 0.0, -row["steps"]

    return max(range(len(rows)), key=merit)


def line_of(
    model: str, rows: Sequence[Mapping[str, Any]], seeds: int, tried: int, stored: bool = False
) -> dict[str, Any]:
    """A layer in a setting, from its runs at all rates.

    Args:
        model: its name.
        rows: its finished runs, those of seed 0 in the order of the rates.
        seeds: how many seeds it should have at the best rate.
        tried: how many rates it should have with seed 0.
        stored: whether the runs are those of the package.
    """
    first = [row for row in rows if row["seed"] == 0]
    best = first[best_rate(first)]["rate"] if first else None
    runs = sorted((row for row in rows if row["rate"] == best), key=lambda row: row["seed"])
    learned = sum(row["fitted"] for row in runs)
    finished = len(runs) >= seeds and len(first) >= tried
    state = UNFINISHED if not finished else LEARNED if learned == len(runs) else NOT_LEARNED
    figures = [row["beyond"] for row in runs]
    counts = state == LEARNED
    return {
        "model": model,
        "stored": stored,
        "state": state,
        "learned": learned,
        "seeds": len(runs),
        "rate": best,
        "rates": [row["rate"] for row in first],
        "parameters": runs[0]["parameters"] if runs else None,
        "mean": statistics.fmean(figures) if counts else None,
        "low": min(figures) if counts else None,
        "high": max(figures) if counts else None,
        "by_size": _by_size(runs) if counts else {},
        "steps": round(statistics.fmean(row["steps"] for row in runs)) if runs else None,
        "seconds": _mean(runs, "seconds"),
        "tokens_per_second": _mean(runs, "tokens_per_second"),
        "runs": list(rows),
    }


def _mean(runs: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [run[name] for run in runs if run[name] is not None]
    return round(statistics.fmean(values), 1) if values else None


def _by_size(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean figure by length or other size, or by step where rows have one size."""
    by_size: dict[str, list[float]] = {}
    for run in runs:
        points = run["by_size"] or {
            str(point["step"]): point["accuracy"]
            for point in run["curve"]
            if point["split"] == "test"
        }
        for size, value in points.items():
            by_size.setdefault(size, []).append(value)
    return {size: statistics.fmean(values) for size, values in by_size.items()}


def setting_of(setting: SuiteSetting, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A setting with its lines."""
    study = setting.study
    return {
        "name": setting.name,
        "title": study.title,
        "task": study.task,
        "variant": study.variants[0],
        "parameters": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in study.parameters.items()
        },
        "metric": study.measures[-1].metric,
        "steps": study.recipes[0].steps,
        "size": study.tasks()[0].bucket_name,
        "pass": setting.passed,
        "fail": setting.failed,
        "models": list(lines),
    }


def stored_lines(runs: Iterable[Run], setting: SuiteSetting) -> list[dict[str, Any]]:
    """The lines of the baselines in the table of runs that the package ships."""
    study = setting.study
    recipes = {recipe.name: recipe for recipe in study.recipes}
    by_model: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for run in runs:
        if (run["task"], run["study"], run["profile"]) == (study.task, study.name, study.profile):
            recipe = recipes[run["model"]]
            place = list(recipes).index(run["model"])
            by_model.setdefault(recipe.model, []).append((place, _row(run, setting)))
    lines = []
    for model in dict.fromkeys(recipe.model for recipe in study.recipes):
        if rows := by_model.get(model):
            ordered = [
                row for _, row in sorted(rows, key=lambda entry: (entry[0], entry[1]["seed"]))
            ]
            lines.append(line_of(model, ordered, seeds=1, tried=1, stored=True))
    return lines


def stored_report(runs: Iterable[Run], settings: Iterable[SuiteSetting]) -> dict[str, Any]:
    """The report of the baselines alone."""
    every = list(runs)
    reports = [setting_of(setting, stored_lines(every, setting)) for setting in settings]
    return {
        "suite": "layers",
        "profile": "cpu",
        "width": 64,
        "precision": "float32",
        "rates": list(RATES),
        "settings": [report for report in reports if report["models"]],
    }
