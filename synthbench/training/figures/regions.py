"""Figures of a row's indicators and targets: gradients and attention at the places of each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthbench.training.figures.figure import Figure, Pass, RunView, Unavailable, numbers
from synthbench.training.layers.attention import Attention
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Rows that maps are averaged over.
_ROWS = 128
_STROKES = {"indicators": "-", "targets": "--"}
_PARTS = {"query": "Q", "key": "K", "value": "V"}

#: Maps by layer and part, `(layers, height, width)` each: of an image's patches, or of tokens in a
#: single line.
Maps = dict[str, NDArray[np.float64]]


def _check_regions(view: RunView) -> None:
    """Refuse tasks without fixed regions, and models without attention to them."""
    if not view.task.regions():
        raise Unavailable(
            f"task {view.task.name}, variant {view.task.variant}, lacks fixed places of "
            "indicators and targets"
        )
    view.recorded(view.shown, "attention")


def _is_image(view: RunView) -> bool:
    return view.form.reads == "images"


def _mean_maps(view: RunView, of: Callable[[Pass], list[Tensor]]) -> NDArray[np.float64]:
    """The mean over rows of `(rows, columns)`, a tensor for each layer, as maps."""
    added = int(_is_image(view) or view.backbone_has("begin_end", True))  # class or begin token
    sums, rows = None, 0
    for taken in view.passes(_ROWS):
        layers = torch.stack(of(taken)).double().sum(dim=1)[:, added:]
        sums, rows = layers if sums is None else sums + layers, rows + len(taken.batch.inputs)
    assert sums is not None
    height = round(sums.shape[1] ** 0.5) if _is_image(view) else 1
    maps: NDArray[np.float64] = (sums / rows).reshape(len(sums), height, -1).numpy()
    return maps


def _by_region(view: RunView, layers: NDArray[np.float64]) -> dict[str, list[float]]:
    """The mean of each layer's map over the places of each part."""
    maps = torch.from_numpy(layers)
    places = (functional.adaptive_avg_pool2d(maps, 2) if _is_image(view) else maps).flatten(1)
    regions = view.task.regions().items()
    return {name: numbers(places[:, list(found)].mean(dim=1)) for name, found in regions}


