"""Leaks: repeated rows, near duplicates, shared source images, wrong and repeated ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.scoring import Estimate, estimate
from synthbench.auditing.variant import AuditedVariant, Sample, SplitScan
from synthbench.tasks.audit_spec import Claim, numbers


@dataclasses.dataclass(frozen=True)
class NearDuplicates:
    """Near duplicates of one kind: rows of a split that closely resemble another row of train."""

    rows: int  # how many rows have a near duplicate in train
    share: float  # their share of the split
    levels: dict[str, float]  # their share of each level


@dataclasses.dataclass(frozen=True)
class SplitLeaks:
    """The leaks of one split, found by comparing all rows.

    In a clean dataset all numbers except `rows`, `images` and `kin` are 0.
    """

    rows: int
    repeated: int  # rows whose content occurs earlier in the split
    shared: dict[str, int]  # rows whose content also occurs in another split, by that split
    wrong_ids: int  # rows whose id does not follow from their content
    repeated_ids: int  # rows whose id occurs earlier in this split or in an earlier split
    images: int  # distinct source images in use; 0 if rows are not made from images
    shared_images: dict[str, int]  # how many of these images another split uses too, by that split
    near_duplicates: dict[
        str, NearDuplicates
    ]  # near duplicates, by kind. Empty without a train split


def find_leaks(subject: AuditedVariant, scans: Mapping[str, SplitScan]) -> dict[str, SplitLeaks]:
    """Compare all rows of all splits with each other."""
    repeated_ids, near = _repeated_ids(scans), _near_duplicates(subject, scans)
    contents = {name: distinct(scan.contents) for name, scan in scans.items()}
    leaks = {}
    for name, own in scans.items():
        others = [other for other in scans if other != name]
        leaks[name] = SplitLeaks(
            rows=len(own.contents),
            repeated=len(own.contents) - len(contents[name]),
            shared={other: int(are_in(own.contents, contents[other]).sum()) for other in others},
            wrong_ids=own.wrong_ids,
            repeated_ids=repeated_ids[name],
            images=len(own.images),
            shared_images={
                other: int(are_in(own.images, scans[other].images).sum()) for other in others
            },
            near_duplicates=near[name],
        )
    return leaks


def distinct(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The distinct codes in ascending order. Faster than `np.unique`, which hashes them."""
    ordered = np.sort(codes)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    distinct: NDArray[np.uint64] = ordered[first]
    return distinct


def are_in(codes: NDArray[np.uint64], ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """A mask of the codes that are in `ordered`, whose codes are in ascending order."""
    if not len(ordered):
        return np.zeros(len(codes), np.bool_)
    index = np.minimum(np.searchsorted(ordered, codes), len(ordered) - 1)
    mask: NDArray[np.bool_] = ordered[index] == codes
    return mask


def _repeated_ids(scans: Mapping[str, SplitScan]) -> dict[str, int]:
    """Number of ids of each split that occurred before, in this split or an earlier split."""
    repeated, before = {}, np.zeros(0, np.uint64)
    for name, scan in scans.items():
        after = distinct(np.concatenate([before, scan.ids]))
        repeated[name] = len(scan.ids) - (len(after) - len(before))
        before = after
    return repeated


def _near_duplicates(
    subject: AuditedVariant, scans: Mapping[str, SplitScan]
) -> dict[str, dict[str, NearDuplicates]]:
    """The rows of each split with a near duplicate in train, by kind. Exact copies do not count."""
    duplicates: dict[str, dict[str, NearDuplicates]] = {name: {} for name in scans}
    if subject.train is None:
        return duplicates
    train = scans[subject.train]
    contents, first = np.unique(train.contents, return_index=True)
    for kind in subject.spec.near_duplicate_keys:
        keys, counts = np.unique(train.near_duplicates[kind][first], return_counts=True)
        for name, own in scans.items():
            if name == subject.train:
                near = are_in(own.near_duplicates[kind], keys[counts > 1])
            else:
                near = are_in(own.near_duplicates[kind], keys) & ~are_in(own.contents, contents)
            duplicates[name][kind] = NearDuplicates(
                rows=int(near.sum()),
                share=float(near.mean()),
                levels={
                    subject.levels.label(level): float(near[own.levels == level].mean())
                    for level in np.unique(own.levels).tolist()
                },
            )
    return duplicates


@dataclasses.dataclass(frozen=True)
class OverstatedDifficulty:
    """The share of rows that are easier than their difficulty column claims."""

    name: str  # the column with the claimed difficulty
    text: str  # what is compared, in a sentence
    splits: dict[str, Estimate]  # the share in each split
    #: for each split, the share by claimed difficulty
    claims: dict[str, dict[str, Estimate]]


def check_claim(claim: Claim, samples: Mapping[str, Sample]) -> OverstatedDifficulty:
    """Compare the difficulty that rows claim with their real difficulty."""
    splits: dict[str, Estimate] = {}
    claims: dict[str, dict[str, Estimate]] = {}
    for name, sample in samples.items():
        claimed = numbers(sample.columns[claim.column])
        less = (claim.needed(sample.columns) < claimed).astype(np.float64)
        claims[name] = {
            str(value): estimate(less[claimed == value]) for value in np.unique(claimed).tolist()
        }
        splits[name] = estimate(less)
    return OverstatedDifficulty(claim.column, claim.text, splits, claims)
