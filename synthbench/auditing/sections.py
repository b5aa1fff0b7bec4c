"""The report of an audit: its values as sections of sentences and tables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping

from synthbench.auditing.figures import BarChart, IntervalChart, Mark
from synthbench.auditing.leaks import OverstatedDifficulty
from synthbench.auditing.results import VariantAudit
from synthbench.auditing.scoring import Reference, Score, ShortcutScore
from synthbench.auditing.statistics import NEAR, Estimate, is_better, is_near
from synthbench.auditing.tables import Cell, Section, Table

#: The signs of a score that is surely better than chance, and of a score that comes near solving.
BETTER, SOLVES = "+", "*"
#: The text of a cell without a value.
_NOTHING = "-"


def variant_sections(variant: VariantAudit) -> list[Section]:
    """The report on one variant: first the findings, then the values behind them."""
    sections = [
        Section("Worth a second look", variant.findings or ["Nothing."]),
        Section("What shortcuts score", tables=list(_shortcuts(variant))),
        Section("Leaks", tables=list(_leaks(variant))),
    ]
    if variant.claims:
        claims = [_claim(claim) for claim in variant.claims]
        sections.append(Section("Rows that need less than they claim", tables=claims))
    sections.append(Section("Balance", tables=list(_balance(variant))))
    return sections


# Shortcuts.


def _shortcuts(variant: VariantAudit) -> Iterator[Table]:
    metrics = variant.metrics
    references = {split: rows.reference for split, rows in variant.splits.items()}
    yield Table(
        f"{' and '.join(metrics)} of each shortcut",
        [f"shortcut ({metrics[0]})" if len(metrics) == 1 else "shortcut", *variant.splits],
        _score_rows(variant, references, lambda shortcut: shortcut.splits),
        notes=[
            f"Means with 95% intervals in brackets. {BETTER} means surely better than chance, "
            f"{SOLVES} near solving: surely at least {NEAR:.0%} of the way from chance to the "
            "reference solver.",
            _scored_rows(variant),
            *(f"Left out: {name}; {reason}." for name, reason in variant.left_out.items()),
        ],
        charts=[_interval_chart(variant, metric) for metric in metrics],
    )
    yield Table(
        "What each shortcut looks at",
        ["shortcut", "looks at"],
        [_cells(shortcut.name, shortcut.text) for shortcut in variant.shortcuts],
        detail=True,
    )
    for split, rows in variant.splits.items():
        if len(rows.levels) > 1:
            yield Table(
                f"{split} by {variant.level_name}",
                ["shortcut", *rows.levels],
                _score_rows(variant, rows.levels, functools.partial(_level_scores, split)),
                detail=True,
            )


def _level_scores(split: str, shortcut: ShortcutScore) -> Mapping[str, Score]:
    return shortcut.levels.get(split, {})


def _scored_rows(variant: VariantAudit) -> str:
    scored = ", ".join(
        f"{split.scored:,} of {split.rows:,} in {name}" for name, split in variant.splits.items()
    )
    if not variant.fitted:
        return f"Scored on {scored}."
    return f"Fitted on {variant.fitted:,} rows of train; scored on other rows: {scored}."


def _score_rows(
    variant: VariantAudit,
    references: Mapping[str, Reference],
    scores: Callable[[ShortcutScore], Mapping[str, Score]],
) -> list[list[Cell]]:
    """Rows for chance and for every shortcut.

    Args:
        variant: the audit of the variant.
        references: what scores are compared with, for each column: a split or a level.
        scores: gives a shortcut's score for each column.
    """
    rows = []
    for metric in variant.metrics:
        chances = [reference.chance.get(metric) for reference in references.values()]
        name = _row_name(variant, "chance", metric)
        rows.append(_cells(name, *map(_number_or_nothing, chances)))
    for shortcut in variant.shortcuts:
        found = scores(shortcut)
        for metric in variant.metrics:
            cells = [
                _score_cell(found.get(column), metric, reference)
                for column, reference in references.items()
            ]
            rows.append([Cell(_row_name(variant, shortcut.name, metric)), *cells])
    return rows


def _row_name(variant: VariantAudit, name: str, metric: str) -> str:
    return f"{name}, {metric}" if len(variant.metrics) > 1 else name


def _score_cell(score: Score | None, metric: str, reference: Reference) -> Cell:
    if score is None or metric not in score.figures:
        return Cell(_NOTHING)
    return Cell(_estimate(score.figures[metric]), _mark(score, metric, reference))


def _mark(score: Score, metric: str, reference: Reference) -> str:
    if metric not in reference.chance or metric not in reference.solution:
        return ""
    compared = score.figures[metric], reference.chance[metric], reference.solution[metric]
    if score.near and is_near(*compared):
        return SOLVES
    return BETTER if is_better(*compared) else ""


def _interval_chart(variant: VariantAudit, metric: str) -> IntervalChart:
    return IntervalChart(
        f"{metric} of each shortcut on each split; the tick is chance",
        [(shortcut.name, _marks(variant, shortcut, metric)) for shortcut in variant.shortcuts],
    )


def _marks(variant: VariantAudit, shortcut: ShortcutScore, metric: str) -> list[Mark]:
    marks = []
    for place, (split, rows) in enumerate(variant.splits.items()):
        score = shortcut.splits.get(split)
        if score is not None and metric in score.figures:
            found, chance = score.figures[metric], rows.reference.chance.get(metric)
            text = f"{shortcut.name}, {split}: {metric} {_estimate(found)}"
            if chance is not None:
                text += f", chance {_number(chance)}"
            marks.append(Mark(place, found, chance, score.near, text))
    return marks


# Leaks.


def _leaks(variant: VariantAudit) -> Iterator[Table]:
    kinds = list(next(iter(variant.leaks.values())).kin)
    images = any(leaks.images for leaks in variant.leaks.values())
    head = ["leaks", "rows", "repeated", "in other splits", "wrong ids", "repeated ids"]
    head += ["source images", "in other splits"] if images else []
    head += [f"near ({number})" for number in range(1, len(kinds) + 1)]
    rows = []
    for split, leaks in variant.leaks.items():
        counts = [leaks.rows, leaks.repeated, sum(leaks.shared.values())]
        counts += [leaks.wrong_ids, leaks.repeated_ids]
        counts += [leaks.images, sum(leaks.shared_images.values())] if images else []
        shares = [f"{leaks.kin[kind].share:.1%}" for kind in kinds]
        rows.append(_cells(split, *(f"{count:,}" for count in counts), *shares))
    notes = [
        f"near ({number}): share of rows with a near duplicate among other rows of train: {kind}."
        for number, kind in enumerate(kinds, start=1)
    ]
    yield Table("All rows, compared with each other", head, rows, range(1, len(head)), notes)
    for split in variant.leaks:
        levels = {level for kin in variant.leaks[split].kin.values() for level in kin.levels}
        if len(levels) > 1:
            yield _near_duplicates_by_level(variant, split, levels)


def _near_duplicates_by_level(variant: VariantAudit, split: str, levels: set[str]) -> Table:
    ordered = [level for level in variant.splits[split].levels if level in levels]
    rows = [
        _cells(kind, *(f"{near.levels[level]:.1%}" for level in ordered))
        for kind, near in variant.leaks[split].kin.items()
    ]
    title = f"Near duplicates of {split} in train, by {variant.level_name}"
    return Table(title, ["kind", *ordered], rows, detail=True)


# Claims and balance.


def _claim(claim: OverstatedDifficulty) -> Table:
    values = list(dict.fromkeys(value for split in claim.claims.values() for value in split))
    rows = [
        _cells(split, _estimate(share), *(_percent(claim.claims[split].get(one)) for one in values))
        for split, share in claim.splits.items()
    ]
    return Table(
        f"Share of rows, by {claim.name}",
        [f"needs less than {claim.name}", "all", *values],
        rows,
        right=range(2, 2 + len(values)),
        notes=[claim.text],
    )


def _balance(variant: VariantAudit) -> Iterator[Table]:
    splits = list(variant.splits)
    rows = []
    for distribution in variant.balance:
        frequent = (distribution.most_frequent(split) for split in splits)
        cells = (f"{value} ({share:.1%})" for value, share in frequent)
        rows.append(_cells(distribution.name, f"{len(distribution.values):,}", *cells))
    yield Table("The most frequent values", ["most frequent", "values", *splits], rows, right=[1])
    for distribution in variant.balance:
        counted = "all rows" if distribution.every_row else "the rows that shortcuts are scored on"
        title = f"{distribution.name}: share of each value, in {counted}"
        yield Table(
            f"{distribution.name} in numbers",
            [distribution.name, *splits],
            [
                _cells(value, *(f"{distribution.share(split, place):.2%}" for split in splits))
                for place, value in enumerate(distribution.values)
            ],
            charts=[BarChart(title, distribution)],
            detail=True,
        )


# Values as text.


def _cells(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def _estimate(found: Estimate) -> str:
    return f"{_number(found.mean)} ({_number(found.low)} to {_number(found.high)})"


def _number(value: float) -> str:
    """A number, to three decimal places or three digits."""
    return f"{value:.3f}" if value == 0 or 1e-3 <= abs(value) < 1e3 else f"{value:.3g}"


def _number_or_nothing(value: float | None) -> str:
    return _NOTHING if value is None else _number(value)


def _percent(share: Estimate | None) -> str:
    return _NOTHING if share is None else f"{share.mean:.1%}"
