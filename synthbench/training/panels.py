"""Axes of a figure, whose curves differ in colour, stroke and mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: The looks of curves: eight colours that the colour-blind tell apart, too, each with a mark and a
#: stroke for grey print. After eight curves the same with marks that are not full.
_COLORS = (
    "#0072b2", "#d55e00", "#009e73", "#9955ff", "#770000", "#000099", "#550055", "#111111",
)  # fmt: skip
_MARKS, _STROKES = "os^DvPX*", ("-", "--", ":", "-.") * 2
_FILLS = ("full", "none", "left", "right")


def panels(
    canvas: Canvas, count: int, across: int = 4, width: float = 4.0, height: float = 3.0
) -> list[Axes]:
    """`count` axes of this width and height in inches, at most `across` in a line.

    In each of them, 32 curves in turn look different.
    """
    from cycler import cycler

    looks = cycler(color=_COLORS) + cycler(marker=list(_MARKS)) + cycler(linestyle=_STROKES)
    across = min(count, across)
    lines = -(-count // across)
    canvas.set_size_inches(max(4.0, width * across), max(2.0, height * lines))
    every = list(canvas.subplots(lines, across, squeeze=False).flat)
    for axes in every[count:]:
        axes.set_axis_off()
    for axes in every:
        axes.set_prop_cycle(cycler(fillstyle=_FILLS) * looks)
    return every[:count]
