"""Leaks: rows that are twice, near duplicates, source images of two splits, ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from synthbench.audits.census import Census
from synthbench.audits.subject import Subject


@dataclasses.dataclass(frozen=True)
class Kin:
    """The near duplicates of one kind in one split.

    Attributes:
        rows: rows that have one among train's rows (of train: among its other rows).
        share: the same as a share of the split.
        levels: this share for each level.
    """

    rows: int
    share: float
    levels: dict[str, float]


@dataclasses.dataclass(frozen=True)
class SplitLeaks:
    """What leaks in one split; everything should be 0, but for near duplicates.

    Attributes:
        rows: rows of the split, all of which were looked at.
        repeated: rows whose content stands before in the split.
        shared: rows whose content is in another split, too, by that split.
        wrong_ids: rows whose id is not their content's.
        repeated_ids: rows whose id stands before in the dataset, in the order of splits.
        images: different source images used; 0 where rows are not made from any.
        shared_images: of these, images that another split uses, too, by that split.
        kin: near duplicates, by kind; empty where there is no train.
    """

    rows: int
    repeated: int
    shared: dict[str, int]
    wrong_ids: int
    repeated_ids: int
    images: int
    shared_images: dict[str, int]
    kin: dict[str, Kin]


def find_leaks(subject: Subject, censuses: Mapping[str, Census]) -> dict[str, SplitLeaks]:
    """Compare all rows of all splits."""
    ordered = {name: np.sort(one.contents) for name, one in censuses.items()}
    repeated_ids = _repeated_ids(censuses)
    found = {}
    for name, own in censuses.items():
        others = [other for other in censuses if other != name]
        found[name] = SplitLeaks(
            rows=len(own.contents),
            repeated=int((np.diff(ordered[name]) == 0).sum()),
            shared={other: int(_among(own.contents, ordered[other]).sum()) for other in others},
            wrong_ids=own.wrong_ids,
            repeated_ids=repeated_ids[name],
            images=len(own.images),
            shared_images={
                other: int(_among(own.images, censuses[other].images).sum()) for other in others
            },
            kin={},
        )
    train = subject.train
    if train is not None:
        for kind in subject.scrutiny.kinships:
            near = _near_duplicates(censuses, train, kind)
            for name, rows in near.items():
                levels = censuses[name].levels
                found[name].kin[kind] = _summary(rows, levels, subject.levels.label)
    return found


def _among(asked: NDArray[np.uint64], ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which codes are among others, that ascend, bool `(asked,)`."""
    if not len(ordered):
        return np.zeros(len(asked), np.bool_)
    place = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[place] == asked
    return found


def _repeated_ids(censuses: Mapping[str, Census]) -> dict[str, int]:
    """How many ids of each split have been there before, in it or in an earlier one."""
    _, first = np.unique(np.concatenate([one.ids for one in censuses.values()]), return_index=True)
    ends = np.cumsum([len(one.ids) for one in censuses.values()])
    new = np.bincount(np.searchsorted(ends, first, side="right"), minlength=len(ends))
    return {
        name: len(one.ids) - int(count)
        for (name, one), count in zip(censuses.items(), new, strict=True)
    }


def _near_duplicates(
    censuses: Mapping[str, Census], train: str, kind: str
) -> dict[str, NDArray[np.bool_]]:
    """Which rows of each split have another row of train as a near duplicate, copies aside."""
    contents, first = np.unique(censuses[train].contents, return_index=True)
    codes = np.sort(censuses[train].kin[kind][first])
    several = codes[1:][np.diff(codes) == 0]  # codes that rows of train have in common
    found = {}
    for name, own in censuses.items():
        near = _among(own.kin[kind], several if name == train else codes)
        found[name] = near if name == train else near & ~_among(own.contents, contents)
    return found


def _summary(
    near: NDArray[np.bool_], levels: NDArray[np.int64], label: Callable[[int], str]
) -> Kin:
    return Kin(
        rows=int(near.sum()),
        share=float(near.mean()),
        levels={
            label(level): float(near[levels == level].mean())
            for level in np.unique(levels).tolist()
        },
    )
