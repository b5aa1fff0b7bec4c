"""Charts as HTML figures with inline SVG, as wide as a telephone.

The page's style colours each element by its class, in light and in dark. Every bar and mark has a
title with its numbers, which browsers show under the pointer and screen readers read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from synthbench.auditing.balance import Distribution
from synthbench.auditing.scoring import Reference, ScoreOnRows, score_text
from synthbench.text.lines import printable
from synthbench.text.tables import escaped

#: The width of a chart. On a screen of 400 pixels, letters are as many pixels high as they say.
_WIDTH, _LETTERS = 400, 12.5
#: Room for names at the left of bars, and for half a name at the right of the last mark.
_LEFT, _RIGHT = 40, 20
#: The height of the line of a shortcut's score, and of the longest bar.
_LINE, _BARS = 28, 140
#: The maximum number of bars. If a distribution has more values, some are merged.
MOST_BARS = 24
#: The maximum number of values that are named below the bars.
_MOST_NAMES = 12
#: The maximum length of a value's name under a bar, and of a shortcut's name above its mark.
_VALUE_NAME, _SHORTCUT_NAME = 12, 40
#: The approximate width of a letter.
_LETTER = 0.6 * _LETTERS


def score_chart(
    title: str, metric: str, scores: Mapping[str, ScoreOnRows], reference: Reference
) -> str:
    """Each shortcut's score as a dot with its interval. Ticks at chance and at the solver.

    Args:
        title: the subject.
        metric: the metric, which every score has.
        scores: the scores by the shortcuts' names, from top to bottom.
        reference: the scores of chance and of the solver.
    """
    known = {"chance": reference.chance.get(metric), "solver": reference.solution.get(metric)}
    references = {name: value for name, value in known.items() if value is not None}
    highs = [score.figures[metric].high for score in scores.values()]
    end, top = max(1.0, *references.values(), *highs), 1.5 * _LETTERS
    bottom = top + _LINE * len(scores)

    def across(value: float) -> float:
        return 4 + (_WIDTH - _RIGHT - 4) * max(0.0, value) / end

    parts = []
    for value in _even(end):
        x = across(value)
        parts.append(_line("grid", (x, top), (x, bottom)))
        parts.append(_text(x, bottom + _LETTERS + 2, f"{value:g}", _anchor(x)))
    for name, value in references.items():
        x = across(value)
        parts.append(_text(x, _LETTERS, name, _anchor(x, name)))
        ticks = "".join(f"M{x:.2f} {top + _LINE * row + 15:.2f}v12" for row in range(len(scores)))
        parts.append(_titled("reference", f"{name} {value:.3g}", f'<path d="{ticks}"/>'))
    for row, (name, score) in enumerate(scores.items()):
        y, figure = top + _LINE * row, score.figures[metric]
        text = score_text(score, metric, reference)
        parts.append(_text(across(0), y + _LETTERS, f"{_short(name, _SHORTCUT_NAME)} {text}"))
        ends = _line("", (across(figure.low), y + 21), (across(figure.high), y + 21))
        dot = f'<circle cx="{across(figure.mean):.2f}" cy="{y + 21:.2f}" r="3.4"/>'
        text = f"{name}: {score_text(score, metric, reference, with_interval=True)}"
        parts.append(_titled("mark near" if score.near else "mark", text, ends + dot))
    return _figure(title, bottom + 1.6 * _LETTERS, parts)


def bar_chart(title: str, distribution: Distribution, split: str, other: str | None) -> str:
    """The share of each value in a split as bars, and in another split, if any, as ticks."""
    merged = distribution.merged(MOST_BARS)
    indices = range(len(merged.values))
    shares = [merged.share(split, index) for index in indices]
    others = [merged.share(other, index) for index in indices] if other is not None else []
    end = max([*shares, *others]) or 1.0
    bottom, step = _BARS + _LETTERS, (_WIDTH - _LEFT - 4) / len(indices)

    def up(share: float) -> float:
        return bottom - _BARS * share / end

    parts = []
    for share in _even(end):
        parts.append(_line("grid", (_LEFT, up(share)), (_WIDTH - 4, up(share))))
        parts.append(_text(_LEFT - 5, up(share) + 0.35 * _LETTERS, f"{100 * share:g}%", "end"))
    for index, name in enumerate(merged.values):
        x, share = _LEFT + step * (index + 0.1), shares[index]
        size = f'width="{0.8 * step:.2f}" height="{bottom - up(share):.2f}"'
        bar = f'<rect x="{x:.2f}" y="{up(share):.2f}" {size}/>'
        parts.append(_titled("bar", f"{split}, {name}: {share:.2%}", bar))
    for index, (name, share) in enumerate(zip(merged.values, others, strict=False)):
        x = _LEFT + step * index
        tick = _line("", (x + 0.05 * step, up(share)), (x + 0.95 * step, up(share)))
        parts.append(_titled("tick", f"{other}, {name}: {share:.2%}", tick))
    every = -(-len(indices) // _MOST_NAMES)
    named = {index: _short(merged.values[index], _VALUE_NAME) for index in indices[::every]}
    longest = max(map(len, named.values()))
    turned = longest > 3
    for index, name in named.items():
        x = _LEFT + step * (index + 0.5)
        if turned:
            parts.append(_text(x + 4, bottom + _LETTERS, name, "end", turned=True))
        else:
            parts.append(_text(x, bottom + _LETTERS + 2, name, "middle"))
    room = 1.2 * _LETTERS + (0.64 * _LETTER * longest if turned else 0.4 * _LETTERS)
    return _figure(title, bottom + room, parts)


def _even(end: float) -> list[float]:
    """At most seven round numbers from 0 to `end`."""
    power = 10.0 ** math.floor(math.log10(end))
    step = next(width for width in (0.2 * power, 0.5 * power, power, 2 * power) if end / width < 6)
    return [step * number for number in range(math.floor(end / step + 1e-9) + 1)]


def _short(name: str, longest: int) -> str:
    name = printable(name)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


# Elements.


def _figure(title: str, height: float, parts: Iterable[str]) -> str:
    name, box = escaped(title), f'viewBox="0 0 {_WIDTH} {height:.1f}" font-size="{_LETTERS}"'
    svg = "\n".join([f'<svg role="img" aria-label="{name}" {box}>', *parts, "</svg>"])
    return f"<figure><figcaption>{name}</figcaption>{svg}</figure>"


def _titled(kind: str, title: str, elements: str) -> str:
    return f'<g class="{kind}"><title>{escaped(title)}</title>{elements}</g>'


def _line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    named = f' class="{kind}"' if kind else ""
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"{named}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", turned: bool = False) -> str:
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    angle = f' transform="rotate(-40 {x:.2f} {y:.2f})"' if turned else ""
    return f'<text x="{x:.2f}" y="{y:.2f}"{side}{angle}>{escaped(text)}</text>'


def _anchor(x: float, text: str = "0") -> str:
    """A text is centred on `x`, unless it would leave the chart at the left."""
    return "middle" if x >= len(text) * _LETTER / 2 else "start"
