"""An audit as a directory: `audit.html`, one page with its figures inside, and `audit.json`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from synthbench.audits.figures import Mark, bar_chart, color, interval_chart
from synthbench.audits.results import Audit, VariantAudit
from synthbench.audits.scoring import Reference, Score, ShortcutScore
from synthbench.audits.statistics import NEAR
from synthbench.audits.style import STYLE
from synthbench.audits.text import (
    BETTER,
    SOLVES,
    figure_text,
    leak_rows,
    number,
    rows_text,
    score_rows,
    score_text,
)
from synthbench.errors import UsageError
from synthbench.publishing import write_text

PAGE, DATA = "audit.html", "audit.json"


def report_place(out: str | Path, overwrite: bool) -> Path:
    """The directory where a report is to go, looked at before any work.

    Raises:
        UsageError: it is a file, holds something else, or a report that may not be replaced.
    """
    place = Path(out)
    if not place.exists():
        return place
    if not place.is_dir():
        raise UsageError(f"Output {str(place)!r} is a file; name a directory for the report.")
    others = sorted(one.name for one in place.iterdir() if one.name not in (PAGE, DATA))
    if others:
        raise UsageError(
            f"Output {str(place)!r} holds something else ({others[0]!r}); "
            "name a directory that is empty or not there yet."
        )
    if any(place.iterdir()) and not overwrite:
        raise UsageError(f"Output {str(place)!r} has a report already; --overwrite replaces it.")
    return place


def write_report(audit: Audit, place: Path) -> None:
    """Write `audit.html` and `audit.json` into a directory, that is made if it is not there.

    Raises:
        SynthbenchError: they cannot be written.
    """
    place.mkdir(parents=True, exist_ok=True)
    write_text(place / DATA, json.dumps(audit.to_dict(), indent=1, allow_nan=False) + "\n")
    write_text(place / PAGE, page(audit))


def page(audit: Audit) -> str:
    """The audit as one HTML page that loads nothing."""
    numbers = itertools.count()
    title = f"Audit of {audit.task}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>Seed {audit.seed}; synthbench {escape(audit.synthbench)}. Parameters: "
        + escape("; ".join(f"{name} {_plain(value)}" for name, value in audit.parameters.items()))
        + "</p>",
    ]
    if len(audit.variants) > 1:
        links = (
            f'<li><a href="#{escape(name)}">{escape(name)}</a></li>' for name in audit.variants
        )
        parts.append(f'<nav aria-label="Variants"><ul>{"".join(links)}</ul></nav>')
    for name, variant in audit.variants.items():
        parts.append(f'<section id="{escape(name)}"><h2>{escape(name)}</h2>')
        parts += _variant(variant, numbers)
        parts.append("</section>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _variant(variant: VariantAudit, numbers: Iterator[int]) -> Iterator[str]:
    yield "<h3>Worth a second look</h3>"
    findings = variant.findings or ["Nothing."]
    yield f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in findings)}</ul>"
    yield "<h3>What shortcuts score</h3>"
    yield from _shortcuts(variant, numbers)
    yield "<h3>Leaks</h3>"
    yield from _leaks(variant)
    if variant.claims:
        yield "<h3>Rows that need less than they claim</h3>"
        yield from _claims(variant)
    yield "<h3>Balance</h3>"
    yield from _balance(variant, numbers)


# Shortcuts.


def _shortcuts(variant: VariantAudit, numbers: Iterator[int]) -> Iterator[str]:
    yield (
        f"<p>Means with 95% intervals. {BETTER}: surely better than chance. {SOLVES}: near "
        f"solving, that is, surely {NEAR:.0%} of the way from chance to the reference solver. "
        f"{escape(rows_text(variant))}</p>"
    )
    for name, reason in variant.left_out.items():
        yield f"<p>Left out: {escape(name)}; {escape(reason)}.</p>"
    for metric in variant.metrics:
        title = f"{metric} of each shortcut on each split; the tick is chance"
        rows = [
            (shortcut.name, _marks(variant, shortcut, metric)) for shortcut in variant.shortcuts
        ]
        yield _figure(variant, title, interval_chart(next(numbers), title, rows))
    table = [[name, *_cells(scores, variant)] for name, scores in score_rows(variant)]
    yield _table("What shortcuts score", ["shortcut", *variant.splits], table)
    looks = ([one.name, one.text] for one in variant.shortcuts)
    yield _details("What each shortcut looks at", _table("", ["shortcut", "looks at"], looks))
    for split, rows_of in variant.splits.items():
        if len(rows_of.levels) > 1:
            title = f"{split} by {variant.level_name}"
            yield _details(title, _by_level(variant, split, title))


def _marks(variant: VariantAudit, shortcut: ShortcutScore, metric: str) -> list[Mark]:
    marks = []
    for place, (split, rows) in enumerate(variant.splits.items()):
        score = shortcut.splits.get(split)
        if score is not None and metric in score.figures:
            one, chance = score.figures[metric], rows.reference.chance.get(metric)
            text = f"{shortcut.name}, {split}: {metric} {figure_text(one)}"
            if chance is not None:
                text += f", chance {number(chance)}"
            marks.append(Mark(place, one.mean, one.low, one.high, chance, score.near, text))
    return marks


def _cells(scores: dict[str, str], variant: VariantAudit) -> list[str]:
    return [scores.get(split, "–") for split in variant.splits]


def _by_level(variant: VariantAudit, split: str, title: str) -> str:
    references = variant.splits[split].levels
    rows = []
    for metric in variant.metrics:
        several = f", {metric}" if len(variant.metrics) > 1 else ""
        chances = (one.chance.get(metric) for one in references.values())
        rows.append([f"chance{several}", *("–" if c is None else number(c) for c in chances)])
        for shortcut in variant.shortcuts:
            scores = shortcut.levels.get(split, {})
            cells = [_level(scores.get(level), metric, one) for level, one in references.items()]
            rows.append([f"{shortcut.name}{several}", *cells])
    return _table(title, ["shortcut", *references], rows)


def _level(score: Score | None, metric: str, reference: Reference) -> str:
    if score is None or metric not in score.figures:
        return "–"
    return score_text(score, metric, reference)


# Leaks, claims, balance.


def _leaks(variant: VariantAudit) -> Iterator[str]:
    head, rows, notes = leak_rows(variant)
    yield _table("Every row was looked at", head, rows)
    yield "".join(f"<p>{escape(note)}</p>" for note in notes)
    for split, leaks in variant.leaks.items():
        levels = {level for kin in leaks.kin.values() for level in kin.levels}
        if len(levels) > 1:
            title = f"Near duplicates of {split} in train, by {variant.level_name}"
            names = [level for level in variant.splits[split].levels if level in levels]
            table = [
                [kind, *(f"{kin.levels[level]:.1%}" for level in names)]
                for kind, kin in leaks.kin.items()
            ]
            yield _details(title, _table(title, ["kind", *names], table))


def _claims(variant: VariantAudit) -> Iterator[str]:
    for claim in variant.claims:
        values = list(dict.fromkeys(one for split in claim.claims.values() for one in split))
        rows = [
            [split, figure_text(share)]
            + [
                f"{claim.claims[split][value].mean:.1%}" if value in claim.claims[split] else "–"
                for value in values
            ]
            for split, share in claim.splits.items()
        ]
        yield f"<p>{escape(claim.text)}</p>"
        yield _table(f"Share of rows, by {claim.name}", ["split", "all", *values], rows)


def _balance(variant: VariantAudit, numbers: Iterator[int]) -> Iterator[str]:
    splits = list(variant.splits)
    for trait in variant.balance:
        of = "all rows" if trait.every_row else "the rows that shortcuts are scored on"
        title = f"{trait.name}: share of each value, in {of}"
        yield _figure(variant, title, bar_chart(next(numbers), title, trait))
        rows = (
            [value, *(f"{trait.share(split, place):.2%}" for split in splits)]
            for place, value in enumerate(trait.values)
        )
        yield _details(f"{trait.name} in numbers", _table("", [trait.name, *splits], rows))


# Pieces of a page.


def _figure(variant: VariantAudit, title: str, svg: str) -> str:
    legend = "".join(
        f'<li><span class="key {color(place)}"></span>{escape(split)}</li>'
        for place, split in enumerate(variant.splits)
    )
    return (
        f'<figure>{svg}<figcaption>{escape(title)}<ul class="legend">{legend}</ul>'
        "</figcaption></figure>"
    )


def _details(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself where it is wide; the first cell of a row is its head."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    label = escape(caption or head[0])
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table>{named}'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
