"""Figures of rows: maps of one row, and statistics over many."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.training.figures.figure import (
    Figure,
    RunView,
    Unavailable,
    label_columns,
    numbers,
)
from synthbench.training.layers.normalisation import key_mass
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Rows whose attention is summed.
_ROWS = 256
#: A key is explained away if its weights sum to less than this (DNAS, definition 1).
_EPSILON = 1e-8
#: The histogram's bins, as natural logarithms. Smaller sums fall into the first bin.
_BINS = np.arange(-40.0, 8.5, 1.0)


class AttentionMaps(Figure):
    """The attention weights of one row, for every step and head."""

    name = "attention"
    title = "Attention of one row: queries downwards, keys across"
    source = "NDR, figures 2 (top) and 3; Eureka, figure 4; Counting, table III"

    def _data(self, view: RunView) -> dict[str, Any]:
        return _of_row(view, [numbers(step) for step in view.maps("attention")])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        heads = len(steps[0])
        weights = [value for step in steps for head in step for line in head for value in line]
        low, high = min(0.0, *weights), max(weights)
        side = min(3.2, max(1.2, 0.06 * len(columns)))  # of a map, in inches
        grid = panels(canvas, heads * len(steps), len(steps), side + 0.1, side + 0.3)
        for number, step in enumerate(steps):
            for head, weights in enumerate(step):
                axes = grid[head * len(steps) + number]
                image = axes.imshow(weights, cmap="viridis", vmin=low, vmax=high)
                label_columns(axes, columns, horizontal=head == heads - 1, vertical=number == 0)
                axes.set_title(f"step {number}, head {head}", fontsize=7)
        canvas.colorbar(image, ax=grid, shrink=0.6)


class Gates(Figure):
    """Openness of each column's copy gate at each step, averaged over its units."""

    name = "gates"
    title = "Copy gates of one row: steps downwards, columns across"
    source = "NDR, figure 2 (bottom)"

    def _data(self, view: RunView) -> dict[str, Any]:
        return _of_row(view, [numbers(gate.mean(dim=-1)) for gate in view.maps("gate")])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        (axes,) = panels(canvas, 1, 1, 2 + 0.2 * len(columns), 1 + 0.2 * len(steps))
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

    def _data(self, view: RunView) -> dict[str, Any]:
        masses = [step.sum(dim=-2).mean(dim=0) for step in view.maps("attention")]
        return _of_row(view, [numbers(mass) for mass in masses])

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        steps, columns = data["steps"], data["columns"]
        every = panels(canvas, len(steps), 1, 2 + 0.12 * min(len(columns), 100), 1.1)
        for number, (axes, masses) in enumerate(zip(every, steps, strict=True)):
            axes.bar(range(len(masses)), masses, width=0.9)
            axes.set_ylabel(f"step {number}", fontsize=7)
            axes.tick_params(labelsize=6)
            label_columns(axes, columns, horizontal=number == len(steps) - 1, vertical=False)
            axes.margins(x=0.01)


class PointPaths(Figure):
    """A row's points after each step of attention."""

    name = "points"
    title = "The points of one row after each step"
    source = "DNAS, figures 6, 8 and 9"

    def _data(self, view: RunView) -> dict[str, Any]:
        if view.form.reads != "points":
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
        every = panels(canvas, len(steps), len(steps), 2.6, 2.8)
        for number, (axes, points) in enumerate(zip(every, steps, strict=True)):
            axes.scatter(points[:, 0], points[:, 1], c=data["cluster"], s=4, cmap="coolwarm")
            axes.set_xlim(steps[0][:, 0].min(), steps[0][:, 0].max())
            axes.set_ylim(steps[0][:, 1].min(), steps[0][:, 1].max())
            axes.set_title(f"step {number}", fontsize=8)
            axes.tick_params(labelsize=6)


def _of_row(view: RunView, steps: list[Any]) -> dict[str, Any]:
    """The data of a map: the row, its columns, and values for every step."""
    return {"split": view.split, "row": view.row, "columns": view.columns, "steps": steps}