def _frames(view: RunView, layers: NDArray[np.float64]) -> list[list[float]]:
    """Rectangles around the indicators: left, top, width and height."""
    _, height, width = layers.shape
    lines, across = (2, 2) if _is_image(view) else (1, width)
    size = [width / across, height / lines]
    return [
        [place % across * size[0] - 0.5, place // across * size[1] - 0.5, *size]
        for place in view.task.regions()["indicators"]
    ]


def _attention(view: RunView, taken: Pass) -> list[Tensor]:
    """The weights of each layer, `(rows, heads, queries, keys)`, of the queries that matter."""
    *layers, last = view.recorded(taken, "attention")
    query = view.last_query(taken)
    if query is not None:
        last = last[torch.arange(len(last)), :, query, None]
    return [*layers, last]


def _gradient_maps(view: RunView) -> Maps:
    modules = [part for part in view.model.modules() if isinstance(part, Attention)]
    if not modules or any(module.alpha is not None for module in modules):
        raise Unavailable(f"model {view.recipe.model!r} has scores of more than Q and K")

    def of(part: str) -> Callable[[Pass], list[Tensor]]:
        def derivatives(taken: Pass) -> list[Tensor]:
            layers = list(zip(*(taken.record[name] for name in _PARTS), strict=True))
            queries: list[Tensor | None] = [None] * len(layers)
            queries[-1] = view.last_query(taken)
            applied = itertools.cycle(modules)  # an encoder's layers are one module
            return [
                _derivative(next(applied), part, dict(zip(_PARTS, layer, strict=True)), query)
                for layer, query in zip(layers, queries, strict=True)
            ]

        return derivatives

    return {part: _mean_maps(view, of(part)) for part in _PARTS}


def _derivative(
    module: Attention, part: str, parts: dict[str, Tensor], query: Tensor | None
) -> Tensor:
    """The L1 norm over units of the derivative of the sum of Z, mean over heads, `(rows, length)`.

    Source: Eureka, section A.2, which does not say how Z is reduced.
    """
    with torch.enable_grad():
        leaf = parts[part].clone().requires_grad_()
        parts = {**parts, part: leaf}
        scores = parts["query"] @ parts["key"].transpose(-2, -1)
        weights = module.weights(scores, None, query)
        (weights @ parts["value"]).sum().backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    return leaf.grad.abs().sum(dim=-1).mean(dim=1)


class RegionGradients(Figure):
    """The derivative of Z by the query, key and value of each place, mean over rows and heads."""

    name = "region-gradients"
    title = "Derivative of Z by Q, K and V of each patch or token"
    source = "Eureka, figures 3, 9 and 10"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        maps = _gradient_maps(view)
        return {
            "split": view.split,
            "maps": {_PARTS[part]: numbers(layers) for part, layers in maps.items()},
            "regions": {_PARTS[part]: _by_region(view, layers) for part, layers in maps.items()},
            "frames": numbers(_frames(view, maps["query"])),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        layers = len(data["maps"]["Q"])
        every = iter(panels(canvas, 3 * layers, layers, 2.0, 1.8))
        for part, maps in data["maps"].items():
            for layer, values in enumerate(maps):
                _draw_map(canvas, next(every), values, f"{part}, layer {layer}", data["frames"])


class RegionCourse(Figure):
    """The same derivatives during training, mean over the indicators and over the targets."""

    name = "region-course"
    title = "Derivative of Z at indicators and targets during training"
    source = "Eureka, figure 11"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        at, stages = [], []
        for epoch, stage in view.stages():
            at.append(epoch)
            maps = _gradient_maps(stage)
            stages.append({_PARTS[part]: _by_region(view, layers) for part, layers in maps.items()})
        moment = view.result["eureka"]
        return {
            "split": view.split,
            "at": at,
            "eureka": numbers(moment and moment["epoch"]),
            "parts": {
                part: {region: [stage[part][region] for stage in stages] for region in _STROKES}
                for part in _PARTS.values()
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        layers = len(data["parts"]["Q"]["targets"][0])
        for layer, axes in enumerate(panels(canvas, layers, width=3.2, height=2.6)):
            for part, color in zip(data["parts"], ("#0072b2", "#009e73", "#d55e00"), strict=True):
                for region, stroke in _STROKES.items():
                    course = [stage[layer] for stage in data["parts"][part][region]]
                    if any(course):  # a last layer may lack queries there
                        label = f"{part}, {region}"
                        axes.plot(data["at"], course, stroke, color=color, marker="", label=label)
            if data["eureka"] is not None:
                axes.axvspan(data["at"][0], data["eureka"], color="0.9", zorder=0)
            axes.set_yscale("log")
            axes.set_title(f"layer {layer}", fontsize=8)
            axes.set_xlabel("epoch", fontsize=7)
            axes.tick_params(labelsize=7)
            if layer == layers - 1:  # beside the axes, so that it hides no curve
                axes.legend(fontsize=6, loc="upper left", bbox_to_anchor=(1, 1))


class AttentionImage(Figure):
    """The attention that each place gets, mean over queries, heads and rows, by layer."""

    name = "attention-image"
    title = "Mean attention to each patch or token, by layer"
    source = "Eureka, figure 4"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_regions(view)
        layers = _mean_maps(
            view,
            lambda taken: [maps.float().mean(dim=(1, 2)) for maps in _attention(view, taken)],
        )
        return {
            "split": view.split,
            "maps": numbers(layers),
            "regions": _by_region(view, layers),
            "frames": numbers(_frames(view, layers)),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["maps"]), len(data["maps"]), 2.0, 2.0)
        for layer, (axes, values) in enumerate(zip(every, data["maps"], strict=True)):
            _draw_map(canvas, axes, values, f"layer {layer}", data["frames"])


def _draw_map(
    canvas: Canvas, axes: Axes, values: list[list[float]], title: str, frames: list[list[float]]
) -> None:
    """A map, with the indicators framed."""
    from matplotlib.patches import Rectangle

    image = axes.imshow(values, cmap="viridis")
    for left, top, width, height in frames:
        axes.add_patch(Rectangle((left, top), width, height, fill=False, color="red"))
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
                for weights in _attention(stage, taken):
                    mask = taken.mask(weights.shape[-1])
                    whole = mask is None or weights.shape[-2] == 1
                    real = weights if whole else weights.transpose(1, 2)[mask]
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
