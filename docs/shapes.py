"""Shapes of inline SVG, in the colours of the page's theme: `docs/pages/assets/site.css`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    """A picture that shrinks to the width of the page; no blank lines, so Markdown keeps it."""
    return (
        f'<svg class="drawn" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: object, kind: str = "") -> str:
    """Words centred at a place; `kind` is a class of the style sheet."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(str(words))}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> str:
    """A straight line."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>'


def box(x: float, y: float, width: float, height: float, kind: str = "box") -> str:
    """A box with round corners around its centre."""
    return (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
        f'height="{height:g}" rx="6" class="{kind}"/>'
    )


def arrow(x1: float, x2: float, y: float) -> str:
    """A horizontal arrow."""
    back = x2 - 6 if x2 > x1 else x2 + 6
    tip = f"M{back:g} {y - 4:g}L{x2:g} {y:g}L{back:g} {y + 4:g}"
    return line(x1, y, x2, y) + f'<path d="{tip}" class="line"/>'


#: The outlines of marks around (0, 0), and by how many degrees they are turned.
_PLUS = "M-1.3-4.2h2.6v2.9h2.9v2.6h-2.9v2.9h-2.6v-2.9h-2.9v-2.6h2.9z"
_MARKS = [
    ("M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z", 0),  # circle
    ("M-3.2-3.2h6.4v6.4h-6.4z", 0),  # square
    ("M0-4.4L4.2 3.2H-4.2z", 0),  # triangle
    ("M-3.2-3.2h6.4v6.4h-6.4z", 45),  # diamond
    ("M0-4.4L4.2 3.2H-4.2z", 180),
    (_PLUS, 0),
    (_PLUS, 45),  # cross
    ("M-4-4.2H4L-4 4.2H4z", 0),  # hourglass
]
#: How many curves have a colour, a stroke and a mark of their own; the style sheet has the first
#: two.
MOST_CURVES = len(_MARKS)


def mark(x: float, y: float, number: int) -> str:
    """The mark of a chart's curve, which is given by its number from 1."""
    outline, angle = _MARKS[number - 1]
    turned = f" rotate({angle})" if angle else ""
    place = f"translate({x:.1f} {y:.1f}){turned}"
    return f'<path d="{outline}" transform="{place}" class="dot-{number} mark"/>'


def circle(x: float, y: float, kind: str) -> str:
    """A circle as large as a digit."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="11" class="{kind}"/>'
