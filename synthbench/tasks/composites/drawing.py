"""Composites for people: in words, and as a sheet of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.tasks.composites.parts import FIXED_PLACES
from synthbench.tasks.composites.rules import QUADRANTS
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.images import load, png


def draw_row(task: Composites, row: Mapping[str, Any]) -> str:
    """The rule, the quadrants in words with the deciding one in brackets, and the answer."""
    cells = [_describe(task, row, place) for place in range(4)]
    width = max(map(len, cells))
    lines = [f"{left.ljust(width)} | {right}" for left, right in (cells[:2], cells[2:])]
    return "\n".join([task.design.rule, *lines, " -> ".join(_verdict(task, row))])


def draw_sheet(task: Composites, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the images of rows as one picture, each with the rule's case and its answer."""
    from synthbench.tasks.composites.contact_sheet import Panel, contact_sheet

    panels = [
        Panel(png.decode(row["image"]["bytes"]), row["selected"], _verdict(task, row))
        for row in rows
    ]
    contact_sheet(f"{task.variant}: {task.design.rule}", panels).save(path, "PNG")


def _describe(task: Composites, row: Mapping[str, Any], place: int) -> str:
    quadrant = row["quadrants"][place]
    if quadrant["kind"] == "empty":
        return "-"
    fixed = task.design.layout == "fixed"
    part = FIXED_PLACES.index(place) if fixed else task.parts.kinds.index(quadrant["kind"])
    text = load.class_names(task.parts.specs[part])[quadrant["class"]]
    if quadrant["color"] != "white":
        text = f"{quadrant['color']} {text}"
    return f"[{text}]" if place == row["selected"] else text


def _verdict(task: Composites, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Which case holds, which quadrant decides, and what the answer is."""
    second_case = not row["outcome"]
    answer = task.answers[second_case][row["label"]]
    return task.design.outcomes[second_case], QUADRANTS[row["selected"]], answer
