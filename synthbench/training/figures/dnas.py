"""Figures of doubly-normalised and hybrid attention: centres after a step, weights in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.layers.attention import Attention
from synthbench.training.models.clusters import AttentionSteps
from synthbench.training.panels import panels
from synthbench.training.recipes.dnas import centre_distance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Half the distance of the centres, and the ratios of numbers of points that are measured.
_HALVES, _RATIOS, _FEWER = (0.4, 0.7, 1.0, 1.5), (1, 2, 4, 6, 8, 10), 20
_NAMES = ("softmax", "doubly-normalised")


class Centres(Figure):
    """The distance of two centres after one step, by how unequal the clusters are."""

    name = "centres"
    title = "Distance of the centres after one step: lines eqs. 13 and 14, dots measured"
    source = "DNAS, figure 7"

    def _data(self, view: RunView) -> dict[str, Any]:
        if view.form.reads != "points":
            raise Unavailable(f"task {view.task.name} has no points")
        ratios = np.linspace(1, max(_RATIOS), 50)
        by_half = {}
        for half in _HALVES:
            expected = np.array([centre_distance(ratio, half) for ratio in ratios]).T
            measured = [[_measured(name, ratio, half) for ratio in _RATIOS] for name in _NAMES]
            by_half[str(half)] = {
                name: {"equation": numbers(line), "measured": numbers(dots)}
                for name, line, dots in zip(_NAMES, expected, measured, strict=True)
            }
        return {"ratios": numbers(ratios), "measured_at": list(_RATIOS), "by_half": by_half}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["by_half"]), width=2.8, height=2.6)
        for axes, (half, curves) in zip(every, data["by_half"].items(), strict=True):
            for name, color in zip(curves, ("#0072b2", "#d55e00"), strict=True):
                line, dots = curves[name]["equation"], curves[name]["measured"]
                axes.plot(data["ratios"], line, color=color, marker="", linestyle="-", label=name)
                axes.plot(data["measured_at"], dots, color=color, marker="o", linestyle="")
            axes.set_ylim(0, 2.05 * float(half))
            axes.set_title(f"a = {half}", fontsize=8)
            axes.set_xlabel("r", fontsize=7)
            axes.tick_params(labelsize=7)
        every[0].legend(fontsize=7)


@torch.no_grad()
def _measured(name: str, ratio: int, half: float) -> float:
    """The distance of two clusters of points in one place each, after a step of our attention."""
    first = ratio * _FEWER
    points = torch.full((1, first + _FEWER, 1), half)
    points[:, first:] = -half
    moved = AttentionSteps(normalisation=name, steps=1)(points).scores
    return float((moved[0, 0] - moved[0, -1]).abs())


def _weights(view: RunView) -> list[Any]:
    """The weight u of each head, by layer. Layers that share parameters count once."""
    return [
        numbers(part.hybrid_weight)
        for part in view.model.modules()
        if isinstance(part, Attention) and part.normalisation == "hybrid"
    ]


class HybridCourse(Figure):
    """The weight of doubly-normalised attention at each checkpoint, for each layer and head."""

    name = "hybrid-course"
    title = "Weight u of doubly-normalised attention during training"
    source = "DNAS, figures 3 to 5"

    def _data(self, view: RunView) -> dict[str, Any]:
        if not _weights(view):
            raise Unavailable(f"model {view.recipe.model!r} has no hybrid attention")
        stages = [(epoch, _weights(at)) for epoch, at in view.stages()]
        return {"at": [epoch for epoch, _ in stages], "layers": [u for _, u in stages]}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        courses = np.array(data["layers"])  # (checkpoints, layers, heads)
        every = panels(canvas, courses.shape[1], width=3.0, height=2.6)
        for layer, axes in enumerate(every):
            for head in range(courses.shape[2]):
                axes.plot(data["at"], courses[:, layer, head], label=f"head {head}")
            axes.set_ylim(0, 1)
            axes.set_title(f"layer {layer}", fontsize=8)
            axes.set_xlabel("epoch", fontsize=7)
            axes.tick_params(labelsize=7)
        every[0].legend(fontsize=6)
