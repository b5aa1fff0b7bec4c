"""Rows as inline SVG pictures, whose colours follow the page's light or dark theme.

A task that has no picture here is shown as `synthbench preview` shows it.
"""

from __future__ import annotations

import base64
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import torch

from synthbench.preview import draw_row
from synthbench.tasks.base import Task
from synthbench.tasks.images import load
from synthbench.tasks.images.source_dirs import named_source, use_source_dir
from synthbench.tasks.parity.solver import asks_for_c
from synthbench.tasks.trees.expression import Deciding, Expression
from synthbench.tasks.trees.task import ExpressionTask
from synthbench.training.models.clusters import NORMALISATIONS, Clusters
from tests.tasks.tiny_sources import write_sources

#: Symbols of a chain that stand on one line.
_CHAIN = 6


def picture(task: Task, row: Mapping[str, Any]) -> str:
    """One row as HTML: a picture, or the text of `synthbench preview`."""
    draw = _PICTURES.get(task.name)
    if draw is None:
        return f"<pre>{escape(str(draw_row(task, row)))}</pre>"
    return draw(task, row)


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


# Nested expressions.


def tree(task: ExpressionTask, row: Mapping[str, Any]) -> str:
    """The expression as a tree; what does not decide the value is faint."""
    root = task.read(row["text"])
    return draw_tree(root, task.deciding, f"{row['text']} is {root.value}")


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


def depth_two() -> str:
    """The worked example of conditional sampling: an operation over operands of depth 0 or 1."""
    parts = []
    for panel, (left, right, chance) in enumerate(
        [(0, 0, "0.64"), (1, 0, "0.16"), (0, 1, "0.16"), (1, 1, "0.04")]
    ):
        faint, x = ("" if left or right else " faint"), 75 + 150 * panel
        for side, depth in ((x - 34, left), (x + 34, right)):
            parts.append(line(x, 22, side, 72, "line" + faint))
            for leaf in (side - 15, side + 15) if depth else ():
                parts += [line(side, 72, leaf, 112), _circle(leaf, 112, "leaf")]
            parts.append(_circle(side, 72, "box" if depth else "leaf" + faint))
        parts.append(_circle(x, 22, "box" + faint))
        depth = 2 if left or right else 1
        parts += [text(x, 148, f"{chance}, depth {depth}", "strong" + faint)]
        share = {"0.16": "4 of 9", "0.04": "1 of 9"}.get(chance, "not drawn")
        parts.append(text(x, 170, share, faint))
    return svg(600, 184, parts, "Four forms of an operation, three of them of depth 2")


