"""Leaks: repeated rows, near duplicates, shared source images, wrong and repeated ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from synthbench.auditing.sample import Sample
from synthbench.auditing.scan import SplitScan
from synthbench.auditing.statistics import Estimate, estimate
from synthbench.auditing.variant import AuditedVariant
from synthbench.tasks.audit_spec import Claim


@dataclasses.dataclass(frozen=True)
class NearDuplicates:
    """Near duplicates of one kind: rows of a split that closely resemble another row of train."""

    rows: int  # how many rows have a near duplicate in train
    share: float  # their share of the split
    levels: dict[str, float]  # their share of each level


@dataclasses.dataclass(frozen=True)
class SplitLeaks:
    """The leaks of one split, found by comparing all rows.

    In a clean dataset all numbers are 0, except `rows`, `images` and those of near duplicates.
    """

    rows: int
    repeated: int  # rows whose content occurs earlier in the split
    shared: dict[str, int]  # rows whose content also occurs in another split, by that split
    wrong_ids: int  # rows whose id does not follow from their content
    repeated_ids: int  # rows whose id occurs earlier in this split or in an earlier split
    images: int  # distinct source images in use; 0 if rows are not made from images
    shared_images: dict[str, int]  # how many of these images another split uses too, by that split
    kin: dict[str, NearDuplicates]  # near duplicates, by kind; empty without a train split


def find_leaks(subject: AuditedVariant, scans: Mapping[str, SplitScan]) -> dict[str, SplitLeaks]:
    """Compare all rows of all splits with each other."""
    repeated_ids, train = _repeated_ids(scans), subject.train
    found = {}
    for name, own in scans.items():
        others = {other: scan for other, scan in scans.items() if other != name}
        found[name] = SplitLeaks(
            rows=len(own.contents),
            repeated=len(own.contents) - len(np.unique(own.contents)),
            shared={
                other: int(np.isin(own.contents, scan.contents).sum())
                for other, scan in others.items()
            },
            wrong_ids=own.wrong_ids,
            repeated_ids=repeated_ids[name],
            images=len(own.images),
            shared_images={
                other: int(np.isin(own.images, scan.images).sum()) for other, scan in others.items()
            },
            kin={
                kind: _near_duplicates(subject, scans, name, train, kind)
                for kind in subject.spec.near_duplicate_keys
                if train is not None
            },
        )
    return found


def _repeated_ids(scans: Mapping[str, SplitScan]) -> dict[str, int]:
    """How many ids of each split already occurred in this split or an earlier split."""
    _, first = np.unique(np.concatenate([scan.ids for scan in scans.values()]), return_index=True)
    ends = np.cumsum([len(scan.ids) for scan in scans.values()])
    new = np.bincount(np.searchsorted(ends, first, side="right"), minlength=len(ends))
    return {
        name: len(scan.ids) - int(count)
        for (name, scan), count in zip(scans.items(), new, strict=True)
    }


def _near_duplicates(
    subject: AuditedVariant, scans: Mapping[str, SplitScan], split: str, train: str, kind: str
) -> NearDuplicates:
    """The rows of a split with a near duplicate in train; exact copies do not count."""
    own, levels = scans[split], scans[split].levels
    contents, first = np.unique(scans[train].contents, return_index=True)
    keys, counts = np.unique(scans[train].kin[kind][first], return_counts=True)
    if split == train:
        near = np.isin(own.kin[kind], keys[counts > 1])
    else:
        near = np.isin(own.kin[kind], keys) & ~np.isin(own.contents, contents)
    return NearDuplicates(
        rows=int(near.sum()),
        share=float(near.mean()),
        levels={
            subject.levels.label(level): float(near[levels == level].mean())
            for level in np.unique(levels).tolist()
        },
    )


@dataclasses.dataclass(frozen=True)
class OverstatedDifficulty:
    """The share of rows that are easier than their difficulty column claims."""

    name: str  # the column with the claimed difficulty
    text: str  # what is compared, in a sentence
    splits: dict[str, Estimate]  # the share of these rows in each split
    #: for each split, the share among the rows with each claimed difficulty
    claims: dict[str, dict[str, Estimate]]


def check_claim(claim: Claim, samples: Mapping[str, Sample]) -> OverstatedDifficulty:
    """Compare the difficulty that rows claim with the difficulty that they have."""
    splits: dict[str, Estimate] = {}
    claims: dict[str, dict[str, Estimate]] = {}
    for name, sample in samples.items():
        claimed, needed = claim.compare(sample.columns)
        less = (needed < claimed).astype(np.float64)
        claims[name] = {
            str(value): estimate(less[claimed == value]) for value in np.unique(claimed).tolist()
        }
        splits[name] = estimate(less)
    return OverstatedDifficulty(claim.name, claim.text, splits, claims)
