"""Line charts as inline SVG, in the colours of the page's theme."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from shapes import MOST_CURVES, line, mark, svg, text

#: Points of a line, from left to right.
Curve = Sequence[tuple[float, float]]

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 472, 12, 212
#: The most that the marks of two models are apart at the same place; and how many marks a curve has
#: at most, if no places are given.
_APART, _MARKS = 6.0, 6


def line_chart(
    series: Mapping[str, Sequence[Curve]],
    x_label: str,
    *,
    ticks: Sequence[float] = (),
    trained_to: float | None = None,
) -> str:
    """Accuracies, from 0 to 1, of several models.

    Args:
        series: for each model its curves, one a run; their points from left to right.
        x_label: what the horizontal axis counts.
        ticks: the places that were measured, which are labelled and marked, for each model a
            little beside those of the others; default: a few even ones are labelled.
        trained_to: the last place that training has, up to which the chart is shaded.

    Raises:
        ValueError: there are more models than can be told apart.
    """
    if len(series) > MOST_CURVES:
        raise ValueError(
            f"A chart by {x_label} has {len(series)} curves; {MOST_CURVES} can be told apart: "
            f"{', '.join(series)}. Draw two charts."
        )
    places = [x for curves in series.values() for curve in curves for x, _ in curve]
    low, high = min(places), max(places)
    marked, ticks = bool(ticks), ticks or _even_ticks(low, high)

    def across(x: float) -> float:
        return _LEFT + 22 + (_RIGHT - _LEFT - 44) * (x - low) / ((high - low) or 1)

    def up(y: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * y

    parts = []
    if trained_to is not None:
        end = (across(trained_to) + across(min(x for x in ticks if x > trained_to))) / 2
        parts.append(
            f'<rect x="{_LEFT}" y="{_TOP}" width="{end - _LEFT:.1f}" height="{_BOTTOM - _TOP}" '
            'class="band"/>'
        )
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(line(_LEFT, up(share), _RIGHT, up(share), "grid"))
        parts.append(text(_LEFT - 20, up(share), f"{share:g}"))
    for tick in ticks:
        parts.append(text(across(tick), _BOTTOM + 16, f"{tick:,.12g}"))
    parts.append(text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, f"accuracy by {x_label}"))
    marks = []
    apart = min(_APART, 0.85 * (across(high) - across(low)) / len(ticks) / len(series))
    for number, curves in enumerate(series.values(), start=1):
        beside = apart * (number - (len(series) + 1) / 2) if marked else 0.0
        for curve in curves:
            points = [(across(x) + beside, up(y)) for x, y in curve]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" class="curve-{number}"/>')
            every = 1 if marked else -(-len(points) // _MARKS)
            marks += [mark(x, y, number) for x, y in points[number % every :: every]]
    parts += marks  # above all curves
    legend = "".join(
        f"<span>{_key(number)}{escape(name)}</span>" for number, name in enumerate(series, start=1)
    )
    if trained_to is not None:
        legend += '<span><i class="seen"></i>seen in training</span>'
    chart = svg(480, _BOTTOM + 46, parts, f"Accuracy by {x_label}")
    return f'<div class="chart">{chart}<p class="legend">{legend}</p></div>'


def _key(number: int) -> str:
    """A piece of a curve, for the legend."""
    stroke = f'<polyline points="0,6 40,6" class="curve-{number}"/>'
    return f'<i class="key">{svg(40, 12, [stroke, mark(20, 6, number)], "")}</i>'


def _even_ticks(low: float, high: float) -> list[float]:
    """At most six round numbers."""
    power = 10 ** math.floor(math.log10((high - low) or 1))
    step = next(
        factor * power for factor in (0.2, 0.5, 1, 2) if (high - low) / (factor * power) <= 6
    )
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
