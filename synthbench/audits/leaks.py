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
    train, label = subject.train, subject.levels.label
    repeated_ids = _repeated_ids(censuses)
    found = {}
    for name, own in censuses.items():
        others = {other: one for other, one in censuses.items() if other != name}
        found[name] = SplitLeaks(
            rows=len(own.contents),
            repeated=len(own.contents) - len(np.unique(own.contents)),
            shared={
                other: int(np.isin(own.contents, one.contents).sum())
                for other, one in others.items()
            },
            wrong_ids=own.wrong_ids,
            repeated_ids=repeated_ids[name],
            images=len(own.images),
            shared_images={
                other: len(np.intersect1d(own.images, one.images)) for other, one in others.items()
            },
            kin={
                kind: _summary(_has_kin(kind, own, censuses[train]), own.levels, label)
                for kind in own.kin
                if train is not None
            },
        )
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


def _has_kin(kind: str, own: Census, train: Census) -> NDArray[np.bool_]:
    """Which rows have a near duplicate in train that is another row, exact copies aside."""
    if own is not train:
        near = np.isin(own.kin[kind], train.kin[kind])
        return near & ~np.isin(own.contents, train.contents)
    _, first = np.unique(own.contents, return_index=True)
    codes, counts = np.unique(own.kin[kind][first], return_counts=True)
    return np.isin(own.kin[kind], codes[counts > 1])


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