def _circle(x: float, y: float, kind: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="11" class="{kind}"/>'


def way_of_the_data() -> str:
    """From a request to a published dataset, and who reads it."""
    boxes = [
        (75, 32, "Request", "task, seed, sizes"),
        (235, 32, "Plan", "rows a bucket"),
        (395, 32, "Sampler", "which rows are kept"),
        (555, 32, "Rounds", "balanced, shuffled"),
        (395, 142, "Engine", "blocks of candidates"),
        (555, 142, "Shards", "rows, ids, digests"),
        (555, 252, "Staging", "one rename"),
        (395, 252, "Dataset", "shards and card"),
        (155, 252, "Readers", "verify, audit, evaluate, export, train"),
    ]
    parts = [arrow(140, 170, 32), arrow(300, 330, 32), arrow(460, 490, 32)]
    parts += [_down(555, 58, 116), _down(555, 168, 226), _down(395, 116, 58), _down(395, 58, 116)]
    parts += [arrow(460, 490, 142), arrow(490, 460, 252), arrow(330, 280, 252)]
    for x, y, name, words in boxes:
        width = 250 if name == "Readers" else 130
        parts.append(box(x, y, width, 52, "answer" if name == "Dataset" else "box"))
        parts += [text(x, y - 10, name, "strong"), text(x, y + 12, words, "small")]
    parts.append(text(316, 88, "task.propose(draws, n)", "small"))
    title = "Request, plan, sampler with its engine, rounds, shards, staging, dataset, readers"
    return f'<div class="wide">{svg(624, 284, parts, title)}</div>'


def _down(x: float, y1: float, y2: float) -> str:
    side = 4 if y1 > y2 else -4
    tip = f"M{x - 4:g} {y2 + 1.5 * side:g}L{x:g} {y2:g}L{x + 4:g} {y2 + 1.5 * side:g}"
    return line(x, y1, x, y2) + f'<path d="{tip}" class="line"/>'


# The other tasks.


def chain(task: Any, row: Mapping[str, Any]) -> str:
    """Symbols with the functions that lead from one to the next."""
    symbol, functions = task.solver.read(row["text"])
    steps = [symbol, *row["steps"]]
    parts = []
    for number, name in enumerate(steps):
        x, y = 36 + 112 * (number % _CHAIN), 40 + 70 * (number // _CHAIN)
        last = number == len(steps) - 1
        parts += [box(x, y, 52, 32, "answer" if last else "box"), text(x, y, name, "strong")]
        if not last:
            parts += [arrow(x + 30, x + 80, y), text(x + 55, y - 14, functions[number])]
    lines, width = 1 + (len(steps) - 1) // _CHAIN, min(len(steps), _CHAIN)
    title = f"{row['text']} is {steps[-1]}"
    return svg(112 * width + 12, 70 * lines - 4, parts, title)


def parity(task: Task, row: Mapping[str, Any]) -> str:
    """The four numbers: which of a and b are odd, and which of c and d is the answer."""
    chosen = 2 if asks_for_c(row["a"], row["b"]) else 3
    parts = []
    for number, name in enumerate("abcd"):
        x, value = 40 + 76 * number, row[name]
        kind = "answer" if number == chosen else "box" if number < 2 else "box faint"
        below = ("odd" if value % 2 else "even") if number < 2 else ""
        parts += [box(x, 48, 48, 36, kind), text(x, 48, value, "strong"), text(x, 16, name)]
        parts += [text(x, 82, below or ("answer" if number == chosen else ""))]
    return svg(308, 96, parts, f"{row['text']} {row['abcd'[chosen]]}")


def grids(task: Task, row: Mapping[str, Any]) -> str:
    """The grid and, beside it, the count of each cell's colour."""
    size, cell = row["size"], 26
    wide = size * cell
    parts = [text(wide / 2 + 2, 10, "grid"), text(wide * 1.5 + 42, 10, "label")]
    for i, (colors, counts) in enumerate(zip(row["grid"], row["label"], strict=True)):
        for j, (color, count) in enumerate(zip(colors, counts, strict=True)):
            x, y = 2 + (j + 0.5) * cell, 24 + (i + 0.5) * cell
            for left, words in ((x, color or ""), (x + wide + 40, count)):
                parts.append(
                    f'<rect x="{left - 13:g}" y="{y - 13:g}" width="26" height="26" '
                    f'class="cell color-{color}"/>'
                )
                parts.append(text(left, y, words, f"on-{color}"))
    return svg(2 * wide + 44, wide + 28, parts, f"A {size}x{size} grid and its counts")


def numbers(task: Any, row: Mapping[str, Any]) -> str:
    """The numbers of a vector on a line, on which the range of training is marked."""
    scale, middle = 260, 290
    inside = task.parameters.train_range * scale
    parts = [
        f'<rect x="{middle - inside:g}" y="12" width="{2 * inside:g}" height="36" class="band"/>',
        line(middle - 270, 30, middle + 270, 30),
        text(
            middle, 62, f"training: -{task.parameters.train_range} to {task.parameters.train_range}"
        ),
    ]
    for value in row["x"]:
        parts.append(f'<circle cx="{middle + value * scale:g}" cy="30" r="7" class="dot-1"/>')
    for end in (-1, 1):
        parts.append(text(middle + end * scale, 62, end))
    return svg(580, 76, parts, "The numbers of a row between -1 and 1")


def clusters(task: Task, row: Mapping[str, Any]) -> str:
    """The points, and where four steps of each kind of attention move them."""
    points = torch.tensor([row["points"]], dtype=torch.float64)
    moved = {"the row": points[0].numpy()}
    for name in NORMALISATIONS:
        moved[f"after {name}"] = Clusters(normalisation=name)(points).scores[0].numpy()
    low, high = moved["the row"].min(axis=0) - 0.3, moved["the row"].max(axis=0) + 0.3
    parts = []
    for panel, (title, places) in enumerate(moved.items()):
        left = 190 * panel
        parts += [box(left + 90, 108, 172, 172, "frame"), text(left + 90, 12, title)]
        unit = (np.clip(places, low, high) - low) / (high - low)
        for (x, y), cluster in zip(unit, row["cluster"], strict=True):
            parts.append(
                f'<circle cx="{left + 6 + 168 * x:.1f}" cy="{192 - 168 * y:.1f}" r="2.2" '
                f'class="dot-{cluster + 1}"/>'
            )
    return svg(560, 200, parts, "Two clusters before and after attention")


def quadrants(task: Any, row: Mapping[str, Any]) -> str:
    """The image, three times as large, and beside it in words what it shows.

    Of sources that are not at hand only the words are shown (`stand_ins`).
    """
    words = f"<pre>{escape(str(draw_row(task, row)).partition(chr(10))[2])}</pre>"
    kinds = {quadrant["kind"] for quadrant in row["quadrants"]} - {"empty"}
    if any(named_source(kind) for kind in kinds):
        return words
    data = base64.b64encode(row["image"]["bytes"]).decode("ascii")
    image = f'<img class="pixels" src="data:image/png;base64,{data}" alt="The row\'s image">'
    return f'<div class="quadrants">{image}{words}</div>'


@contextlib.contextmanager
def stand_ins() -> Iterator[None]:
    """Put noise in the place of image sources that are missing, so that rows can be drawn in words.

    Without this the documentation could be built only where MNIST, Fashion-MNIST and CIFAR-10 are.
    """
    missing = [kind for kind in ("mnist", "fashion", "cifar") if not load.is_here(kind)]
    with tempfile.TemporaryDirectory() as place:
        write_sources(Path(place))
        with use_source_dir(dict.fromkeys(missing, place) or None):
            yield


_PICTURES: Mapping[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "listops": tree,
    "arithmetic": tree,
    "ctl": chain,
    "parity": parity,
    "composites": quadrants,
    "grid-count": grids,
    "identity": numbers,
    "clusters": clusters,
}
