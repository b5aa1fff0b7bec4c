"""One pass over all rows of a split, for leaks and balance."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.auditing.variant import AuditedVariant
from synthbench.errors import DatasetError
from synthbench.seeding import hash_rows
from synthbench.tasks.audit_spec import Columns, numbers
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.row_ids import fingerprints, ids, read_ids


@dataclasses.dataclass(frozen=True)
class SplitScan:
    """The values collected from all rows of a split."""

    contents: NDArray[np.uint64]  # the fingerprint of each row's content, uint64 `(rows,)`
    #: a code of each row's id, uint64 `(rows,)`; equal to the fingerprint if the id is right
    ids: NDArray[np.uint64]
    #: the keys that near duplicates share, uint64 `(rows,)`, by kind of near duplicate
    kin: dict[str, NDArray[np.uint64]]
    levels: NDArray[np.int64]  # the level of each row, int64 `(rows,)`
    #: the label of each row, int64 `(rows,)`; empty if labels are not integers
    labels: NDArray[np.int64]
    #: the distinct codes of the source images in use, uint64, in ascending order
    images: NDArray[np.uint64]
    wrong_ids: int  # the number of rows whose id does not follow from their content


def scan_split(subject: AuditedVariant, split: str) -> SplitScan:
    """Read all rows of a split, without their image columns.

    Raises:
        DatasetError: a shard is missing or cannot be read, or a row is not valid for the task.
    """
    dataset, task = subject.dataset, subject.task
    names = ["id", *task.plain_columns]
    parts = []
    for batch in dataset.batches(task.variant, split, names):
        columns = {name: batch.column(name) for name in batch.schema.names}
        try:
            parts.append(_scan_batch(subject, columns))
        except (KeyError, ValueError) as error:
            raise DatasetError(
                f"{dataset.path}: split {split!r} has rows that are not valid for {task.name}: "
                f"{error}. `synthbench verify` names them."
            ) from None

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    kinds = subject.spec.near_duplicate_keys
    return SplitScan(
        contents=joined("contents"),
        ids=joined("ids"),
        kin={kind: np.concatenate([part.kin[kind] for part in parts]) for kind in kinds},
        levels=joined("levels"),
        labels=joined("labels"),
        images=np.unique(joined("images")),
        wrong_ids=sum(part.wrong_ids for part in parts),
    )


def _scan_batch(subject: AuditedVariant, columns: Columns) -> SplitScan:
    task = subject.task
    contents = fingerprints(task, task.parse(columns))
    label = columns.get("label")
    whole = label is not None and pa.types.is_integer(label.type)
    images = task.source_images(columns) if isinstance(task, ImageTask) else np.zeros(0, np.uint64)
    wrong = pc.not_equal(columns["id"], ids(contents)).fill_null(True)
    return SplitScan(
        contents=contents,
        ids=_id_codes(columns["id"]),
        kin={name: code(columns) for name, code in subject.spec.near_duplicate_keys.items()},
        levels=subject.levels.of(columns),
        labels=numbers(label) if whole else np.zeros(0, np.int64),
        images=np.unique(images),
        wrong_ids=pc.sum(wrong).as_py() or 0,
    )


def _id_codes(column: pa.Array) -> NDArray[np.uint64]:
    try:
        return read_ids(column)
    except ValueError:  # malformed ids are compared as text
        texts = np.array([text or "" for text in column.to_pylist()], np.bytes_)
        return hash_rows(texts.view(np.uint8).reshape(len(texts), -1))
