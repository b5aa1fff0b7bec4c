"""Rows as inline SVG pictures, whose colours follow the page's light or dark theme.

A task that has no picture here is shown as `synthbench preview` shows it.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from boards import grids, maze, quadrants, sudoku
from numpy.typing import NDArray
from shapes import arrow, box, line, svg, text
from trees import draw_tree

from synthbench.tasks.base import Task
from synthbench.tasks.describe import draw_row
from synthbench.tasks.images import load
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.parity.solver import asks_for_c
from synthbench.tasks.trees.task import ExpressionTask
from tests.tasks.tiny_sources import write_sources

#: Symbols of a chain on a line, pairs on a line, and the most lines of a string.
_CHAIN = _PAIRS = _LINES = 4
#: The width of a string, at which its letters are readable on a card of the gallery.
_STRING = 432


def picture(task: Task, row: Mapping[str, Any]) -> str:
    """One row as HTML: a picture, or the text of `synthbench preview`."""
    draw = _PICTURES.get(task.name)
    if draw is None:
        return f"<pre>{escape(str(draw_row(task, row)))}</pre>"
    return draw(task, row)


def tree(task: ExpressionTask, row: Mapping[str, Any]) -> str:
    """The expression as a tree; what does not decide the value is faint."""
    root = task.read(row["text"])
    return draw_tree(root, task.deciding, f"{row['text']} is {root.value}")


def chain(task: Any, row: Mapping[str, Any]) -> str:
    """Symbols with the functions that lead from one to the next."""
    symbol, functions = task.solver.read(row["text"])
    steps = [symbol, *row["steps"]]
    return _steps(steps, functions, f"{row['text']} is {steps[-1]}")


def products(task: Task, row: Mapping[str, Any]) -> str:
    """The products with the elements that lead from one to the next."""
    return _steps(
        row["label"].split(), row["text"].split()[1:], f"{row['text']} gives {row['label']}"
    )


def _steps(steps: Sequence[str], names: Sequence[str], title: str) -> str:
    """Steps in boxes, with the names of the arrows between them; the last step is the answer."""
    parts = []
    for number, name in enumerate(steps):
        x, y = 36 + 112 * (number % _CHAIN), 40 + 70 * (number // _CHAIN)
        last = number == len(steps) - 1
        parts += [box(x, y, 52, 32, "answer" if last else "box"), text(x, y, name, "strong")]
        if not last:
            parts += [arrow(x + 30, x + 80, y), text(x + 55, y - 14, names[number])]
    lines, width = 1 + (len(steps) - 1) // _CHAIN, min(len(steps), _CHAIN)
    return svg(112 * width + 12, 70 * lines - 4, parts, title)


def parity(task: Task, row: Mapping[str, Any]) -> str:
    """The four numbers: which of a and b are odd, and which of c and d is the answer."""
    answer = 2 if asks_for_c(row["a"], row["b"]) else 3
    parts = []
    for number, name in enumerate("abcd"):
        x, value = 40 + 76 * number, row[name]
        kind = "answer" if number == answer else "box" if number < 2 else "box faint"
        below = ("odd" if value % 2 else "even") if number < 2 else ""
        parts += [box(x, 48, 48, 36, kind), text(x, 48, value, "strong"), text(x, 16, name)]
        parts += [text(x, 82, below or ("answer" if number == answer else ""))]
    return svg(308, 96, parts, f"{row['text']} {row['abcd'[answer]]}")


def clock(task: Any, row: Mapping[str, Any]) -> str:
    """All numbers on a circle, from 0 at the top: a, b and the answer, each with its name."""
    modulus, names = task.parameters.modulus, {"a": row["a"], "b": row["b"], "=": row["label"]}
    middle, radius = 100, 66
    title = f"{row['text']} {row['label']}"

    def point(number: float, away: float) -> tuple[float, float]:
        angle = 2 * math.pi * number / modulus
        return middle + away * math.sin(angle), middle - away * math.cos(angle)

    parts = []
    for number in range(modulus):
        x, y = point(number, radius)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" class="leaf"/>')
    beside_of = _apart([number / modulus for number in names.values()], 0.045)
    for (name, number), turn in zip(names.items(), beside_of, strict=True):
        (x, y), (beside, below) = point(number, radius), point(turn * modulus, radius + 22)
        kind = "answer" if name == "=" else "box"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{kind}"/>')
        parts.append(text(beside, below, number, "strong" if name == "=" else ""))
    parts += [
        text(middle, middle - 12, title, "strong" if len(title) < 15 else "small strong"),
        text(middle, middle + 12, f"modulo {modulus}"),
    ]
    return svg(2 * middle, 2 * middle, parts, title)


def _apart(turns: Sequence[float], least: float) -> list[float]:
    """Places on a circle of length 1, moved so that all neighbours are at least so far apart."""
    order = sorted(range(len(turns)), key=turns.__getitem__)
    moved = list(turns)
    for _ in range(100):
        for here, other in zip(order, [*order[1:], order[0]], strict=True):
            gap = (moved[other] - moved[here]) % 1
            if other != here and gap < least:
                moved[here] -= (least - gap) / 2
                moved[other] += (least - gap) / 2
    return moved


def recall(task: Any, row: Mapping[str, Any]) -> str:
    """The pairs, and below them the slots behind them; each key leads to where it is asked."""
    pairs, rest = task.read(row["text"])
    slot_of = {word: place // 2 for place, word in enumerate(rest) if word in pairs}
    slots = len(rest) // 2
    cell = max(12, 122 * min(len(pairs), _PAIRS) // slots)
    columns = min(len(pairs), _PAIRS)
    width = max(cell * slots, 122 * columns) + 8
    bottom = 100 + 44 * ((len(pairs) - 1) // _PAIRS)
    lines, parts = [], []
    for number, (key, value) in enumerate(pairs.items()):
        x, y = (number % _PAIRS + 0.5) * width / columns, 24 + 44 * (number // _PAIRS)
        below = 4 + (slot_of[key] + 0.5) * cell
        lines.append(line(x - 28, y + 16, below, bottom - 8))
        parts += [box(x - 28, y, 54, 32), box(x + 28, y, 54, 32)]
        parts += [text(x - 28, y, key), text(x + 28, y, value, "strong")]
    for slot in range(slots):
        kind = "answer" if slot in slot_of.values() else "box faint"
        parts.append(box(4 + (slot + 0.5) * cell, bottom, cell - 3, 16, kind))
    title = f"{len(pairs)} pairs, and where their keys are asked"
    return svg(width, bottom + 14, lines + parts, title)


def string(task: Any, row: Mapping[str, Any]) -> str:
    """The symbols of a string, and below them the answer; of long ones the first symbols."""
    words = [*row["text"].split(), *row["label"].split()]
    cell = 8 * max(2, *map(len, words)) + 12
    per_line, parts, top, width = _STRING // cell, [], 0, 0
    for kind, words in (("box", row["text"].split()), ("answer", row["label"].split())):
        words = [word for word in words if word != task.answer.ignored]
        most = _LINES * per_line
        shown = words if len(words) <= most else [*words[: most - 1], "..."]
        for number, word in enumerate(shown):
            x, y = number % per_line, top + number // per_line
            parts.append(box(14 + (x + 0.5) * cell, 18 + 30 * y, cell - 4, 24, kind))
            parts.append(text(14 + (x + 0.5) * cell, 18 + 30 * y, word))
        top, width = top - (-len(shown) // per_line), max(width, min(len(shown), per_line))
    return svg(28 + width * cell, 6 + 30 * top, parts, f"{task.variant}: a string and its answer")


def numbers(task: Any, row: Mapping[str, Any]) -> str:
    """The numbers of a vector on a line, on which the range of training is marked."""
    scale, middle = 200, 225
    inside = task.parameters.train_range * scale
    parts = [
        f'<rect x="{middle - inside:g}" y="12" width="{2 * inside:g}" height="36" class="band"/>',
        line(middle - 210, 30, middle + 210, 30),
        text(
            middle, 62, f"training: -{task.parameters.train_range} to {task.parameters.train_range}"
        ),
    ]
    for value in row["x"]:
        parts.append(f'<circle cx="{middle + value * scale:g}" cy="30" r="7" class="dot-1"/>')
    for end in (-1, 1):
        parts.append(text(middle + end * scale, 62, end))
    return svg(450, 76, parts, "The numbers of a row between -1 and 1")


def clusters(task: Task, row: Mapping[str, Any]) -> str:
    """The points, and where four steps of each kind of attention move them."""
    points = np.array(row["points"], np.float64)
    moved = {
        "the row": points,
        "softmax": _attended(points, over_queries=False),
        "doubly-normalised": _attended(points, over_queries=True),
    }
    low, high = moved["the row"].min(axis=0) - 0.3, moved["the row"].max(axis=0) + 0.3
    parts = []
    for panel, (title, places) in enumerate(moved.items()):
        left = 152 * panel
        parts += [box(left + 75, 96, 142, 142, "frame"), text(left + 75, 12, title)]
        unit = (np.clip(places, low, high) - low) / (high - low)
        for (x, y), cluster in zip(unit, row["cluster"], strict=True):
            parts.append(
                f'<circle cx="{left + 6 + 138 * x:.1f}" cy="{165 - 138 * y:.1f}" r="2.2" '
                f'class="dot-{cluster + 1}"/>'
            )
    return svg(456, 170, parts, "Two clusters before and after attention")


def _attended(points: NDArray[np.float64], over_queries: bool) -> NDArray[np.float64]:
    """Points `(points, 2)` after four steps of attention, normalised over queries first or not."""
    for _ in range(4):
        weights = np.exp(points @ points.T)
        if over_queries:
            weights /= weights.sum(axis=0)
        points = weights / weights.sum(axis=1, keepdims=True) @ points
    return points


def calculation(task: Any, row: Mapping[str, Any]) -> str:
    """The numbers below each other as at school, with carries above and the result below."""
    lines = str(draw_row(task, row)).splitlines()
    rule = next(number for number, signs in enumerate(lines) if set(signs) == {"-"})
    width, parts = len(lines[rule]), []
    for number, signs in enumerate(lines[: rule + 2]):
        y, carried = 20 + 34 * number, rule == 3 and number == 0
        if number == rule:
            parts.append(line(8, y, 30 * width - 2, y, "line"))
        for place, sign in enumerate(signs.ljust(width)):
            x = 18 + 30 * place
            if sign.isdigit() and not carried:
                parts.append(box(x, y, 26, 28, "answer" if number > rule else "box"))
            if sign.strip() and number != rule:
                parts.append(text(x, y, sign, "faint" if carried else "strong"))
    return svg(30 * width + 8, 34 * (rule + 2) + 6, parts, f"{row['text']} {row['label']}")


def equation(task: Any, row: Mapping[str, Any]) -> str:
    """The numbers and the target, and below them the calculations of the label."""
    parts, lines = [], str(draw_row(task, row)).splitlines()[2:]
    for place, number in enumerate(row["numbers"]):
        parts += [box(30 + 54 * place, 24, 48, 32), text(30 + 54 * place, 24, number, "strong")]
    end = 30 + 54 * len(row["numbers"])
    parts += [arrow(end - 22, end + 12, 24), box(end + 42, 24, 48, 32, "answer")]
    parts.append(text(end + 42, 24, row["target"], "strong"))
    parts += [text(end / 2 + 20, 66 + 24 * n, line.strip()) for n, line in enumerate(lines)]
    return svg(end + 72, 60 + 24 * len(lines), parts, f"{row['label']} = {row['target']}")


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
    "modular-arithmetic": clock,
    "state-tracking": products,
    "automaton": string,
    "mqar": recall,
    "chomsky": string,
    "addition": calculation,
    "countdown": equation,
    "copying": string,
    "lists": string,
    "dyck": string,
    "maze": maze,
    "sudoku": sudoku,
}
