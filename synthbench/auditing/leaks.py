"""Leaks: repeated rows, near duplicates, shared source images, wrong and repeated ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.sample import Sample
from synthbench.auditing.scan import SplitScan
from synthbench.auditing.statistics import Estimate, estimate
from synthbench.auditing.variant import AuditedVariant
from synthbench.tasks.audit_spec import Claim


@dataclasses.dataclass(frozen=True)
class NearDuplicates:
    """Near duplicates of one kind: rows of a split that closely resemble another row of train.

    Attributes:
        rows: the number of rows with a near duplicate in train.
        share: their share of the split.
        levels: their share of each level.
    """

    rows: int
    share: float
    levels: dict[str, float]


@dataclasses.dataclass(frozen=True)
class SplitLeaks:
    """The leaks of one split, found by comparing all rows.

    In a clean dataset all numbers are 0, except `rows`, `images` and those of near duplicates.

    Attributes:
        rows: rows of the split.
        repeated: rows whose content already occurred in the split.
        shared: rows whose content also occurs in another split, by that split.
        wrong_ids: rows whose id does not follow from their content.
        repeated_ids: rows whose id already occurred in this split or an earlier split.
        images: distinct source images in use; 0 if rows are not made from images.
        shared_images: how many of these images another split uses too, by that split.
        kin: near duplicates, by kind; empty without a train split.
    """

    rows: int
    repeated: int
    shared: dict[str, int]
    wrong_ids: int
    repeated_ids: int
    images: int
    shared_images: dict[str, int]
    kin: dict[str, NearDuplicates]


def find_leaks(subject: AuditedVariant, scans: Mapping[str, SplitScan]) -> dict[str, SplitLeaks]:
    """Compare all rows of all splits with each other."""
    ordered = {name: np.sort(scan.contents) for name, scan in scans.items()}
    repeated_ids = _repeated_ids(scans)
    found = {}
    for name, own in scans.items():
        others = [other for other in scans if other != name]
        found[name] = SplitLeaks(
            rows=len(own.contents),
            repeated=int((np.diff(ordered[name]) == 0).sum()),
            shared={other: int(_among(own.contents, ordered[other]).sum()) for other in others},
            wrong_ids=own.wrong_ids,
            repeated_ids=repeated_ids[name],
            images=len(own.images),
            shared_images={
                other: int(_among(own.images, scans[other].images).sum()) for other in others
            },
            kin={},
        )
    train = subject.train
    if train is not None:
        for kind in subject.spec.near_duplicate_keys:
            near = _near_duplicates(scans, train, kind)
            for name, rows in near.items():
                levels = scans[name].levels
                found[name].kin[kind] = _summary(rows, levels, subject.levels.label)
    return found


def _among(asked: NDArray[np.uint64], ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which codes occur in an ascending array of codes, bool `(asked,)`."""
    if not len(ordered):
        return np.zeros(len(asked), np.bool_)
    place = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[place] == asked
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
    scans: Mapping[str, SplitScan], train: str, kind: str
) -> dict[str, NDArray[np.bool_]]:
    """Which rows of each split have a near duplicate in train; exact copies do not count."""
    contents, first = np.unique(scans[train].contents, return_index=True)
    codes = np.sort(scans[train].kin[kind][first])
    common = codes[1:][np.diff(codes) == 0]  # codes that several rows of train share
    found = {}
    for name, own in scans.items():
        near = _among(own.kin[kind], common if name == train else codes)
        found[name] = near if name == train else near & ~_among(own.contents, contents)
    return found


def _summary(
    near: NDArray[np.bool_], levels: NDArray[np.int64], label: Callable[[int], str]
) -> NearDuplicates:
    return NearDuplicates(
        rows=int(near.sum()),
        share=float(near.mean()),
        levels={
            label(level): float(near[levels == level].mean())
            for level in np.unique(levels).tolist()
        },
    )


@dataclasses.dataclass(frozen=True)
class OverstatedDifficulty:
    """The share of rows that are easier than their difficulty column claims.

    Attributes:
        name: the column with the claimed difficulty.
        text: what is compared, in a sentence.
        splits: the share of these rows in each split.
        claims: for each split, the share among the rows with each claimed difficulty.
    """

    name: str
    text: str
    splits: dict[str, Estimate]
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
