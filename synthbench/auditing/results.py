"""The results of an audit for one variant: values, and the findings drawn from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from synthbench.auditing.balance import Distribution
from synthbench.auditing.leaks import OverstatedDifficulty, SplitLeaks
from synthbench.auditing.scoring import ScoreOnRows, ShortcutScore, SplitRows
from synthbench.auditing.variant import AuditedVariant

#: Near duplicates are a finding if more than this share of an evaluation split has one in train.
NEAR_DUPLICATE_SHARE = 0.01


@dataclasses.dataclass(frozen=True)
class VariantAudit:
    """The results for one variant."""

    metrics: tuple[str, ...]  # the task's metrics
    level_name: str  # the column or property whose values are the levels
    fitted: int  # the number of rows of train that shortcuts are fitted on; 0 without a train split
    splits: dict[str, SplitRows]
    shortcuts: list[ShortcutScore]
    left_out: dict[str, str]  # the shortcuts that were not tried, with the reason
    leaks: dict[str, SplitLeaks]  # of each split
    balance: list[Distribution]  # how often each label, level, token and so on occurs
    claims: list[OverstatedDifficulty]  # rows that are easier than they claim
    findings: list[str]  # warnings, as sentences
    notes: list[str]  # facts about the rule, as sentences


def list_findings(
    subject: AuditedVariant,
    shortcuts: Sequence[ShortcutScore],
    leaks: Mapping[str, SplitLeaks],
    claims: Sequence[OverstatedDifficulty],
) -> list[str]:
    """The task's warnings, near solutions, leaks, and rows that are easier than they claim."""
    findings = [*subject.task.warnings]
    for shortcut in shortcuts:
        findings += _near_solutions(shortcut, subject.levels.name)
    for split, leak in leaks.items():
        findings += _leaks(split, leak, subject.is_evaluation(split))
    return findings + [
        f"{split}: {share.mean:.1%} of the rows need less than their {claim.name} says"
        for claim in claims
        for split, share in claim.splits.items()
        if share.mean > 0.0
    ]


def _near_solutions(shortcut: ShortcutScore, level_name: str) -> Iterator[str]:
    """For each split, name the split or the levels that a shortcut comes near solving."""
    for split, score in shortcut.splits.items():
        named = {split: score}
        if not score.near:
            levels = shortcut.levels[split]
            named = {
                f"{split}, {level_name} {level}": level_score
                for level, level_score in levels.items()
            }
        for name, named_score in named.items():
            if named_score.near:
                yield f"{name}: {shortcut.name} comes near solving it ({_means(named_score)})"


def _means(score: ScoreOnRows) -> str:
    return ", ".join(f"{metric} {estimate.mean:.3f}" for metric, estimate in score.figures.items())


def _leaks(split: str, leaks: SplitLeaks, evaluation: bool) -> Iterator[str]:
    counts = {
        "rows that repeat an earlier row of the split": leaks.repeated,
        "rows with an id that does not follow from their content": leaks.wrong_ids,
        "rows with the id of an earlier row": leaks.repeated_ids,
    }
    counts |= {f"rows that also occur in {other}": count for other, count in leaks.shared.items()}
    counts |= {
        f"source images that are also used in {other}": count
        for other, count in leaks.shared_images.items()
    }
    for text, count in counts.items():
        if count:
            yield f"{split}: {text}: {count:,}"
    for kind, near in leaks.near_duplicates.items() if evaluation else ():
        if near.share > NEAR_DUPLICATE_SHARE:
            yield f"{split}: {near.share:.1%} of the rows have a near duplicate in train: {kind}"
