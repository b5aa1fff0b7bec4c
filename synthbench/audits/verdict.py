"""What of an audit's figures is worth a second look, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from synthbench.audits.claims import Overstated
from synthbench.audits.leaks import SplitLeaks
from synthbench.audits.scoring import Score, ShortcutScore
from synthbench.audits.subject import Subject

#: Near duplicates of train are named where more than this share of an evaluation split has one.
KIN_SHARE = 0.01


def findings(
    subject: Subject,
    shortcuts: Sequence[ShortcutScore],
    leaks: Mapping[str, SplitLeaks],
    claims: Sequence[Overstated],
) -> list[str]:
    """Shortcuts that come near solving, leaks, and rows that need less than they claim."""
    found: list[str] = []
    for shortcut in shortcuts:
        found += _near(shortcut, subject.levels.name)
    for split, leak in leaks.items():
        found += _leaking(split, leak, subject.is_evaluation(split))
    for claim in claims:
        for split, share in claim.splits.items():
            if share.mean > 0.0:
                found.append(
                    f"{split}: {share.mean:.1%} of the rows need less than their {claim.name} says"
                )
    return found


def _near(shortcut: ShortcutScore, level_name: str) -> Iterator[str]:
    """Where a shortcut comes near solving: of a split its levels are not named again."""
    for split, score in shortcut.splits.items():
        if score.near:
            yield f"{split}: {shortcut.name} comes near solving it ({_figures(score)})"
            continue
        for level, one in shortcut.levels[split].items():
            if one.near:
                yield (
                    f"{split}, {level_name} {level}: {shortcut.name} comes near solving it "
                    f"({_figures(one)})"
                )


def _figures(score: Score) -> str:
    return ", ".join(f"{metric} {one.mean:.3f}" for metric, one in score.figures.items())


def _leaking(split: str, leaks: SplitLeaks, evaluation: bool) -> Iterator[str]:
    counted = {
        "rows stand in it before": leaks.repeated,
        "rows have an id that is not their content's": leaks.wrong_ids,
        "rows have an id that stood before": leaks.repeated_ids,
    }
    counted |= {f"rows are in {other}, too": count for other, count in leaks.shared.items()}
    counted |= {
        f"source images are used in {other}, too": count
        for other, count in leaks.shared_images.items()
    }
    for what, count in counted.items():
        if count:
            yield f"{split}: {count:,} {what}"
    for kind, kin in leaks.kin.items() if evaluation else ():
        if kin.share > KIN_SHARE:
            yield f"{split}: {kin.share:.1%} of the rows have a near duplicate in train: {kind}"
