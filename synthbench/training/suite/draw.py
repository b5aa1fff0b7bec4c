"""The figure of a suite: a panel a setting, a curve for each layer that has learned its rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from synthbench.training.panels import panels
from synthbench.training.suite.report import LEARNED, NOT_LEARNED
from synthbench.training.suite.tables import model_names, name_of

Json = Mapping[str, Any]


def draw(report: Json, file: Path | IO[bytes], kind: str) -> None:
    """Write the figure: accuracy by length, or by step where rows have one size.

    Args:
        report: the report of a suite.
        file: where it is written.
        kind: `svg`, `pdf` or `png`.
    """
    import matplotlib
    import matplotlib.style
    from matplotlib.figure import Figure as Canvas

    names = model_names(report)
    # The same report gives the same bytes.
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    with matplotlib.style.context("default"), matplotlib.rc_context({"svg.hashsalt": "synthbench"}):
        canvas = Canvas(layout="constrained", dpi=100)
        every = panels(canvas, len(report["settings"]), width=3.0, height=2.4)
        for axes, setting in zip(every, report["settings"], strict=True):
            _draw_setting(axes, setting, names)
        handles = {
            label: handle
            for axes in every
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        if handles:
            canvas.legend(
                [handles[name] for name in names if name in handles],
                [name for name in names if name in handles],
                loc="outside lower center",
                ncols=4,
                fontsize=8,
            )
        canvas.savefig(file, format=kind, metadata=dates)


def _draw_setting(axes: Any, setting: Json, names: list[str]) -> None:
    lines = {name_of(line): line for line in setting["models"]}
    absent = []
    for name in names:
        line = lines.get(name)
        # An empty curve keeps the colours of all panels alike.
        learned = line is not None and line["state"] == LEARNED
        points = curve(line) if line is not None and learned else []
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            label=name if learned else None,
            markersize=4,
        )
        if line is not None and line["state"] == NOT_LEARNED:
            absent.append(name)
    by_step = any(line["runs"] and not line["runs"][0]["by_size"] for line in lines.values())
    axes.set_title(setting["name"], fontsize=10)
    axes.set_xlabel("step" if by_step else setting["size"].replace("_", " "), fontsize=8)
    axes.tick_params(labelsize=8)
    axes.set_ylim(-0.03, 1.03)
    if absent:
        text = "not learned: " + ", ".join(absent)
        axes.text(0.5, 0.02, text, transform=axes.transAxes, ha="center", color="gray", fontsize=7,
                  wrap=True)  # fmt: skip


def curve(line: Json) -> list[tuple[float, float]]:
    """The figures of a line by size, in order."""
    return sorted((_number(size), share) for size, share in line["by_size"].items())


def _number(size: str) -> float:
    """A size as a number, also of a name such as `8 in 32`."""
    return float(size.split()[0])
