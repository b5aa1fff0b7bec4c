"""Rows that are grids of cells: grid counting, mazes, Sudoku, and images of four quadrants."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from html import escape
from typing import Any

from shapes import box, line, svg, text

from synthbench.tasks.base import Task
from synthbench.tasks.describe import draw_row
from synthbench.tasks.sudoku.solver import BOXES


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


def quadrants(task: Any, row: Mapping[str, Any]) -> str:
    """The image, three times as large, and beside it in words what it shows.

    Of sources that are not at hand only the words are shown (`stand_ins`).
    """
    words = f"<pre>{escape(str(draw_row(task, row)).partition(chr(10))[2])}</pre>"
    kinds = {quadrant["kind"] for quadrant in row["quadrants"]} - {"empty"}
    if any(task.source_dirs.own(kind) for kind in kinds):
        return words
    data = base64.b64encode(row["image"]["bytes"]).decode("ascii")
    image = f'<img class="pixels" src="data:image/png;base64,{data}" alt="The row\'s image">'
    return f'<div class="quadrants">{image}{words}</div>'


def maze(task: Any, row: Mapping[str, Any]) -> str:
    """The maze, with its path as a line from S to G."""
    words = row["label"].split(" ")
    size, cell = math.isqrt(len(words)), 20
    parts = []
    for place, word in enumerate(words):
        x, y = 4 + (place % size + 0.5) * cell, 4 + (place // size + 0.5) * cell
        kind = {"#": "wall", "*": "answer"}.get(word)
        if kind:
            side = cell if word == "#" else cell / 2
            parts.append(box(x, y, side, side, kind))
        elif word != ".":
            parts.append(text(x, y, word, "strong"))
    return svg(
        size * cell + 8, size * cell + 8, parts, f"A maze with a path of {row['steps']} steps"
    )


def sudoku(task: Any, row: Mapping[str, Any]) -> str:
    """The puzzle with its clues in bold, and the digits of the solution between them."""
    words, label = row["text"].split(" "), row["label"].split(" ")
    (high, wide), size, cell = BOXES[len(words)], math.isqrt(len(words)), 28
    parts = []
    for place, (clue, digit) in enumerate(zip(words, label, strict=True)):
        x, y = 4 + (place % size + 0.5) * cell, 4 + (place // size + 0.5) * cell
        parts.append(box(x, y, cell - 2, cell - 2, "answer" if clue == "." else "box"))
        parts.append(text(x, y, digit, "" if clue == "." else "strong"))
    end = 4 + size * cell
    parts += [line(4 + k * wide * cell, 4, 4 + k * wide * cell, end) for k in range(high + 1)]
    parts += [line(4, 4 + k * high * cell, end, 4 + k * high * cell) for k in range(wide + 1)]
    return svg(end + 4, end + 4, parts, f"A Sudoku with {row['clues']} clues, and its solution")
