"""The report of an audit: its values as sections of sentences, tables and charts.

`show_variant` shows them in a terminal, the template `page.html.jinja` as HTML.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from synthbench.auditing.figures import BarChart, Chart, Mark, ScoreChart
from synthbench.auditing.results import VariantAudit
from synthbench.auditing.scoring import Reference, Score, ShortcutScore
from synthbench.auditing.statistics import NEAR, Estimate, is_better, is_near
from synthbench.auditing.tables import (
    NOTHING,
    ReportTable,
    claim_table,
    decimals,
    leaks_table,
    most_frequent_table,
    near_duplicates_by_level,
    share_tables,
)
from synthbench.text.tables import items, stack, styled

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

#: The signs of a score that is surely better than chance, and of a score that comes near solving.
BETTER, SOLVES = "+", "*"


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of the report: a heading, a list of sentences, tables, and charts for the page.

    Only the page shows a folded section; `is_open` says whether it is unfolded at first.
    """

    title: str
    items: Sequence[str | Text] = ()
    tables: Sequence[ReportTable] = ()
    charts: Sequence[Chart] = ()
    folded: bool = False
    is_open: bool = False


def show_variant(variant: VariantAudit) -> Group:
    """The report on one variant for a terminal, without folded sections."""
    parts: list[Any] = []
    for section in variant_sections(variant):
        if section.folded:
            continue
        parts += ["", styled(section.title, "bold")]
        parts += [items(section.items)] if section.items else []
        for number, table in enumerate(section.tables):
            parts += [*([""] if number else []), table, *map(styled, table.notes)]
    return stack(*parts)


def variant_sections(variant: VariantAudit) -> list[Section]:
    """The report on one variant: the verdict, the findings, then the values behind them."""
    found = variant.findings
    verdicts = itertools.product(_by_hardness(variant), variant.metrics)
    sections = [
        Section("Verdict", [verdict(variant, *one) for one in verdicts]),
        Section("How to read it", _how_to_read(variant)),
        Section("Worth a second look", found or [styled("Nothing.", "green")]),
        Section("What shortcuts score", tables=[_scores(variant, one) for one in variant.metrics]),
        *(_split_section(variant, split) for split in _by_hardness(variant)),
        Section("Leaks", tables=[leaks_table(variant)]),
    ]
    if variant.claims:
        claims = [claim_table(claim) for claim in variant.claims]
        sections.append(Section("Rows that need less than they claim", tables=claims))
    looks = [(shortcut.name, shortcut.text) for shortcut in variant.shortcuts]
    return [
        *sections,
        Section("Balance", tables=[most_frequent_table(variant)]),
        Section("Balance in numbers", tables=list(share_tables(variant)), folded=True),
        Section(
            "What each shortcut looks at",
            tables=[ReportTable(["shortcut", "looks at"], looks, title="Shortcuts")],
            folded=True,
        ),
    ]


def _by_hardness(variant: VariantAudit) -> list[str]:
    """The splits, from the last, which is the hardest, to the first."""
    return list(variant.splits)[::-1]


# Shortcuts.


def verdict(variant: VariantAudit, split: str | None = None, metric: str | None = None) -> Text:
    """The scores of the best shortcut, chance and the reference solver on a split.

    The default is the last split, which is the hardest, and the first metric.
    """
    split, metric = split or _by_hardness(variant)[0], metric or variant.metrics[0]
    reference, figures, near, name = variant.splits[split].reference, {}, False, ""
    for best in _ranked(variant, metric, split)[:1]:
        score = best.splits[split]
        if metric in score.figures:
            figures["best shortcut"] = score.figures[metric].mean
            near, name = _sign(score, metric, reference) == SOLVES, f" (best: {best.name})"
    for title, known in (("chance", reference.chance), ("solver", reference.solution)):
        if metric in known:
            figures[title] = known[metric]
    title = split if len(variant.metrics) == 1 else f"{split}, {metric}"
    text = ", ".join(f"{what} {decimals(value, 2)}" for what, value in figures.items())
    return styled(f"{title}: {text}{name}", "red" if near else "green")


def _how_to_read(variant: VariantAudit) -> list[str]:
    scored = ", ".join(
        f"{split.scored:,} of {split.rows:,} in {name}" for name, split in variant.splits.items()
    )
    fitted = f"fitted on {variant.fitted:,} rows of train and " if variant.fitted else ""
    rows = "other rows" if variant.fitted else "rows"
    return [
        "A shortcut answers without solving the task. A model that scores no more than the best "
        "shortcut may have learned nothing else.",
        f"{BETTER} is surely better than chance; {SOLVES} comes near solving: surely at least "
        f"{NEAR:.0%} of the way from chance to the reference solver. Intervals are of 95%.",
        f"Shortcuts are {fitted}scored on {rows}: {scored}.",
    ]


