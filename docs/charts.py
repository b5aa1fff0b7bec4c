"""Line charts as inline SVG, in the colours of the page's theme."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from shapes import line, svg, text

#: Points of a line, from left to right.
Curve = Sequence[tuple[float, float]]

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 472, 12, 212


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
        ticks: the places that were measured, which are labelled and marked; default: a few even
            ones are labelled.
        trained_to: the last place that training has, up to which the chart is shaded.
    """
    places = [x for curves in series.values() for curve in curves for x, _ in curve]
    low, high = min(places), max(places)
    marked, ticks = bool(ticks), ticks or _even_ticks(low, high)

    def across(x: float) -> float:
        return _LEFT + 12 + (_RIGHT - _LEFT - 24) * (x - low) / ((high - low) or 1)

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
    for number, curves in enumerate(series.values(), start=1):
        for curve in curves:
            path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in curve)
            parts.append(f'<polyline points="{path}" class="curve-{number}"/>')
            for x, y in curve if marked else ():
                dot = f'cx="{across(x):.1f}" cy="{up(y):.1f}" r="4" class="dot-{number}"'
                parts.append(f"<circle {dot}/>")
    legend = "".join(
        f'<span><i class="key-{number}"></i>{escape(name)}</span>'
        for number, name in enumerate(series, start=1)
    )
    if trained_to is not None:
        legend += '<span><i class="seen"></i>seen in training</span>'
    chart = svg(480, _BOTTOM + 46, parts, f"Accuracy by {x_label}")
    return f'<div class="chart">{chart}<p class="legend">{legend}</p></div>'


def _even_ticks(low: float, high: float) -> list[float]:
    """At most six round numbers."""
    power = 10 ** math.floor(math.log10((high - low) or 1))
    step = next(one * power for one in (0.2, 0.5, 1, 2) if (high - low) / (one * power) <= 6)
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
