"""The audited variant of a dataset, and its rows: a sample of each split, or one pass over all.

Shortcuts are fitted and scored on the samples, which are limited in number and always the same.
Leaks and balance are found in all rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError
from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, numbers
from synthbench.tasks.base import Task
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.optional_modules import optional_function
from synthbench.tasks.row_ids import fingerprints, ids, read_ids
from synthbench.tasks.tokens import Vocabulary


def audit_spec_of(task: Task) -> AuditSpec:
    """The specification in the module `audit` beside the task's module. Empty without it."""
    function = optional_function(task, "audit", "audit_spec")
    spec: AuditSpec = AuditSpec() if function is None else function(task)
    return spec


@dataclasses.dataclass(frozen=True)
class AuditedVariant:
    """A variant of a dataset that is audited."""

    dataset: DatasetDirectory
    task: Task  # with the variant
    spec: AuditSpec  # what the task adds to every audit
    levels: Levels  # the groups of rows that are also scored separately

    @classmethod
    def open(cls, dataset: DatasetDirectory, variant: str) -> AuditedVariant:
        """Open a variant of a dataset."""
        task = dataset.make_task(variant)
        spec = audit_spec_of(task)
        buckets = Levels(task.bucket_name, task.buckets, task.bucket_label)
        return cls(dataset, task, spec, spec.levels or buckets)

    @property
    def splits(self) -> list[str]:
        """The names of the dataset's splits, in the order in which readers see them."""
        return list(self.dataset.manifest.variants[self.task.variant])

    @property
    def train(self) -> str | None:
        """The split to fit shortcuts on; None if all splits are for evaluation."""
        return next((name for name in self.splits if not self.is_evaluation(name)), None)

    def is_evaluation(self, split: str) -> bool:
        """True if a split is for evaluation, not for training."""
        return self.task.split(split).evaluation

    @property
    def tokens(self) -> Callable[[Columns], pa.ListArray] | None:
        """Splits the texts of rows into tokens, by default at spaces. None without text."""
        vocabulary = self.task.vocabulary or Vocabulary(())
        if "text" not in self.task.columns:
            return None
        return lambda columns: vocabulary.split(columns["text"])

    @property
    def label_vocabulary(self) -> Vocabulary | None:
        """The tokens of labels that are sequences of them; None if labels are anything else."""
        label = self.task.columns.get("label")
        return None if label is None else label.vocabulary

    @property
    def label_tokens(self) -> Callable[[Columns], pa.ListArray] | None:
        """Splits labels that are sequences into their tokens; None if they are anything else."""
        vocabulary = self.label_vocabulary
        return None if vocabulary is None else lambda rows: vocabulary.split(rows["label"])

    def rows_by_level(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """For each level in ascending order, which rows are on it: its name, bool `(rows,)`."""
        levels = self.levels.of(columns)
        return {self.levels.label(level): levels == level for level in np.unique(levels).tolist()}

    def label_text(self, label: int) -> str:
        """The name of a label, or the label itself without a name."""
        return str(label) if self.task.labels is None else self.task.labels[label]


#: The maximum number of rows to fit shortcuts on, and of rows per split to score them on.
FIT_ROWS, SCORE_ROWS = 20_000, 10_000
#: One in this many rows drawn from train is held out for scoring.
HELD_OUT = 5
#: The maximum memory for the drawn rows of a split, in bytes.
MOST_BYTES = 1 << 27
_BATCH_ROWS = 1_024


@dataclasses.dataclass(frozen=True)
class Sample:
    """Rows drawn from a split: all their columns, and the number of rows of the whole split."""

    columns: dict[str, pa.Array]
    split_rows: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """The rows at these indices, in this order."""
        indices = pa.array(rows)
        columns = {name: column.take(indices) for name, column in self.columns.items()}
        return Sample(columns, self.split_rows)

    def batches(self, rows: int = _BATCH_ROWS) -> Iterator[Columns]:
        """The rows in order, in batches of at most `rows`."""
        for first in range(0, len(self), rows):
            yield {name: column.slice(first, rows) for name, column in self.columns.items()}


def draw_samples(subject: AuditedVariant) -> tuple[Sample | None, dict[str, Sample]]:
    """Draw rows of train to fit shortcuts on, and other rows of every split to score them on.

    Without a train split, the rows to fit on are None. Raises as `draw_rows`.
    """
    fit, score = None, {}
    for name in subject.splits:
        if subject.is_evaluation(name):
            score[name] = draw_rows(subject, name, SCORE_ROWS)
            continue
        drawn = draw_rows(subject, name, FIT_ROWS * HELD_OUT // (HELD_OUT - 1))
        held_out = np.arange(len(drawn)) % HELD_OUT == 0
        score[name] = drawn.take(np.flatnonzero(held_out))
        fit = drawn.take(np.flatnonzero(~held_out)) if len(drawn) > 1 else drawn
    return fit, score


def draw_rows(subject: AuditedVariant, split: str, most: int) -> Sample:
    """Cut a split into at most `most` equal parts, and draw one row from each, in order.

    The same dataset always gives the same rows. If rows are large, fewer are drawn, so that
    the sample fits into `MOST_BYTES`.

    Raises:
        DatasetError: a shard is missing, cannot be read, or does not have the rows it should.
    """
    dataset, task = subject.dataset, subject.task
    total = dataset.split(task.variant, split).rows
    first = next(dataset.batches(task.variant, split, batch_rows=64))
    most = max(1, min(most, total, MOST_BYTES * len(first) // max(1, first.nbytes)))
    ends = np.arange(most + 1) * total // most
    draws = Draws({"audit": task.name, "split": split})
    picks = ends[:-1] + (draws.floats(most) * np.diff(ends)).astype(np.int64)
    parts: list[pa.RecordBatch] = []
    done = 0
    for batch in dataset.batches(task.variant, split, batch_rows=8_192):
        low, high = np.searchsorted(picks, (done, done + len(batch)))
        parts.append(batch.take(pa.array(picks[low:high] - done)))
        done += len(batch)
    drawn = pa.concat_batches(parts)
    return Sample(dict(zip(drawn.schema.names, drawn.columns, strict=True)), total)


@dataclasses.dataclass(frozen=True)
class SplitScan:
    """The values collected from all rows of a split."""

    contents: NDArray[np.uint64]  # the fingerprint of each row's content, uint64 `(rows,)`
    #: a code of each row's id, uint64 `(rows,)`. Equal to the fingerprint if the id is right
    ids: NDArray[np.uint64]
    #: the keys that near duplicates share, uint64 `(rows,)`, by kind of near duplicate
    near_duplicates: dict[str, NDArray[np.uint64]]
    levels: NDArray[np.int64]  # the level of each row, int64 `(rows,)`
    #: the label of each row, int64 `(rows,)`. Empty if labels are not integers
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
        near_duplicates={
            kind: np.concatenate([part.near_duplicates[kind] for part in parts]) for kind in kinds
        },
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
    if whole and task.labels is not None:
        least, most = pc.min_max(label).as_py().values()
        if least is not None and not 0 <= least <= most < len(task.labels):
            raise ValueError(f"labels {least} to {most}, allowed are 0 to {len(task.labels) - 1}")
    images = task.source_images(columns) if isinstance(task, ImageTask) else np.zeros(0, np.uint64)
    wrong = pc.not_equal(columns["id"], ids(contents)).fill_null(True)
    return SplitScan(
        contents=contents,
        ids=_id_codes(columns["id"]),
        near_duplicates={
            name: code(columns) for name, code in subject.spec.near_duplicate_keys.items()
        },
        levels=subject.levels.of(columns),
        labels=numbers(label) if whole else np.zeros(0, np.int64),
        images=np.unique(images),
        wrong_ids=pc.sum(wrong).as_py() or 0,
    )


def _id_codes(column: pa.Array) -> NDArray[np.uint64]:
    try:
        return read_ids(column)
    except ValueError:
        return np.array([_id_code(row_id) for row_id in column.to_pylist()], np.uint64)


def _id_code(text: str | None) -> int:
    """The code of one id. Malformed ids are compared as text."""
    try:
        return int(read_ids(pa.array([text], pa.string()))[0])
    except ValueError:
        return int(hash_rows(np.frombuffer((text or "-").encode(), np.uint8)[np.newaxis])[0])
