"""Figures over many rows: counts, halting, keys explained away, weights of hybrid attention."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.training.figures.figure import Figure, numbers, panels, panels_in_order
from synthbench.training.figures.view import Unavailable, View
from synthbench.training.layers.normalisation import key_mass
from synthbench.training.objectives import OBJECTIVES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Rows whose attention is summed.
ROWS = 256
#: A key is explained away if its weights sum to less than this (DNAS, definition 1).
EPSILON = 1e-8
#: The histogram's bins, as natural logarithms; smaller sums fall into the first one.
_BINS = np.arange(-40.0, 8.5, 1.0)


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


class Halting(Figure):
    """The number of steps before columns halt, by the number of tokens in a row."""

    name = "halting"
    title = "Steps before a column halts, by length"
    source = "NDR, appendix A"

    def _data(self, view: View) -> dict[str, Any]:
        steps: dict[int, list[int]] = {}
        for taken in view.passes(len(view.rows)):
            if not taken.record["halting"]:
                raise Unavailable(f"model {view.recipe.model!r} has no adaptive computation time")
            (halted,) = taken.record["halting"]
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
        ((axes,),) = panels(canvas, 1, 1, 5.0, 3.5)
        axes.plot(data["lengths"], data["mean"], marker="o", label="mean")
        axes.fill_between(
            data["lengths"], data["least"], data["most"], alpha=0.2, label="least to most"
        )
        axes.set_xlabel(f"tokens of a row ({data['split']})")
        axes.set_ylabel("steps")
        axes.legend(fontsize=8)


class ExplainedAway(Figure):
    """The attention that keys get from all queries; keys with almost none are explained away."""

    name = "explained-away"
    title = "Sums of the attention weights of each key"
    source = "DNAS, figure 1"

    def _data(self, view: View) -> dict[str, Any]:
        layers: list[list[NDArray[np.float64]]] = []
        for taken in view.passes(ROWS):
            weights = taken.record["attention"]
            if not weights:
                raise Unavailable(f"model {view.recipe.model!r} has no attention")
            layers = layers or [[] for _ in weights]
            for masses, layer in zip(layers, weights, strict=True):
                mask = taken.mask(layer.shape[-1])
                mass = key_mass(layer.float(), mask)
                real = mass if mask is None else mass.transpose(1, 2)[mask]
                masses.append(real.double().numpy().ravel())
        joined = [np.concatenate(masses) for masses in layers]
        if min(masses.min() for masses in joined) < 0:
            raise Unavailable("the attention weights are raw scores, which may be negative")
        least = math.exp(_BINS[0])
        return {
            "split": view.split,
            "log_bins": numbers(_BINS),
            "keys": [
                np.histogram(np.log(np.maximum(one, least)).clip(max=_BINS[-1]), _BINS)[0].tolist()
                for one in joined
            ],
            "explained_away": numbers([float((one < EPSILON).mean()) for one in joined]),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels_in_order(canvas, len(data["keys"]), 3.0, 2.2)
        edges, gone = data["log_bins"], data["explained_away"]
        for number, (axes, counts) in enumerate(zip(every, data["keys"], strict=True)):
            axes.stairs(counts, edges, fill=True)
            axes.axvline(math.log(EPSILON), color="0.5", linestyle="--")
            axes.set_title(f"layer {number}: {gone[number]:.1%} explained away", fontsize=8)
            axes.tick_params(labelsize=7)
            axes.set_xlabel("log of a key's sum", fontsize=7)


class HybridWeights(Figure):
    """The weight of doubly-normalised attention in hybrid attention, for each layer and head."""

    name = "hybrid"
    title = "Weight of doubly-normalised attention"
    source = "DNAS, figures 3 and 4"

    def _data(self, view: View) -> dict[str, Any]:
        layers = view.shown.record["hybrid"]
        if not layers:
            raise Unavailable(f"model {view.recipe.model!r} has no hybrid attention")
        return {"layers": [numbers(weights) for weights in layers]}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        ((axes,),) = panels(canvas, 1, 1, 5.0, 3.0)
        layers = data["layers"]
        for head, weights in enumerate(zip(*layers, strict=True)):
            axes.plot(range(len(layers)), weights, marker="o", linestyle="", label=f"head {head}")
        axes.plot([float(np.mean(weights)) for weights in layers], color="0.5", label="mean")
        axes.set_ylim(0, 1)
        axes.set_xlabel("layer")
        axes.legend(fontsize=7)
