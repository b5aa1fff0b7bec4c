"""Accuracy by the values of two columns, such as the digits of two numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class Pairs(Figure):
    """The share of right answers for each two values, and for each value that is the larger."""

    name = "pairs"
    title = "Accuracy by two columns, in all evaluation splits"
    source = (
        "Accuracy by digits of both numbers in McLeish et al. (NeurIPS 2024), Cho et al. (2024)"
    )

    def _data(self, view: RunView) -> dict[str, Any]:
        metric, cells = view.form.metric, {}
        columns: tuple[str, ...] = ()
        for breakdown in filter(lambda breakdown: breakdown.across, view.task.group_by):
            columns = breakdown.columns
            for report in view.result["splits"].values():
                for pair, score in report["by"].get(breakdown.name, {}).items():
                    first, second = map(int, breakdown.values(pair))
                    cells[first, second] = score["rows"], score[metric]
        if not cells:
            raise Unavailable(f"task {view.task.name} has no table by two columns")
        larger: dict[int, list[tuple[int, float]]] = {}
        for pair in sorted(cells):
            larger.setdefault(max(pair), []).append(cells[pair])
        at = sorted(larger)
        return {
            "metric": metric,
            "columns": list(columns),
            "cells": [[*pair, *cells[pair]] for pair in sorted(cells)],
            "at": at,
            "mean": numbers([_mean(larger[value]) for value in at]),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        first, second = data["columns"]
        curve, grid = panels(canvas, 2, width=5.0, height=4.0)
        curve.plot(data["at"], data["mean"])
        curve.set_ylim(-0.02, 1.02)
        curve.set_xlabel(f"the larger of {first} and {second}")
        curve.set_ylabel(data["metric"])
        downwards, across = (sorted({cell[place] for cell in data["cells"]}) for place in (0, 1))
        values = [[math.nan] * len(across) for _ in downwards]
        for row, column, _, share in data["cells"]:
            values[downwards.index(row)][across.index(column)] = share
        image = grid.imshow(values, cmap="viridis", vmin=0, vmax=1, origin="lower")
        grid.set_xticks(range(len(across)), map(str, across), fontsize=6)
        grid.set_yticks(range(len(downwards)), map(str, downwards), fontsize=6)
        grid.set_xlabel(second)
        grid.set_ylabel(first)
        canvas.colorbar(image, ax=grid, shrink=0.8)


def _mean(scores: list[tuple[int, float]]) -> float:
    """The mean of shares of rows, each as often as it has rows."""
    return sum(rows * share for rows, share in scores) / sum(rows for rows, _ in scores)
