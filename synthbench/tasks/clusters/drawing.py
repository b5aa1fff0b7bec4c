"""Clusters for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from synthbench.tasks.clusters.task import Clusters


def draw_row(task: Clusters, row: Mapping[str, Any]) -> Text:
    """The plane with the points of both clusters as `o` and `x`, or `*` where they overlap."""
    columns, lines = 60, 20
    # The first two axes are drawn. Points on a line are all at one height.
    across, up = zip(*((*point, 0.0)[:2] for point in row["points"]), strict=True)
    left, right, bottom, top = min(across), max(across), min(up), max(up)
    picture = [[" "] * columns for _ in range(lines)]
    for x, y, cluster in zip(across, up, row["cluster"], strict=True):
        column = round((x - left) / ((right - left) or 1.0) * (columns - 1))
        line = round((top - y) / ((top - bottom) or 1.0) * (lines - 1))
        mark = "ox"[cluster]
        picture[line][column] = mark if picture[line][column] in (" ", mark) else "*"
    legend = ", ".join(f"{mark} {row['cluster'].count(i)} points" for i, mark in enumerate("ox"))
    drawn = Text("\n".join("".join(line).rstrip() for line in picture))
    drawn.highlight_regex("o+", "cyan")
    drawn.highlight_regex("x+", "yellow")
    return Text(f"{legend}\n") + drawn
