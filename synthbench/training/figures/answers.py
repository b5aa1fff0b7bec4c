"""Figures of a model's answers: predicted against true counts, points that move."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from synthbench.training.figures.figure import Figure, numbers, panels, panels_in_order
from synthbench.training.figures.view import Unavailable, View
from synthbench.training.objectives import OBJECTIVES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class Counts(Figure):
    """The counts that a model predicts for coloured cells, against the true ones, by size."""

    name = "counts"
    title = "Predicted against true counts of coloured cells"
    source = "Counting, figures 2, 3, 5 and 6"

    def _data(self, view: View) -> dict[str, Any]:
        if view.encoding.target != "counts":
            raise Unavailable(f"task {view.task.name} does not count")
        objective = OBJECTIVES["counts"]()
        cells: dict[int, Counter[tuple[int, int]]] = {}
        for taken in view.passes(len(view.rows)):
            answers = objective.answers(taken.output.scores, taken.batch)
            grids = zip(taken.batch.inputs.tolist(), taken.batch.targets.tolist(), strict=True)
            for answer, (colors, counts) in zip(answers, grids, strict=True):
                side = round(len(answer) ** 0.5)
                pairs = zip(colors, counts, answer, strict=False)  # answer has no padding
                found = ((int(true), int(said)) for color, true, said in pairs if color)
                cells.setdefault(side, Counter()).update(found)
        return {
            "split": view.split,
            "sizes": {
                str(side): [[true, said, n] for (true, said), n in sorted(cells[side].items())]
                for side in sorted(cells)
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        sizes = data["sizes"]
        every = panels_in_order(canvas, len(sizes), 3.0, 3.0)
        for axes, (side, cells) in zip(every, sizes.items(), strict=True):
            true, said, n = np.array(cells).T
            axes.scatter(true, said, s=2 + 40 * n / n.max(), alpha=0.6, linewidths=0)
            axes.plot([0, true.max()], [0, true.max()], color="0.6", linewidth=0.8)
            right = n[true == said].sum() / n.sum()
            axes.set_title(f"{side}x{side}: {right:.1%} right", fontsize=8)
            axes.set_xlabel("true", fontsize=7)
            axes.set_ylabel("predicted", fontsize=7)
            axes.tick_params(labelsize=7)


class Points(Figure):
    """A row's points after each step of attention."""

    name = "points"
    title = "The points of one row after each step"
    source = "DNAS, figures 6, 8 and 9"

    def _data(self, view: View) -> dict[str, Any]:
        if view.encoding.form != "points":
            raise Unavailable(f"task {view.task.name} has no points")
        row = view.table(view.row + 1)[view.row]
        places = [view.shown.batch.inputs[0], *view.maps("hidden")]
        return {
            "split": view.split,
            "row": view.row,
            "cluster": row["cluster"],
            "steps": [numbers(points) for points in places],
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps = [np.array(points) for points in data["steps"]]
        (line,) = panels(canvas, 1, len(steps), 2.6, 2.8)
        for number, (axes, points) in enumerate(zip(line, steps, strict=True)):
            axes.scatter(points[:, 0], points[:, 1], c=data["cluster"], s=4, cmap="coolwarm")
            axes.set_xlim(steps[0][:, 0].min(), steps[0][:, 0].max())
            axes.set_ylim(steps[0][:, 1].min(), steps[0][:, 1].max())
            axes.set_title(f"step {number}", fontsize=8)
            axes.tick_params(labelsize=6)
