"""Figures of training over time: loss and metric, gradient norms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_GRADIENT = "grad_norm/"
#: A loss so many times its least value so far has risen.
_RISE = 3.0
_PROJECTIONS = {"query": "W_Q", "key": "W_K", "value": "W_V"}


class LearningCurves(Figure):
    """Loss and metric in training and on `eval_splits`, with the Eureka-moment marked."""

    name = "curves"
    title = "Training, and the splits evaluated during training"
    source = "Eureka, figures 1, 6 and 7"

    def _data(self, view: RunView) -> dict[str, Any]:
        curve = _curve(view)
        every = dict.fromkeys(name for line in curve for name in line)
        names = [name for name in every if "/" in name and not name.startswith(_GRADIENT)]
        return {**_course(view, curve), "series": _series(curve, names)}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        kinds = list(dict.fromkeys(name.partition("/")[2] for name in data["series"]))
        every = panels(canvas, len(kinds), width=5.0, height=3.5)
        for axes, kind in zip(every, kinds, strict=True):
            for name, values in data["series"].items():
                split, _, measured = name.partition("/")
                if measured == kind:
                    _plot(axes, data["at"], values, label=split)
            if kind in ("loss", "mse"):
                axes.set_yscale("log")
            _mark(axes, data, shade=False)
            axes.set_ylabel(kind)
            axes.legend(fontsize=8)


class GradientNorms(Figure):
    """The gradients of each layer's W_Q, W_K and W_V. The time before the Eureka-moment is grey."""

    name = "gradients"
    title = "L1 norms of the gradients of W_Q, W_K and W_V"
    source = "Eureka, figures 5 and 12"

    def _data(self, view: RunView) -> dict[str, Any]:
        curve = [line for line in _curve(view) if any(name.startswith(_GRADIENT) for name in line)]
        names = [name for name in (curve or [{}])[0] if name.startswith(_GRADIENT)]
        if not names:
            raise Unavailable(
                "no gradient norms were recorded: train with --recipe log_gradients=true"
            )
        layers: dict[str, dict[str, list[float | None]]] = {}
        for name, values in _series(curve, names).items():
            place = name.removeprefix(_GRADIENT).removesuffix(".weight")
            layer, _, projection = place.rpartition(".")
            layers.setdefault(layer, {})[_PROJECTIONS[projection]] = values
        return {**_course(view, curve), "layers": layers}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["layers"]), width=3.5, height=2.6)
        for axes, (layer, norms) in zip(every, data["layers"].items(), strict=True):
            for name, values in norms.items():
                _plot(axes, data["at"], values, label=name)
            axes.set_yscale("log")
            axes.set_title(layer, fontsize=8)
            _mark(axes, data, shade=True)
            axes.legend(fontsize=7)


class Slingshots(Figure):
    """Rises of the training loss far above its least value so far, before and after the moment.

    Slingshots (Thilak et al., 2022) are such rises late in training.
    """

    name = "slingshots"
    title = "Training loss, and its rises above three times its least value so far"
    source = "Eureka, section A.13"

    def _data(self, view: RunView) -> dict[str, Any]:
        curve = [line for line in _curve(view) if line["train/loss"] is not None]
        course = _course(view, curve)
        losses = numbers([line["train/loss"] for line in curve])
        rises: list[dict[str, float]] = []
        least, above = math.inf, False
        for epoch, loss in zip(course["at"], losses, strict=True):
            rise, least = loss / least, min(loss, least)
            if rise > _RISE and above:
                rises[-1] |= {"end": epoch, "factor": max(rises[-1]["factor"], numbers(rise))}
            elif rise > _RISE:
                rises.append({"begin": epoch, "end": epoch, "factor": numbers(rise)})
            above = rise > _RISE
        moment = course["eureka"]
        before = [rise for rise in rises if moment is None or rise["begin"] < moment]
        return {
            **course,
            "loss": losses,
            "rises": rises,
            "before": len(before),
            "after": len(rises) - len(before),
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        (axes,) = panels(canvas, 1, width=6.0, height=3.2)
        _plot(axes, data["at"], data["loss"], label="training loss")
        for rise in data["rises"]:
            axes.axvspan(rise["begin"], rise["end"], color="#d55e00", alpha=0.3)
        axes.set_yscale("log")
        axes.set_title(f"rises: {data['before']} before, {data['after']} after", fontsize=8)
        _mark(axes, data, shade=False)
        axes.legend(fontsize=8)


def _curve(view: RunView) -> list[dict[str, Any]]:
    if not view.curve:
        raise Unavailable(f"model {view.recipe.model!r} learns nothing")
    return view.curve


def _course(view: RunView, curve: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The epochs of the measurements, and the epoch of the Eureka-moment."""
    eureka = view.result["eureka"]
    return {
        "unit": "epoch",
        "at": numbers([line["epoch"] for line in curve]),
        "eureka": numbers(eureka and eureka["epoch"]),
    }


def _series(
    curve: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> dict[str, list[float | None]]:
    """The values of each measurement along the curve, None in lines that lack it."""
    return {name: numbers([line.get(name) for line in curve]) for name in names}


def _plot(axes: Axes, at: Sequence[float], values: Sequence[float | None], *, label: str) -> None:
    """Draw a curve with a marker at each point, because it may have a single point."""
    measured = [(x, y) for x, y in zip(at, values, strict=True) if y is not None]
    size = 4 if len(measured) <= 60 else 2
    places, heights = [x for x, _ in measured], [y for _, y in measured]
    axes.plot(places, heights, marker="o", markersize=size, label=label)


def _mark(axes: Axes, data: Mapping[str, Any], *, shade: bool) -> None:
    """Mark the Eureka-moment, or shade the time before it."""
    axes.set_xlabel(data["unit"])
    if data["eureka"] is None:
        return
    if shade:
        axes.axvspan(data["at"][0], data["eureka"], color="0.9", zorder=0)
    else:
        axes.axvline(data["eureka"], color="0.5", linestyle="--", label="Eureka-moment")
