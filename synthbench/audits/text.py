"""An audit as tables of text."""

from __future__ import annotations

from collections.abc import Iterable

from synthbench.audits.results import Audit, VariantAudit
from synthbench.audits.scoring import Reference, Score
from synthbench.audits.statistics import NEAR, Figure, way
from synthbench.tables import text_table

#: Behind a figure that is surely better than chance, and behind one that comes near solving.
BETTER, SOLVES = "+", "*"


def audit_text(audit: Audit) -> str:
    """The main figures: splits, but no levels."""
    parts = []
    for name, variant in audit.variants.items():
        parts.append(f"{audit.task}, {name} (seed {audit.seed})")
        parts += [part for part in _parts(variant) if part]
    return "\n\n".join(parts)


def _parts(variant: VariantAudit) -> Iterable[str]:
    yield _shortcuts(variant)
    yield _leaks(variant)
    yield _claims(variant)
    yield _balance(variant)
    findings = [f"- {text}" for text in variant.findings] or ["- nothing"]
    yield "\n".join(["Worth a second look:", *findings])


def _shortcuts(variant: VariantAudit) -> str:
    splits = list(variant.splits)
    rows = []
    for name, score in score_rows(variant):
        rows.append([name, *(score.get(split, "-") for split in splits)])
    notes = [
        f"95% intervals in brackets. {BETTER} surely better than chance. {SOLVES} near solving: "
        f"surely {NEAR:.0%} of the way from chance to the reference solver.",
        rows_text(variant),
        *(f"Left out: {name}; {reason}." for name, reason in variant.left_out.items()),
    ]
    head = [f"shortcut ({variant.metrics[0]})" if len(variant.metrics) == 1 else "shortcut"]
    return "\n".join([text_table([*head, *splits], rows), *notes])


def rows_text(variant: VariantAudit) -> str:
    """How many rows shortcuts are fitted and scored on, in a sentence."""
    scored = ", ".join(
        f"{split.scored:,} of {split.rows:,} in {name}" for name, split in variant.splits.items()
    )
    fitted = f"Fitted on {variant.fitted:,} rows of train; scored" if variant.fitted else "Scored"
    return f"{fitted} on other rows: {scored}." if variant.fitted else f"{fitted} on {scored}."


def score_rows(variant: VariantAudit) -> Iterable[tuple[str, dict[str, str]]]:
    """Chance and every shortcut, by metric: a name, and for each split the figure as text."""
    several = len(variant.metrics) > 1
    for metric in variant.metrics:
        yield (
            f"chance, {metric}" if several else "chance",
            {
                name: number(split.reference.chance[metric])
                for name, split in variant.splits.items()
                if metric in split.reference.chance
            },
        )
    for shortcut in variant.shortcuts:
        for metric in variant.metrics:
            yield (
                f"{shortcut.name}, {metric}" if several else shortcut.name,
                {
                    name: score_text(score, metric, variant.splits[name].reference)
                    for name, score in shortcut.splits.items()
                    if metric in score.figures
                },
            )


def score_text(score: Score, metric: str, reference: Reference) -> str:
    """A figure with its interval and its mark."""
    found = score.figures[metric]
    return f"{figure_text(found)}{mark(score, metric, reference)}"


def mark(score: Score, metric: str, reference: Reference) -> str:
    """Whether a figure comes near solving, or is surely better than chance."""
    if metric not in reference.chance or metric not in reference.solution:
        return ""
    along = way(score.figures[metric], reference.chance[metric], reference.solution[metric])
    if score.near and along >= NEAR:
        return f" {SOLVES}"
    return f" {BETTER}" if along > 0 else ""


def figure_text(found: Figure) -> str:
    """A mean with its interval."""
    return f"{number(found.mean)} ({number(found.low)} to {number(found.high)})"


def number(value: float) -> str:
    """A figure, to three places or three digits."""
    return f"{value:.3f}" if value == 0 or 1e-3 <= abs(value) < 1e3 else f"{value:.3g}"


def _leaks(variant: VariantAudit) -> str:
    head, rows, notes = leak_rows(variant)
    return "\n".join([text_table(head, rows, right=range(1, len(head))), *notes])


def leak_rows(variant: VariantAudit) -> tuple[list[str], list[list[str]], list[str]]:
    """Head and rows of the table of leaks, and what its abbreviations mean."""
    kinds = list(next(iter(variant.leaks.values())).kin)
    images = any(leak.images for leak in variant.leaks.values())
    head = ["leaks", "rows", "repeated", "in other splits", "wrong ids", "repeated ids"]
    head += ["source images", "in other splits"] if images else []
    head += [f"near ({place})" for place in range(1, len(kinds) + 1)]
    rows = []
    for name, leak in variant.leaks.items():
        counts = [leak.rows, leak.repeated, sum(leak.shared.values())]
        counts += [leak.wrong_ids, leak.repeated_ids]
        counts += [leak.images, sum(leak.shared_images.values())] if images else []
        shares = [f"{leak.kin[kind].share:.1%}" for kind in kinds]
        rows.append([name, *(f"{count:,}" for count in counts), *shares])
    notes = [
        f"near ({place}): share of rows of which another row of train is a near duplicate, {kind}."
        for place, kind in enumerate(kinds, start=1)
    ]
    return head, rows, notes


def _claims(variant: VariantAudit) -> str:
    tables = []
    for claim in variant.claims:
        values = list(dict.fromkeys(one for split in claim.claims.values() for one in split))
        rows = [
            [split, figure_text(share)]
            + [_percent(claim.claims[split].get(value)) for value in values]
            for split, share in claim.splits.items()
        ]
        head = [f"needs less than {claim.name}", "all", *values]
        tables.append(text_table(head, rows, right=range(2, len(head))))
    return "\n\n".join(tables)


def _percent(share: Figure | None) -> str:
    return "-" if share is None else f"{share.mean:.1%}"


def _balance(variant: VariantAudit) -> str:
    splits = list(variant.splits)
    rows = []
    for trait in variant.balance:
        row = [trait.name, f"{len(trait.values):,}"]
        for split in splits:
            value, share = trait.most_frequent(split)
            row.append(f"{value} {share:.1%}")
        rows.append(row)
    return text_table(["most frequent", "values", *splits], rows, right=[1])
