"""The page of the suite of layers: its table and its figure, from the table of runs."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from synthbench.training.recipes.layers import SETTINGS
from synthbench.training.runs import stored_runs
from synthbench.training.suite.draw import draw
from synthbench.training.suite.report import LEARNED, stored_report
from synthbench.training.suite.tables import cell


def baselines() -> dict[str, Any]:
    """The report of the stored baselines, under their own names."""
    report = stored_report(stored_runs(), SETTINGS)
    for setting in report["settings"]:
        setting["models"] = [{**line, "stored": False} for line in setting["models"]]
    return report


def suite_section() -> str:
    """The table and the figure."""
    report = baselines()
    if not report["settings"]:
        return "No runs are stored."
    return f"{table(report)}\n\n{figure(report)}"


def table(report: Mapping[str, Any]) -> str:
    """A row a setting, a column a baseline. Grey: the baseline has not learned its rows."""
    models = list(
        dict.fromkeys(line["model"] for setting in report["settings"] for line in setting["models"])
    )
    names = ("setting", *models, "a pass means", "a fail means")
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for setting in report["settings"]:
        lines = {line["model"]: line for line in setting["models"]}
        cells = [_cell(lines.get(model), setting) for model in models]
        meanings = [f'<td class="words">{escape(setting[key])}</td>' for key in ("pass", "fail")]
        name = f'<th title="{escape(setting["title"])}">{escape(setting["name"])}</th>'
        rows.append(f"<tr>{name}{''.join([*cells, *meanings])}</tr>")
    return (
        f'<div class="matrix"><table class="matrix"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(line: Mapping[str, Any] | None, setting: Mapping[str, Any]) -> str:
    if line is None:
        return "<td></td>"
    words = escape(cell(line, setting))
    if line["state"] != LEARNED:
        return f'<td class="unlearned">{words}</td>'
    rate = f"learning rate {line['rate']:g}, {line['steps']:,} steps"
    return f'<td style="--share: {line["mean"]:.3f}" title="{rate}">{words}</td>'


def figure(report: Mapping[str, Any]) -> str:
    """The figure as SVG that scales with the page."""
    file = io.BytesIO()
    draw(report, file, "svg")
    drawn = file.getvalue().decode()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r' (?:width|height)="[^"]*pt"', "", drawn, count=2)
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    return f'<div class="suite">{" ".join(drawn.split())}</div>'