def _ranked(variant: VariantAudit, metric: str, split: str) -> list[ShortcutScore]:
    """The shortcuts that apply to a split, the best first."""
    reference = variant.splits[split].reference
    chance, solution = reference.chance.get(metric), reference.solution.get(metric)

    def way_from_chance(shortcut: ShortcutScore) -> float:
        figures = shortcut.splits[split].figures
        if metric not in figures:
            return -math.inf
        mean = figures[metric].mean
        if chance is None or solution is None or chance == solution:
            return mean
        return (mean - chance) / (solution - chance)

    applied = [shortcut for shortcut in variant.shortcuts if split in shortcut.splits]
    return sorted(applied, key=way_from_chance, reverse=True)


def _scores(variant: VariantAudit, metric: str) -> ReportTable:
    """The score of each shortcut on each split, the best on the hardest split first."""
    hardest, *others = splits = _by_hardness(variant)
    references = {split: variant.splits[split].reference for split in splits}
    shortcuts = _ranked(variant, metric, hardest)
    shortcuts += [one for one in variant.shortcuts if one not in shortcuts]
    rows = []
    for title, name in (("chance", "chance"), ("reference solver", "solution")):
        first, *rest = [decimals(getattr(one, name).get(metric)) for one in references.values()]
        rows.append([title, first, "", *rest])
    for shortcut in shortcuts:
        score = shortcut.splits.get(hardest)
        figure = score.figures.get(metric) if score is not None else None
        first, *rest = [
            _marked(shortcut.splits.get(split), metric, references[split]) for split in splits
        ]
        rows.append([shortcut.name, first, NOTHING if figure is None else _interval(figure), *rest])
    return ReportTable(
        [f"shortcut ({metric})", hardest, "interval", *others],
        rows,
        title=f"{metric} of each shortcut, the best on {hardest} first",
        notes=[f"Left out: {name}; {reason}." for name, reason in variant.left_out.items()],
    )


def _split_section(variant: VariantAudit, split: str) -> Section:
    """The figures of a split, and its scores by level."""
    hardest = _by_hardness(variant)[0]
    charts: list[Chart] = [_score_chart(variant, metric, split) for metric in variant.metrics]
    if split == hardest:
        other = next(iter(variant.splits)) if variant.fitted else None
        ticks = f"; ticks: {other}" if other is not None else ""
        for one in variant.balance:
            counted = "all rows" if one.every_row else "the rows that shortcuts are scored on"
            title = f"{split}: {one.name}, share of each value in {counted}{ticks}"
            charts.append(BarChart(title, one, split, other))
    tables = [_scores_by_level(variant, metric, split) for metric in variant.metrics]
    return Section(
        f"{split} in detail",
        tables=[*tables, *near_duplicates_by_level(variant, split)],
        charts=charts,
        folded=True,
        is_open=split == hardest,
    )


def _score_chart(variant: VariantAudit, metric: str, split: str) -> ScoreChart:
    reference = variant.splits[split].reference
    return ScoreChart(
        f"{split}: {metric} of each shortcut",
        [
            Mark(
                shortcut.name,
                _marked(score, metric, reference),
                score.figures[metric],
                score.near,
                f"{shortcut.name}: {_marked(score, metric, reference, interval=True)}",
            )
            for shortcut in _ranked(variant, metric, split)
            if metric in (score := shortcut.splits[split]).figures
        ],
        reference.chance.get(metric),
        reference.solution.get(metric),
    )


def _scores_by_level(variant: VariantAudit, metric: str, split: str) -> ReportTable:
    whole, levels = variant.splits[split].reference, variant.splits[split].levels
    if len(levels) == 1:
        levels = {}
    rows = []
    for shortcut in _ranked(variant, metric, split):
        row = [shortcut.name, _marked(shortcut.splits[split], metric, whole, interval=True)]
        row += [
            _marked(shortcut.levels[split].get(level), metric, reference, interval=True)
            for level, reference in levels.items()
        ]
        rows.append(row)
    title = f"{metric} on {split} with intervals, by {variant.level_name}"
    return ReportTable(["shortcut", "all", *levels], rows, title=title)


def _marked(score: Score | None, metric: str, reference: Reference, interval: bool = False) -> str:
    """The score of a shortcut with its sign."""
    if score is None or metric not in score.figures:
        return NOTHING
    figure = score.figures[metric]
    text = decimals(figure.mean) + (f" ({_interval(figure)})" if interval else "")
    return f"{text} {_sign(score, metric, reference)}".rstrip()


def _interval(figure: Estimate) -> str:
    return f"{decimals(figure.low)} to {decimals(figure.high)}"


def _sign(score: Score, metric: str, reference: Reference) -> str:
    """The sign of a score that comes near solving or is better than chance; otherwise empty."""
    if metric not in reference.chance or metric not in reference.solution:
        return ""
    compared = score.figures[metric], reference.chance[metric], reference.solution[metric]
    if score.near and is_near(*compared):
        return SOLVES
    return BETTER if is_better(*compared) else ""
