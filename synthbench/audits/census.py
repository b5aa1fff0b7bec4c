"""One pass over every row of a split: what leaks and balance are told from, as numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.audits.subject import Subject
from synthbench.digest import ids, read_ids
from synthbench.errors import DatasetError
from synthbench.seeding import fingerprints
from synthbench.tasks.scrutiny import Columns, numbers


@dataclasses.dataclass(frozen=True)
class Census:
    """All rows of a split.

    Attributes:
        contents: a fingerprint of each row's content, uint64 `(rows,)`.
        ids: a code of each row's id, uint64 `(rows,)`; that of the right one is the fingerprint.
        kin: by name, codes that near duplicates have in common, uint64 `(rows,)` each.
        levels: the level of each row, int64 `(rows,)`.
        labels: the label of each row, int64 `(rows,)`; none where labels are not integers.
        images: codes of the source images that are used, uint64, each once.
        wrong_ids: how many rows have an id that is not their content's.
    """

    contents: NDArray[np.uint64]
    ids: NDArray[np.uint64]
    kin: dict[str, NDArray[np.uint64]]
    levels: NDArray[np.int64]
    labels: NDArray[np.int64]
    images: NDArray[np.uint64]
    wrong_ids: int


def take_census(subject: Subject, split: str) -> Census:
    """Read every row of a split, images left out.

    Raises:
        DatasetError: a shard is missing or cannot be read, or a row is none of the task's.
    """
    dataset, task = subject.dataset, subject.task
    parts = []
    for batch in dataset.batches(task.variant, split, subject.other_columns):
        columns = {name: batch.column(name) for name in batch.schema.names}
        try:
            parts.append(_count(subject, columns))
        except (KeyError, ValueError) as error:
            raise DatasetError(
                f"{dataset.path}: split {split!r} has rows that are none of {task.name}: {error}. "
                "`synthbench verify` names them."
            ) from None
    if not parts:
        raise DatasetError(f"{dataset.path}: split {split!r} has no rows.")
    return Census(
        contents=np.concatenate([part.contents for part in parts]),
        ids=np.concatenate([part.ids for part in parts]),
        kin={
            name: np.concatenate([part.kin[name] for part in parts])
            for name in subject.scrutiny.kinships
        },
        levels=np.concatenate([part.levels for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        images=np.unique(np.concatenate([part.images for part in parts])),
        wrong_ids=sum(part.wrong_ids for part in parts),
    )


def _count(subject: Subject, columns: Columns) -> Census:
    task = subject.task
    contents = fingerprints(task.content(task.parse(columns)))
    label = columns.get("label")
    whole = label is not None and pa.types.is_integer(label.type)
    wrong = pc.not_equal(columns["id"], ids(contents)).fill_null(True)
    return Census(
        contents=contents,
        ids=_id_codes(columns["id"]),
        kin={name: code(columns) for name, code in subject.scrutiny.kinships.items()},
        levels=subject.levels.of(columns),
        labels=numbers(label) if whole else np.zeros(0, np.int64),
        images=np.unique(task.source_images(columns)),
        wrong_ids=pc.sum(wrong).as_py() or 0,
    )


def _id_codes(column: pa.Array) -> NDArray[np.uint64]:
    try:
        return read_ids(column)
    except ValueError:  # ids of another form are compared as text
        texts = np.array([text or "" for text in column.to_pylist()], np.bytes_)
        return fingerprints(texts.view(np.uint8).reshape(len(texts), -1))
