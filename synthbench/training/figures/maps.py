"""Figures of one row: attention maps, copy gates, attention by column, moving points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from synthbench.training.figures.figure import Figure, label_columns, numbers, panels
from synthbench.training.figures.view import Unavailable, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class AttentionMaps(Figure):
    """The attention weights of one row, for every step and head."""

    name = "attention"
    title = "Attention of one row: queries downwards, keys across"
    source = "NDR, figures 2 (top) and 3; Eureka, figure 4; Counting, table III"

    def _data(self, view: View) -> dict[str, Any]:
        return _of_row(view, [numbers(step) for step in view.maps("attention")])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        heads = len(steps[0])
        weights = [value for step in steps for head in step for line in head for value in line]
        low, high = min(0.0, *weights), max(weights)
        side = min(3.2, max(1.2, 0.06 * len(columns)))  # of a map, in inches
        grid = panels(canvas, heads, len(steps), side + 0.1, side + 0.3)
        for number, step in enumerate(steps):
            for head, weights in enumerate(step):
                axes = grid[head][number]
                image = axes.imshow(weights, cmap="viridis", vmin=low, vmax=high)
                label_columns(axes, columns, horizontal=head == heads - 1, vertical=number == 0)
                axes.set_title(f"step {number}, head {head}", fontsize=7)
        canvas.colorbar(image, ax=[axes for line in grid for axes in line], shrink=0.6)


class Gates(Figure):
    """How far each column's copy gate is open at each step, averaged over its units."""

    name = "gates"
    title = "Copy gates of one row: steps downwards, columns across"
    source = "NDR, figure 2 (bottom)"

    def _data(self, view: View) -> dict[str, Any]:
        return _of_row(view, [numbers(gate.mean(dim=-1)) for gate in view.maps("gate")])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        ((axes,),) = panels(canvas, 1, 1, 2 + 0.2 * len(columns), 1 + 0.2 * len(steps))
        image = axes.imshow(steps, cmap="viridis", vmin=0, vmax=1, aspect="auto")
        label_columns(axes, columns, horizontal=True, vertical=False)
        axes.set_yticks(range(len(steps)))
        axes.set_ylabel("step")
        canvas.colorbar(image, ax=axes)


class KeyMass(Figure):
    """The attention that each column gets from all queries, averaged over heads."""

    name = "key-mass"
    title = "Attention that each column of one row gets, by step"
    source = "DNAS, section 4"

    def _data(self, view: View) -> dict[str, Any]:
        masses = [step.sum(dim=-2).mean(dim=0) for step in view.maps("attention")]
        return _of_row(view, [numbers(mass) for mass in masses])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        lines = panels(canvas, len(steps), 1, 2 + 0.12 * min(len(columns), 100), 1.1)
        for number, ((axes,), masses) in enumerate(zip(lines, steps, strict=True)):
            axes.bar(range(len(masses)), masses, width=0.9)
            axes.set_ylabel(f"step {number}", fontsize=7)
            axes.tick_params(labelsize=6)
            label_columns(axes, columns, horizontal=number == len(steps) - 1, vertical=False)
            axes.margins(x=0.01)


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


def _of_row(view: View, steps: list[Any]) -> dict[str, Any]:
    """The data of a map: the row, its columns, and values for every step."""
    return {"split": view.split, "row": view.row, "columns": view.columns, "steps": steps}
