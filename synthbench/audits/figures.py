"""Figures as inline SVG: readable without a network, in light and in dark, and without eyes.

Lines and letters have the colour of the text around them, splits those of the classes `s0`, `s1`
and so on, which the page's style settles. Every mark has its numbers as a title.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from html import escape

from synthbench.audits.balance import Trait

#: Bars of a figure for each split, at most; more values are put together.
MOST_BARS = 48
#: Classes of colours that the page knows.
COLORS = 6
_WIDTH = 720


def _svg(height: float, title: str, number: int, parts: Iterator[str]) -> str:
    return (
        f'<svg role="img" aria-labelledby="figure{number}" viewBox="0 0 {_WIDTH} {height:g}">'
        f'<title id="figure{number}">{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start", turned: bool = False) -> str:
    turn = f' transform="rotate(-40 {x:g} {y:g})"' if turned else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line class="{style}" x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}"/>'


def color(split: int) -> str:
    """The class of a split's colour."""
    return f"s{split % COLORS}"


@dataclasses.dataclass(frozen=True)
class Mark:
    """A figure to draw: a mean, its interval, chance, whether it is near solving; all in words."""

    split: int
    mean: float
    low: float
    high: float
    chance: float | None
    near: bool
    text: str


_LEFT, _RIGHT, _STEP = 270, 20, 9


def interval_chart(number: int, title: str, rows: Sequence[tuple[str, Sequence[Mark]]]) -> str:
    """A line for each name with a mark for each split: a dot, its interval, and chance as a tick.

    Args:
        number: a number that no other figure of the page has.
        title: what the figure shows.
        rows: names with their marks.
    """
    largest = max([1.0, *(mark.high for _, marks in rows for mark in marks)])
    scale = (_WIDTH - _LEFT - _RIGHT) / largest
    heights = [_STEP * max(1, len(marks)) + 8 for _, marks in rows]
    bottom = sum(heights) + 6

    def parts() -> Iterator[str]:
        for tick in range(6):
            x = _LEFT + scale * largest * tick / 5
            yield _line(x, 0, x, bottom, "grid")
            yield _text(x, bottom + 14, f"{largest * tick / 5:.3g}", "middle")
        y = 6.0
        for (name, marks), height in zip(rows, heights, strict=True):
            yield _text(_LEFT - 8, y + height / 2, name, "end")
            for place, mark in enumerate(marks):
                yield _interval(mark, y + _STEP * (place + 0.5), scale)
            y += height

    return _svg(bottom + 20, title, number, parts())


def _interval(mark: Mark, y: float, scale: float) -> str:
    def x(value: float) -> float:
        return _LEFT + scale * max(0.0, value)

    chance = ""
    if mark.chance is not None:
        chance = _line(x(mark.chance), y - 4, x(mark.chance), y + 4, "chance")
    style = color(mark.split)
    star = _text(x(mark.high) + 4, y + 6, "*") if mark.near else ""
    return (
        f"<g><title>{escape(mark.text)}</title>{chance}"
        f"{_line(x(mark.low), y, x(mark.high), y, f'interval {style}')}"
        f'<circle class="{style}" cx="{x(mark.mean):g}" cy="{y:g}" r="3.2"/>{star}</g>'
    )


_PLOT, _LABELS, _AXIS = 150, 74, 44


def bar_chart(number: int, title: str, trait: Trait) -> str:
    """The share of each value in each split: groups of bars, one for each split.

    Args:
        number: a number that no other figure of the page has.
        title: what the figure shows.
        trait: the values and their counts; some are put together where there are many.
    """
    trait = gathered(trait)
    splits = list(trait.counts)
    count = len(trait.values)
    top = max([trait.share(split, value) for split in splits for value in range(count)]) or 1.0
    room = (_WIDTH - _AXIS) / count
    width = min(0.8 * room / len(splits), 24.0)

    def parts() -> Iterator[str]:
        for tick in range(3):
            y = 8 + _PLOT * (1 - tick / 2)
            yield _line(_AXIS, y, _WIDTH, y, "grid")
            yield _text(_AXIS - 4, y + 4, f"{top * tick / 2:.3g}", "end")
        for value, name in enumerate(trait.values):
            middle = _AXIS + room * (value + 0.5)
            for place, split in enumerate(splits):
                share = trait.share(split, value)
                left = middle + width * (place - len(splits) / 2)
                yield (
                    f'<rect class="{color(place)}" x="{left:.2f}" width="{width:.2f}" '
                    f'y="{8 + _PLOT * (1 - share / top):.2f}" height="{_PLOT * share / top:.2f}">'
                    f"<title>{escape(f'{split}, {name}: {share:.2%}')}</title></rect>"
                )
            if value % max(1, count // 24) == 0:
                short = name if len(name) <= 16 else f"{name[:15]}…"
                yield _text(middle + 4, 8 + _PLOT + 14, short, "end", turned=len(short) > 3)

    return _svg(8 + _PLOT + _LABELS, title, number, parts())


def gathered(trait: Trait) -> Trait:
    """A trait with no more values than can be drawn.

    Neighbouring numbers are put together; of other values the most frequent stay, and the rest is
    one.
    """
    count = len(trait.values)
    if count <= MOST_BARS:
        return trait
    if all(value.lstrip("-").isdigit() for value in trait.values):
        step = -(-count // MOST_BARS)
        groups = [list(range(first, min(first + step, count))) for first in range(0, count, step)]
        names = [f"{trait.values[group[0]]}–{trait.values[group[-1]]}" for group in groups]
    else:
        total = [sum(counts[value] for counts in trait.counts.values()) for value in range(count)]
        order = sorted(range(count), key=lambda value: (-total[value], value))
        kept = sorted(order[: MOST_BARS - 1])
        groups = [*([value] for value in kept), order[MOST_BARS - 1 :]]
        names = [*(trait.values[value] for value in kept), f"{count - len(kept):,} others"]
    counts = {
        split: [sum(counts[value] for value in group) for group in groups]
        for split, counts in trait.counts.items()
    }
    return dataclasses.replace(trait, values=names, counts=counts)