class HaltingSteps(Figure):
    """The number of steps before columns halt, by the number of tokens in a row."""

    name = "halting"
    title = "Steps before a column halts, by length"
    source = "NDR, appendix A"

    def _data(self, view: RunView) -> dict[str, Any]:
        steps: dict[int, list[int]] = {}
        for taken in view.passes(len(view.rows)):
            (halted,) = view.recorded(taken, "halting")
            assert taken.batch.lengths is not None
            for length, row in zip(taken.batch.lengths.tolist(), halted.tolist(), strict=True):
                steps.setdefault(length, []).extend(step for step in row if step)
        lengths = sorted(steps)
        return {
            "split": view.split,
            "lengths": lengths,
            "mean": numbers([float(np.mean(steps[length])) for length in lengths]),
            "least": [min(steps[length]) for length in lengths],
            "most": [max(steps[length]) for length in lengths],
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        (axes,) = panels(canvas, 1, width=5.0, height=3.5)
        axes.plot(data["lengths"], data["mean"], marker="o", label="mean")
        axes.fill_between(
            data["lengths"], data["least"], data["most"], alpha=0.2, label="least to most"
        )
        axes.set_xlabel(f"tokens of a row ({data['split']})")
        axes.set_ylabel("steps")
        axes.legend(fontsize=8)


class ExplainedAway(Figure):
    """The attention that keys get from all queries. Keys with hardly any are explained away."""

    name = "explained-away"
    title = "Sums of the attention weights of each key"
    source = "DNAS, figure 1"

    def _data(self, view: RunView) -> dict[str, Any]:
        layers: dict[int, list[NDArray[np.float64]]] = defaultdict(list)
        for taken in view.passes(_ROWS):
            for number, weights in enumerate(view.recorded(taken, "attention")):
                mask = taken.mask(weights.shape[-1])
                mass = key_mass(weights.float(), mask)
                real = mass if mask is None else mass.transpose(1, 2)[mask]
                layers[number].append(real.double().numpy().ravel())
        joined = [np.concatenate(masses) for masses in layers.values()]
        if min(masses.min() for masses in joined) < 0:
            raise Unavailable("the attention weights are raw scores, which may be negative")
        least = math.exp(_BINS[0])
        return {
            "split": view.split,
            "log_bins": numbers(_BINS),
            "keys": [
                np.histogram(np.log(np.maximum(mass, least)).clip(max=_BINS[-1]), _BINS)[0].tolist()
                for mass in joined
            ],
            "explained_away": numbers([float((mass < _EPSILON).mean()) for mass in joined]),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["keys"]), width=3.0, height=2.2)
        edges, gone = data["log_bins"], data["explained_away"]
        for number, (axes, counts) in enumerate(zip(every, data["keys"], strict=True)):
            axes.stairs(counts, edges, fill=True)
            axes.axvline(math.log(_EPSILON), color="0.5", linestyle="--")
            axes.set_title(f"layer {number}: {gone[number]:.1%} explained away", fontsize=8)
            axes.tick_params(labelsize=7)
            axes.set_xlabel("log of a key's sum", fontsize=7)


class HybridWeights(Figure):
    """The weight of doubly-normalised attention in hybrid attention, for each layer and head."""

    name = "hybrid"
    title = "Weight of doubly-normalised attention"
    source = "DNAS, figures 3 and 4"

    def _data(self, view: RunView) -> dict[str, Any]:
        layers = view.recorded(view.shown, "hybrid")
        return {"layers": [numbers(weights) for weights in layers]}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        (axes,) = panels(canvas, 1, width=5.0)
        layers = data["layers"]
        for head, weights in enumerate(zip(*layers, strict=True)):
            axes.plot(range(len(layers)), weights, linestyle="", label=f"head {head}")
        mean = [float(np.mean(weights)) for weights in layers]
        axes.plot(mean, color="0.5", marker="", linestyle="-", label="mean")
        axes.set_ylim(0, 1)
        axes.set_xlabel("layer")
        # Beside the axes, so that it hides no head.
        columns = -(-len(layers[0]) // 12)
        axes.legend(fontsize=7, ncols=columns, loc="upper left", bbox_to_anchor=(1, 1))
