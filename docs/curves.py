"""Curves of trained models over depth, length, size or steps, from comparisons."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from charts import Curve, line_chart
from results import drawn_models
from shapes import MOST_CURVES

from synthbench.sampling.preview import sample_rows
from synthbench.tasks.base import Split, Task
from synthbench.tasks.registry import task as make_task

#: At most so many places of an axis have a label each.
_LABELLED = 16
#: So many models may have two curves each.
_FEW = 2


def charts(comparison: Mapping[str, Any]) -> Iterator[str]:
    """Accuracy by size, depth or length where it was measured, else by training step.

    Models that have not learned their training rows are not drawn.
    """
    task = make_task(comparison["task"], **comparison["data"]["parameters"])
    fitted = drawn_models(comparison)
    variants = dict.fromkeys(line["variant"] for line in comparison["models"])
    for variant in variants:
        models = [line for line in fitted if line["variant"] == variant]
        where = f", {variant}" if len(variants) > 1 else ""
        # So many curves can be told apart.
        parts = [models[n : n + MOST_CURVES] for n in range(0, len(models), MOST_CURVES)]
        drawn = "".join(filter(None, (_chart(task, part, where) for part in parts)))
        if drawn:
            yield f'<div id="{curve_anchor(comparison, variant)}">{drawn}</div>'


def _chart(task: Task, models: Sequence[Mapping[str, Any]], where: str) -> str | None:
    """The curves of a few models; None if nothing was measured that makes a curve."""
    if series := by_bucket(models) or by_size(models):
        ticks = sorted({x for (curve,) in series.values() for x, _ in curve})
        _, longest = ends(task, task.splits[0])
        trained_to = longest if longest < ticks[-1] else None
        shown = ticks if len(ticks) <= _LABELLED else ()
        kind = task.bucket_name.replace("_", " ")
        return line_chart(series, kind + where, ticks=shown, trained_to=trained_to)
    if series := by_step(models):
        return line_chart(series, f"step of training{where}")
    return None


def has_curves(comparison: Mapping[str, Any], variant: str) -> bool:
    """True if something was measured of a variant that makes a curve."""
    models = [line for line in drawn_models(comparison) if line["variant"] == variant]
    return bool(by_bucket(models) or by_size(models) or by_step(models))


def curve_anchor(comparison: Mapping[str, Any], variant: str) -> str:
    """The anchor of a variant's curves on the task's page."""
    return f"curves-{comparison['profile']}-{comparison['study']}-{variant}"


@functools.cache
def ends(task: Task, split: Split) -> tuple[float, float]:
    """The least and the greatest depth, length or size of a split's rows."""
    rows = sample_rows(task, split.name, len(split.buckets))  # one of each bucket
    places = [row[task.bucket_name] for row in rows]
    return min(places), max(places)


def by_size(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The measures that are named after a size, such as `6x6`."""
    series: dict[str, list[Curve]] = {}
    for model in models:
        points = [
            (float(size[1]), figure["mean"])
            for name, figure in model["measures"].items()
            if (size := re.fullmatch(r"(\d+)x\1", name))
        ]
        if points:
            series[model["model"]] = [points]
    return series


def by_bucket(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The score of each depth or length, over all evaluation splits, where it was noted.

    Buckets that are ranges have no place on an axis.
    """
    return {
        model["model"]: [sorted((float(key), score) for key, score in buckets.items())]
        for model in models
        if (buckets := model.get("by_bucket"))
        and all(re.fullmatch(r"-?\d+(\.\d+)?", key) for key in buckets)
    }


def by_step(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The accuracy that training watched, of every run; of few models also that on train."""
    series: dict[str, list[Curve]] = {}
    for model in models:
        for split in ("test", "validation", *["train"] * (len(models) <= _FEW)):
            curves = [
                [
                    (point["step"], point["accuracy"])
                    for point in run["curve"]
                    if point["split"] == split
                ]
                for run in model["runs"]
            ]
            if kept := [curve for curve in curves if curve]:
                series[f"{model['model']}, {split}"] = kept
    return series
