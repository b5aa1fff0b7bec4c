"""Tables of an audit's report: leaks, rows that are easier than they claim, balance."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from synthbench.auditing.leaks import OverstatedDifficulty
from synthbench.auditing.results import VariantAudit
from synthbench.auditing.statistics import Estimate
from synthbench.text.tables import Table

#: The text of a cell without a value.
NOTHING = "-"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportTable(Table):
    """A table of the report, with a title for the page and sentences that explain it."""

    title: str
    notes: Sequence[str] = ()


# Leaks.


def leaks_table(variant: VariantAudit) -> ReportTable:
    """Counts of repeated and shared rows, ids and images of each split."""
    kinds = list(next(iter(variant.leaks.values())).kin)
    images = any(leaks.images for leaks in variant.leaks.values())
    head = ["split", "rows", "repeated", "in other splits", "wrong ids", "repeated ids"]
    head += ["source images", "in other splits"] if images else []
    head += [f"near ({number})" for number in range(1, len(kinds) + 1)]
    rows = []
    for split, leaks in variant.leaks.items():
        counts = [leaks.rows, leaks.repeated, sum(leaks.shared.values())]
        counts += [leaks.wrong_ids, leaks.repeated_ids]
        counts += [leaks.images, sum(leaks.shared_images.values())] if images else []
        shares = [f"{leaks.kin[kind].share:.1%}" for kind in kinds]
        rows.append([split, *(f"{count:,}" for count in counts), *shares])
    notes = [
        f"near ({number}): share of rows with a near duplicate among other rows of train: {kind}."
        for number, kind in enumerate(kinds, start=1)
    ]
    title = "All rows, compared with each other"
    return ReportTable(head, rows, range(1, len(head)), title=title, notes=notes)


def near_duplicates_by_level(variant: VariantAudit, split: str) -> Iterator[ReportTable]:
    """The share of near duplicates on each level of a split with several levels."""
    kin = variant.leaks[split].kin
    known = {name for near in kin.values() for name in near.levels}
    levels = [name for name in variant.splits[split].levels if name in known]
    if len(levels) > 1:
        rows = [
            [kind, *(f"{near.levels[level]:.1%}" for level in levels)] for kind, near in kin.items()
        ]
        title = f"Near duplicates of {split} in train, by {variant.level_name}"
        yield ReportTable(["kind", *levels], rows, title=title)


# Claims and balance.


def claim_table(claim: OverstatedDifficulty) -> ReportTable:
    """The share of rows, by split and by claimed difficulty, that are easier than they claim."""
    values = list(dict.fromkeys(value for split in claim.claims.values() for value in split))
    rows = []
    for split, share in claim.splits.items():
        by_value = [percent(claim.claims[split].get(value)) for value in values]
        rows.append([split, percent(share), f"{share.high:.1%}", *by_value])
    return ReportTable(
        [f"needs less than {claim.name}", "all", "at most", *values],
        rows,
        right=range(1, 3 + len(values)),
        title=f"Share of rows, by {claim.name}",
        notes=[claim.text],
    )


def most_frequent_table(variant: VariantAudit) -> ReportTable:
    """The most frequent value of each property on each split."""
    splits = list(variant.splits)
    rows = []
    for distribution in variant.balance:
        frequent = (distribution.most_frequent(split) for split in splits)
        cells = (f"{value} ({share:.1%})" for value, share in frequent)
        rows.append([distribution.name, f"{len(distribution.values):,}", *cells])
    head = ["most frequent", "values", *splits]
    return ReportTable(head, rows, right=[1], title="The most frequent values")


def share_tables(variant: VariantAudit) -> Iterator[ReportTable]:
    """For each property, the share of each value on each split."""
    splits = list(variant.splits)
    for distribution in variant.balance:
        rows = [
            [value, *(f"{distribution.share(split, place):.2%}" for split in splits)]
            for place, value in enumerate(distribution.values)
        ]
        head = [distribution.name, *splits]
        yield ReportTable(head, rows, title=f"{distribution.name}: share of each value")


# Values as text.


def decimals(value: float | None, places: int = 3) -> str:
    """A number as text with `places` decimal places or digits; None is an empty cell."""
    if value is None:
        return NOTHING
    fits = value == 0 or 10**-places <= abs(value) < 1e3
    return f"{value:.{places}f}" if fits else f"{value:.{places}g}"


def percent(share: Estimate | None) -> str:
    """A share as text; None is an empty cell."""
    return NOTHING if share is None else f"{share.mean:.1%}"
