"""Figures of an image's regions: gradients and attention at indicators and at targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.layers.attention import Attention
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Rows that maps are averaged over.
_ROWS = 128
#: Top-left, top-right, bottom-left, bottom-right, where the task does not shuffle them.
_REGIONS = {"indicators": (0, 3), "targets": (1, 2)}
_PARTS = {"query": "Q", "key": "K", "value": "V"}

#: Maps of an image's patches by layer and part, `(layers, side, side)` each.
Maps = dict[str, NDArray[np.float64]]


def _check_regions(view: RunView) -> None:
    """Refuse tasks without fixed regions, and models without attention to them."""
    if view.form.reads != "images":
        raise Unavailable(f"the rows of task {view.task.name} are not images")
    design = getattr(view.task, "design", None)
    if design is None or design.layout != "fixed":
        raise Unavailable(f"variant {view.task.variant} shuffles indicators and targets")
    view.recorded(view.shown, "attention")


def _mean_maps(view: RunView, of: Callable[[dict[str, list[Tensor]]], list[Tensor]]) -> Any:
    """The mean over rows of maps `(rows, columns)`, one a layer, as squares of patches."""
    sums, rows = None, 0
    for taken in view.passes(_ROWS):
        layers = torch.stack(of(taken.record)).double().sum(dim=1)[:, 1:]  # without class token
        sums, rows = layers if sums is None else sums + layers, rows + len(taken.batch.inputs)
    assert sums is not None
    side = round(sums.shape[1] ** 0.5)
    return (sums / rows).reshape(-1, side, side).numpy()


def _by_region(layers: NDArray[np.float64]) -> dict[str, list[float]]:
    """The mean of each layer's map over the indicators' and over the targets' quadrants."""
    means = functional.adaptive_avg_pool2d(torch.from_numpy(layers), 2).flatten(1)
    return {name: numbers(means[:, list(places)].mean(dim=1)) for name, places in _REGIONS.items()}


def _gradient_maps(view: RunView) -> Maps:
    modules = [part for part in view.model.modules() if isinstance(part, Attention)]

    def of(part: str) -> Callable[[dict[str, list[Tensor]]], list[Tensor]]:
        return lambda record: [
            _derivative(module, part, *tensors)
            for module, *tensors in zip(
                modules, record["query"], record["key"], record["value"], strict=True
            )
        ]

    return {part: _mean_maps(view, of(part)) for part in _PARTS}


