"""The report of an audit: its values as sections of sentences, tables and charts.

`show_variant` shows them in a terminal, the module `page` as HTML.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.auditing.charts import bar_chart, score_chart
from synthbench.auditing.leaks import OverstatedDifficulty
from synthbench.auditing.results import VariantAudit
from synthbench.auditing.scoring import (
    BETTER,
    NEAR,
    NOTHING,
    SOLVES,
    ShortcutScore,
    decimals,
    interval,
    score_text,
    sign,
)
from synthbench.text.tables import Table, items, stack, styled

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of the report: a heading, a list of sentences, tables, and charts for the page.

    Only the page shows a folded section; `is_open` says whether it is unfolded at first.
    """

    title: str
    items: Sequence[str | Text] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[str] = ()
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
            parts += ["", table] if number else [table]
    return stack(*parts)


def variant_sections(variant: VariantAudit) -> list[Section]:
    """The report on one variant: the verdict, the findings, then the values behind them."""
    findings = variant.findings
    verdicts = itertools.product(_by_hardness(variant), variant.metrics)
    sections = [
        Section("Verdict", [*leaked(variant), *(verdict(variant, *place) for place in verdicts)]),
        *([Section("About the rule", variant.notes)] if variant.notes else []),
        Section("How to read it", _how_to_read(variant)),
        Section("Worth a second look", findings or [styled("Nothing.", "green")]),
        Section(
            "What shortcuts score", tables=[_scores(variant, metric) for metric in variant.metrics]
        ),
        *(_split_section(variant, split) for split in _by_hardness(variant)),
        Section("Leaks", tables=[_leaks_table(variant)]),
    ]
    if variant.claims:
        claims = [_claim_table(claim) for claim in variant.claims]
        sections.append(Section("Rows that need less than they claim", tables=claims))
    looks = [(shortcut.name, shortcut.text) for shortcut in variant.shortcuts]
    return [
        *sections,
        Section("Balance", tables=[_most_frequent_table(variant)]),
        Section("Balance in numbers", tables=list(_share_tables(variant)), folded=True),
        Section(
            "What each shortcut looks at",
            tables=[Table(["shortcut", "looks at"], looks, title="Shortcuts")],
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
            near, name = sign(score, metric, reference) == SOLVES, f" (best: {best.name})"
    for title, known in (("chance", reference.chance), ("solver", reference.solution)):
        if metric in known:
            figures[title] = known[metric]
    title = split if len(variant.metrics) == 1 else f"{split}, {metric}"
    text = ", ".join(f"{what} {decimals(value, 2)}" for what, value in figures.items())
    return styled(f"{title}: {text}{name}", "red" if near else "green")


def leaked(variant: VariantAudit) -> Iterator[Text]:
    """A line for each split with rows or ids of an earlier split: its scores then say little."""
    splits = list(variant.splits)
    for number, split in reversed(list(enumerate(splits))):
        leaks = variant.leaks[split]
        counts = {f"also occur in {other}": leaks.shared[other] for other in splits[:number]}
        if leaks.repeated_ids > sum(counts.values()) + leaks.repeated:
            counts["have the id of an earlier row"] = leaks.repeated_ids
        for what, count in counts.items():
            if count:
                text = f"{split}: leak: {count:,} of {leaks.rows:,} rows {what}"
                yield styled(text, "red")


def _how_to_read(variant: VariantAudit) -> list[str]:
    scored = ", ".join(
        f"{split.scored:,} of {split.rows:,} in {name}" for name, split in variant.splits.items()
    )
    fitted = f"fitted on {variant.fitted:,} rows of train and " if variant.fitted else ""
    rows = "other rows" if variant.fitted else "rows"
    return [
        "A shortcut answers without solving the task. A model that scores no more than the best "
        "shortcut may have learned nothing else.",
        f"{BETTER}: the whole 95% interval is better than chance. {SOLVES}: it lies at least "
        f"{NEAR:.0%} of the way from chance to the reference solver.",
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


def _scores(variant: VariantAudit, metric: str) -> Table:
    """The score of each shortcut on each split, the best on the hardest split first.

    The table of the last metric lists the shortcuts that were left out.
    """
    hardest, *others = splits = _by_hardness(variant)
    references = {split: variant.splits[split].reference for split in splits}
    shortcuts = _ranked(variant, metric, hardest)
    shortcuts += [shortcut for shortcut in variant.shortcuts if shortcut not in shortcuts]
    rows = []
    for title, name in (("chance", "chance"), ("reference solver", "solution")):
        first, *rest = [
            decimals(getattr(reference, name).get(metric)) for reference in references.values()
        ]
        rows.append([title, first, "", *rest])
    for shortcut in shortcuts:
        score = shortcut.splits.get(hardest)
        figure = score.figures.get(metric) if score is not None else None
        first, *rest = [
            score_text(shortcut.splits.get(split), metric, references[split]) for split in splits
        ]
        rows.append([shortcut.name, first, NOTHING if figure is None else interval(figure), *rest])
    left_out = variant.left_out if metric == variant.metrics[-1] else {}
    return Table(
        [f"shortcut ({metric})", hardest, "interval", *others],
        rows,
        right=[2],
        whole=range(1, 3 + len(others)),
        title=f"{metric} of each shortcut, the best on {hardest} first",
        notes=[f"Left out: {name}; {reason}." for name, reason in left_out.items()],
    )


def _split_section(variant: VariantAudit, split: str) -> Section:
    """The figures of a split, and its scores by level."""
    hardest = _by_hardness(variant)[0]
    charts = [_score_chart(variant, metric, split) for metric in variant.metrics]
    if split == hardest:
        other = next(iter(variant.splits)) if variant.fitted else None
        ticks = f"; ticks: {other}" if other is not None else ""
        for distribution in variant.balance:
            counted = (
                "all rows" if distribution.every_row else "the rows that shortcuts are scored on"
            )
            title = f"{split}: {distribution.name}, share of each value in {counted}{ticks}"
            charts.append(bar_chart(title, distribution, split, other))
    tables = [_scores_by_level(variant, metric, split) for metric in variant.metrics]
    return Section(
        f"{split} in detail",
        tables=[*tables, *_near_duplicates_by_level(variant, split)],
        charts=charts,
        folded=True,
        is_open=split == hardest,
    )


def _score_chart(variant: VariantAudit, metric: str, split: str) -> str:
    ranked = {shortcut.name: shortcut.splits[split] for shortcut in _ranked(variant, metric, split)}
    scores = {name: score for name, score in ranked.items() if metric in score.figures}
    title = f"{split}: {metric} of each shortcut"
    return score_chart(title, metric, scores, variant.splits[split].reference)


def _scores_by_level(variant: VariantAudit, metric: str, split: str) -> Table:
    whole, levels = variant.splits[split].reference, variant.splits[split].levels
    if len(levels) == 1:
        levels = {}
    rows = []
    for shortcut in _ranked(variant, metric, split):
        row = [shortcut.name, score_text(shortcut.splits[split], metric, whole, with_interval=True)]
        row += [
            score_text(shortcut.levels[split].get(level), metric, reference, with_interval=True)
            for level, reference in levels.items()
        ]
        rows.append(row)
    title = f"{metric} on {split} with intervals, by {variant.level_name}"
    return Table(["shortcut", "all", *levels], rows, title=title)


# Leaks.


def _leaks_table(variant: VariantAudit) -> Table:
    """Counts of repeated and shared rows, ids and images of each split."""
    kinds = list(next(iter(variant.leaks.values())).near_duplicates)
    images = any(leaks.images for leaks in variant.leaks.values())
    head = ["split", "rows", "repeated", "in other splits", "wrong ids", "repeated ids"]
    head += ["source images", "in other splits"] if images else []
    head += [f"near ({number})" for number in range(1, len(kinds) + 1)]
    rows = []
    for split, leaks in variant.leaks.items():
        counts = [leaks.rows, leaks.repeated, sum(leaks.shared.values())]
        counts += [leaks.wrong_ids, leaks.repeated_ids]
        counts += [leaks.images, sum(leaks.shared_images.values())] if images else []
        shares = [f"{leaks.near_duplicates[kind].share:.1%}" for kind in kinds]
        rows.append([split, *(f"{count:,}" for count in counts), *shares])
    notes = [
        f"near ({number}): share of rows with a near duplicate among other rows of train: {kind}."
        for number, kind in enumerate(kinds, start=1)
    ]
    title = "All rows, compared with each other"
    return Table(head, rows, range(1, len(head)), title=title, notes=notes)


def _near_duplicates_by_level(variant: VariantAudit, split: str) -> Iterator[Table]:
    """The share of near duplicates on each level of a split with several levels."""
    kin = variant.leaks[split].near_duplicates
    known = {name for near in kin.values() for name in near.levels}
    levels = [name for name in variant.splits[split].levels if name in known]
    if len(levels) > 1:
        rows = [
            [kind, *(f"{near.levels[level]:.1%}" for level in levels)] for kind, near in kin.items()
        ]
        title = f"Near duplicates of {split} in train, by {variant.level_name}"
        yield Table(["kind", *levels], rows, title=title)


# Claims and balance.


def _claim_table(claim: OverstatedDifficulty) -> Table:
    """The share of rows, by split and by claimed difficulty, that are easier than they claim."""
    values = list(dict.fromkeys(value for split in claim.claims.values() for value in split))
    rows = []
    for split, share in claim.splits.items():
        shares = [claim.claims[split].get(value) for value in values]
        by_value = [NOTHING if estimate is None else f"{estimate.mean:.1%}" for estimate in shares]
        rows.append([split, f"{share.mean:.1%}", f"{share.high:.1%}", *by_value])
    return Table(
        [f"needs less than {claim.name}", "all", "95%: at most", *values],
        rows,
        right=range(1, 3 + len(values)),
        title=f"Share of rows, by {claim.name}",
        notes=[claim.text],
    )


def _most_frequent_table(variant: VariantAudit) -> Table:
    """The most frequent value of each property on each split."""
    splits = list(variant.splits)
    rows = []
    for distribution in variant.balance:
        frequent = (distribution.most_frequent(split) for split in splits)
        cells = (f"{value} ({share:.1%})" for value, share in frequent)
        rows.append([distribution.name, f"{len(distribution.values):,}", *cells])
    head = ["most frequent", "values", *splits]
    whole = range(2, len(head))
    return Table(head, rows, right=[1], whole=whole, title="The most frequent values")


def _share_tables(variant: VariantAudit) -> Iterator[Table]:
    """For each property, the share of each value on each split."""
    splits = list(variant.splits)
    for distribution in variant.balance:
        rows = [
            [value, *(f"{distribution.share(split, index):.2%}" for split in splits)]
            for index, value in enumerate(distribution.values)
        ]
        head = [distribution.name, *splits]
        yield Table(head, rows, title=f"{distribution.name}: share of each value")
