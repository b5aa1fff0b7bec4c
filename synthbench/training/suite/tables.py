"""The tables of a suite: Markdown, CSV, LaTeX and a terminal, and the comparison of two runs.

Figures are only of layers that have learned their training rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synthbench.text.tables import Table, captioned
from synthbench.training.recipes.layers import SEEDS
from synthbench.training.stored import MARK
from synthbench.training.suite.report import LEARNED, UNFINISHED

Json = Mapping[str, Any]
#: How to read the table.
NOTES = (
    "Figures: the share of right positions on longer rows, mean over seeds (lowest to highest).",
    "A layer counts in a setting if every seed learned 99% of its training rows.",
    "Each layer has the best of its learning rates on validation rows, or iid rows without them.",
)
_CSV = (
    *("setting", "task", "variant", "model", "stored", "state", "learned", "seeds", "rate"),
    *("mean", "low", "high", "steps", "parameters", "seconds", "tokens_per_second"),
)
_RUNS = ("setting", "model", "rate", "learned", "steps", "parameters", "seconds", "tokens/s")


def name_of(line: Json) -> str:
    """The name of a line, marked if the package stores it."""
    return f"{line['model']} {MARK}" if line["stored"] else str(line["model"])


def cell(line: Json | None, setting: Json) -> str:
    """The figure of a line with its range, or the reason why it lacks a figure."""
    if line is None:
        return ""
    if line["state"] == UNFINISHED:
        return f"unfinished, seeds so far: {line['seeds']}"
    if line["state"] != LEARNED:
        some = f", {line['learned']} of {line['seeds']}" if line["learned"] else ""
        return f"not learned in {setting['steps']:,} steps{some}"
    low, high = (f"{line[name]:.2f}" for name in ("low", "high"))
    notes = [f"{low} to {high}"] * (low != high)
    if line["seeds"] < SEEDS:
        notes.append("one seed" if line["seeds"] == 1 else f"{line['seeds']} seeds")
    return f"{line['mean']:.2f}" + (f" ({', '.join(notes)})" if notes else "")


def model_names(report: Json) -> list[str]:
    """The names of all lines, the user's own first."""
    lines = [line for setting in report["settings"] for line in setting["models"]]
    return list(dict.fromkeys(name_of(line) for line in sorted(lines, key=_is_stored)))


def _is_stored(line: Json) -> bool:
    return bool(line["stored"])


def _rows(report: Json) -> Iterator[tuple[Json, list[Json | None]]]:
    """Each setting with its lines in the order of `model_names`."""
    names = model_names(report)
    for setting in report["settings"]:
        lines = {name_of(line): line for line in setting["models"]}
        yield setting, [lines.get(name) for name in names]


def markdown(report: Json) -> str:
    """All tables in Markdown: figures, the meaning of a pass and a fail, and the runs."""
    names = model_names(report)
    figures = Table(
        ["setting", *names],
        [[setting["name"], *(cell(line, setting) for line in lines)]
         for setting, lines in _rows(report)],
        right=range(1, len(names) + 1),
    ).markdown()  # fmt: skip
    meanings = Table(
        ("setting", "rows", "pass", "fail"),
        [
            (setting["name"], setting["title"], setting["pass"], setting["fail"])
            for setting in report["settings"]
        ],
    ).markdown()
    runs = Table(_RUNS, list(_runs(report)), right=range(2, len(_RUNS))).markdown()
    notes = "\n".join(f"- {note}" for note in NOTES)
    title = f"# The suite `{report['suite']}`, width {report['width']}"
    return "\n\n".join((title, figures, notes, meanings, runs)) + "\n"


def _runs(report: Json) -> Iterator[list[str]]:
    for setting in report["settings"]:
        for line in setting["models"]:
            seconds, speed = line["seconds"], line["tokens_per_second"]
            yield [
                setting["name"],
                name_of(line),
                "" if line["rate"] is None else f"{line['rate']:g}",
                f"{line['learned']}/{line['seeds']}",
                "" if line["steps"] is None else f"{line['steps']:,}",
                "" if line["parameters"] is None else f"{line['parameters']:,}",
                "" if seconds is None else f"{seconds:,.0f}",
                "" if speed is None else f"{speed:,.0f}",
            ]


def suite_table(report: Json) -> Any:
    """The figures for a terminal: a row a setting, what its figures mean below."""
    from rich.text import Text

    names = model_names(report)
    lines = []
    for setting, of_models in _rows(report):
        cells = [
            Text(cell(line, setting), "" if line and line["state"] == LEARNED else "dim")
            for line in of_models
        ]
        lines.append([setting["name"], *cells])
    meanings = [
        f"{setting['name']}: a pass means: {setting['pass']}. A fail: {setting['fail']}."
        for setting in report["settings"]
    ]
    table = Table(["setting", *names], lines, right=range(1, len(names) + 1))
    title = f"The suite {report['suite']}, width {report['width']}"
    return captioned(title, table, [*meanings, *NOTES])


def csv_text(report: Json) -> str:
    """A row for each layer and setting as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for setting in report["settings"]:
        about = {"setting": setting["name"], "task": setting["task"], "variant": setting["variant"]}
        writer.writerows({**line, **about} for line in setting["models"])
    return text.getvalue()


_SPECIAL = {letter: f"\\{letter}" for letter in "&%_#${}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def latex(report: Json) -> str:
    """The figures in LaTeX: needs the packages `booktabs` and `xcolor`."""
    names = model_names(report)
    lines = [
        r"% \usepackage{booktabs,xcolor}",
        rf"\begin{{tabular}}{{l{'r' * len(names)}}}",
        r"\toprule",
        " & ".join(["Setting", *map(_tex, names)]) + r" \\",
        r"\midrule",
    ]
    for setting, of_models in _rows(report):
        cells = [
            _tex(text)
            if line is None or line["state"] == LEARNED
            else rf"\textcolor{{gray}}{{{_tex(text)}}}"
            for line in of_models
            for text in [cell(line, setting)]
        ]
        lines.append(" & ".join([_tex(setting["name"]), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def comparison_rows(first: Json, second: Json) -> list[list[str]]:
    """Setting, layer, the figures of two reports, and their difference where both have learned."""
    settings: dict[str, list[Json | None]] = {}
    for place, report in enumerate((first, second)):
        for setting in report["settings"]:
            settings.setdefault(setting["name"], [None, None])[place] = setting
    rows = []
    for name, pair in settings.items():
        lines = [
            {name_of(line): line for line in setting["models"]} if setting else {}
            for setting in pair
        ]
        for model in dict.fromkeys([*lines[0], *lines[1]]):
            both = [by_model.get(model) for by_model in lines]
            cells = [cell(line, setting or {}) for line, setting in zip(both, pair, strict=True)]
            rows.append([name, model, *cells, _difference(both)])
    return rows


def _difference(lines: Sequence[Json | None]) -> str:
    known = [line["mean"] for line in lines if line and line["mean"] is not None]
    return f"{known[1] - known[0]:+.2f}" if len(known) == 2 else ""


def comparison_table(first: Json, second: Json, names: tuple[str, str]) -> Any:
    """Two reports beside each other, for a terminal."""
    head = ("setting", "model", *names, "difference")
    table = Table(head, comparison_rows(first, second), right=range(2, 5), keys=2)
    widths = {f"{report['width']}" for report in (first, second)}
    notes = [NOTES[0]]
    if len(widths) > 1:
        notes.insert(0, f"The widths differ: {first['width']} and {second['width']}.")
    return captioned(f"The suite {first['suite']}: two runs", table, notes)