def _derivative(module: Attention, part: str, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The L1 norm over units of the derivative of the sum of Z, mean over heads, `(rows, length)`.

    Source: Eureka, section A.2, which does not say how Z is reduced.
    """
    leaves = {"query": query, "key": key, "value": value}
    with torch.enable_grad():
        leaf = leaves[part] = leaves[part].clone().requires_grad_()
        weights = module.weights(leaves["query"] @ leaves["key"].transpose(-2, -1), None)
        (weights @ leaves["value"]).sum().backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    return leaf.grad.abs().sum(dim=-1).mean(dim=1)


class RegionGradients(Figure):
    """The derivative of Z by the query, key and value of each patch, mean over rows and heads."""

    name = "region-gradients"
    title = "Norm of the derivative of Z by Q, K and V of each patch, by layer"
    source = "Eureka, figures 3, 9 and 10"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        maps = _gradient_maps(view)
        return {
            "split": view.split,
            "maps": {_PARTS[part]: numbers(layers) for part, layers in maps.items()},
            "regions": {_PARTS[part]: _by_region(layers) for part, layers in maps.items()},
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        layers = len(data["maps"]["Q"])
        every = iter(panels(canvas, 3 * layers, layers, 2.0, 1.8))
        for part, maps in data["maps"].items():
            for layer, values in enumerate(maps):
                _draw_map(canvas, next(every), values, f"{part}, layer {layer}")


class RegionCourse(Figure):
    """The same derivatives during training, mean over the indicators and over the targets."""

    name = "region-course"
    title = "Norm of the derivative of Z at indicators and targets during training"
    source = "Eureka, figure 11"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        at, stages = [], []
        for epoch, stage in view.stages():
            at.append(epoch)
            maps = _gradient_maps(stage)
            stages.append({_PARTS[part]: _by_region(layers) for part, layers in maps.items()})
        moment = view.result["eureka"]
        return {
            "split": view.split,
            "at": at,
            "eureka": numbers(moment and moment["epoch"]),
            "parts": {
                part: {region: [stage[part][region] for stage in stages] for region in _REGIONS}
                for part in _PARTS.values()
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        layers = len(data["parts"]["Q"]["targets"][0])
        for layer, axes in enumerate(panels(canvas, layers, width=3.2, height=2.6)):
            for part, color in zip(data["parts"], ("#0072b2", "#009e73", "#d55e00"), strict=True):
                for region, stroke in (("indicators", "-"), ("targets", "--")):
                    course = [stage[layer] for stage in data["parts"][part][region]]
                    label = f"{part}, {region}"
                    axes.plot(data["at"], course, stroke, color=color, marker="", label=label)
            if data["eureka"] is not None:
                axes.axvspan(data["at"][0], data["eureka"], color="0.9", zorder=0)
            axes.set_yscale("log")
            axes.set_title(f"layer {layer}", fontsize=8)
            axes.set_xlabel("epoch", fontsize=7)
            axes.tick_params(labelsize=7)
            if layer == 0:
                axes.legend(fontsize=6)


class AttentionImage(Figure):
    """The attention that each patch gets, mean over queries, heads and rows, by layer."""

    name = "attention-image"
    title = "Attention to each patch: mean over queries, heads and rows, by layer"
    source = "Eureka, figure 4"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        layers = _mean_maps(
            view, lambda record: [maps.float().mean(dim=(1, 2)) for maps in record["attention"]]
        )
        return {"split": view.split, "maps": numbers(layers), "regions": _by_region(layers)}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["maps"]), len(data["maps"]), 2.0, 2.0)
        for layer, (axes, values) in enumerate(zip(every, data["maps"], strict=True)):
            _draw_map(canvas, axes, values, f"layer {layer}")


def _draw_map(canvas: Canvas, axes: Any, values: list[list[float]], title: str) -> None:
    """A map of patches, with the indicators' quadrants framed."""
    from matplotlib.patches import Rectangle

    image = axes.imshow(values, cmap="viridis")
    half = len(values) / 2
    for corner in ((-0.5, -0.5), (half - 0.5, half - 0.5)):
        axes.add_patch(Rectangle(corner, half, half, fill=False, color="red"))
    axes.set_axis_off()
    axes.set_title(title, fontsize=7)
    canvas.colorbar(image, ax=axes, shrink=0.7).ax.tick_params(labelsize=5)


class AttentionScores(Figure):
    """The distribution of all attention weights at each checkpoint, in 25 bins."""

    name = "attention-scores"
    title = "Distribution of attention weights during training"
    source = "Eureka, figure 8"

    def _data(self, view: RunView) -> dict[str, Any]:
        edges, at, counts = np.linspace(0, 1, 26), [], []
        view.recorded(view.shown, "attention")
        for epoch, stage in view.stages():
            total = np.zeros(25, np.int64)
            for taken in stage.passes(_ROWS):
                for weights in taken.record["attention"]:
                    mask = taken.mask(weights.shape[-1])
                    real = weights if mask is None else weights.transpose(1, 2)[mask]
                    if float(real.min()) < 0:
                        raise Unavailable("the attention weights are raw scores")
                    total += np.histogram(real.float().clamp(0, 1).numpy(), edges)[0]
            at.append(epoch)
            counts.append(total.tolist())
        moment = view.result["eureka"]
        return {
            "split": view.split,
            "at": at,
            "edges": numbers(edges),
            "counts": counts,
            "above_0.52": [numbers(sum(histogram[13:]) / sum(histogram)) for histogram in counts],
            "eureka": numbers(moment and moment["epoch"]),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        from matplotlib.colors import LogNorm

        (axes,) = panels(canvas, 1, width=5.0, height=3.4)
        counts = np.array(data["counts"], float).T
        shares = np.where(counts > 0, counts / counts.sum(axis=0), np.nan)
        image = axes.imshow(
            shares, origin="lower", aspect="auto", norm=LogNorm(), cmap="viridis",
            extent=(0, data["at"][-1], 0, 1),
        )  # fmt: skip
        if data["eureka"] is not None:
            axes.axvline(data["eureka"], color="red", linestyle="--")
        axes.set_xlabel("epoch")
        axes.set_ylabel("attention weight")
        canvas.colorbar(image, ax=axes, label="share of weights")
