"""Composites for people: in words, and as a sheet of pictures."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.checks import needs
from synthbench.tasks.composites.parts import FIXED_QUADRANTS
from synthbench.tasks.composites.rules import QUADRANTS
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.images import load, png
from synthbench.tasks.images.file_formats import SIZE

#: Lengths in a contact sheet, in its pixels. A pixel of a row's image is `_ZOOM` wide.
_ZOOM, _MARGIN, _FRAME, _FONT, _LINE = 4, 16, 3, 14, 18
_COLUMNS = 5
_MARK = (0, 170, 60)


def draw_row(task: Composites, row: Mapping[str, Any]) -> str:
    """The rule, the quadrants in words with the deciding one in brackets, and the answer."""
    cells = [_describe(task, row, index) for index in range(4)]
    width = max(map(len, cells))
    lines = [f"{left.ljust(width)} | {right}" for left, right in (cells[:2], cells[2:])]
    return "\n".join([task.design.rule, *lines, " -> ".join(_verdict(task, row))])


def draw_sheet(task: Composites, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a contact sheet: five images in a line under the rule, the deciding quadrant framed.

    Under each image are the case that holds, the deciding quadrant and the answer.

    Args:
        task: the task.
        rows: one row or more.
        path: the PNG file to write.

    Raises:
        SynthbenchError: Pillow is not installed.
    """
    with needs("Drawing images", "Pillow", "vision"):
        from PIL import Image, ImageDraw, ImageFont
    side = _ZOOM * 2 * SIZE
    columns = min(_COLUMNS, len(rows))
    width = columns * (side + _MARGIN) + _MARGIN
    heading = textwrap.wrap(f"{task.variant}: {task.design.rule}", width // (_FONT // 2 + 1))
    top = _MARGIN + _LINE * len(heading) + _MARGIN // 2
    height = side + 3 * _LINE + _MARGIN  # of an image with the lines under it

    sheet = Image.new("RGB", (width, top + -(-len(rows) // columns) * height), "white")
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(_FONT)
    for number, line in enumerate(heading):
        pen.text((_MARGIN, _MARGIN // 2 + number * _LINE), line, "black", font)
    for number, row in enumerate(rows):
        line_number, column = divmod(number, columns)
        left, upper = _MARGIN + column * (side + _MARGIN), top + line_number * height
        image = Image.fromarray(png.decode(row["image"]["bytes"]))
        sheet.paste(image.resize((side, side), 0), (left, upper))
        x, y = left + row["selected"] % 2 * side // 2, upper + row["selected"] // 2 * side // 2
        corner = (x + side // 2 - 1, y + side // 2 - 1)
        pen.rectangle(((x, y), corner), outline=_MARK, width=_FRAME)
        for index, line in enumerate(_verdict(task, row)):
            pen.text((left, upper + side + 4 + index * _LINE), line, "black", font)
    sheet.save(path, "PNG")


def _describe(task: Composites, row: Mapping[str, Any], index: int) -> str:
    quadrant = row["quadrants"][index]
    if quadrant["kind"] == "empty":
        return "-"
    fixed = task.design.layout == "fixed"
    part = FIXED_QUADRANTS.index(index) if fixed else task.parts.kinds.index(quadrant["kind"])
    text = load.class_names(task.parts.specs[part], task.source_dirs)[quadrant["class"]]
    if quadrant["color"] != "white":
        text = f"{quadrant['color']} {text}"
    return f"[{text}]" if index == row["selected"] else text


def _verdict(task: Composites, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The case that holds, the quadrant that decides, and the answer."""
    second_case = not row["outcome"]
    answer = task.answers[second_case][row["label"]]
    return task.design.outcomes[second_case], QUADRANTS[row["selected"]], answer
