"""Nested expressions as trees, in inline SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shapes import box, line, svg, text

from synthbench.tasks.trees.expression import Deciding, Expression


def draw_tree(root: Expression, deciding: Deciding, title: str) -> str:
    """A tree of operators with their values, digits as leaves."""
    places: dict[int, tuple[float, float]] = {}
    right = _place(root, 0, 24.0, places)
    parts = list(_branches(root, deciding, places, True))
    bottom = max(y for _, y in places.values())
    return svg(right + 4, bottom + 24, parts, title)


def _place(
    node: Expression, level: int, left: float, places: dict[int, tuple[float, float]]
) -> float:
    """Give a subtree its place; returns where the next may begin."""
    right = left
    for argument in node.arguments:
        right = _place(argument, level + 1, right, places)
    if node.arguments:
        first, last = places[id(node.arguments[0])], places[id(node.arguments[-1])]
        places[id(node)] = ((first[0] + last[0]) / 2, 22 + 54 * level)
        return max(right, left + 70)
    places[id(node)] = (left, 22 + 54 * level)
    return left + 36


def _branches(
    node: Expression, deciding: Deciding, places: Mapping[int, tuple[float, float]], needed: bool
) -> Iterator[str]:
    x, y = places[id(node)]
    kept = deciding(node) if node.arguments else ()
    for argument in node.arguments:
        below = places[id(argument)]
        useful = needed and argument in kept
        yield line(x, y + 15, below[0], below[1] - 13, "line" if useful else "line faint")
        yield from _branches(argument, deciding, places, useful)
    faint = "" if needed else " faint"
    if node.arguments:
        yield box(x, y, 64, 30, "box" + faint)
        yield text(x, y, f"{node.symbol.strip('[')} {node.value}", "strong" + faint)
    else:
        yield f'<circle cx="{x:g}" cy="{y:g}" r="13" class="leaf{faint}"/>'
        yield text(x, y, node.symbol, faint)
