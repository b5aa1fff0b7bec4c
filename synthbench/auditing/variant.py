"""The audited variant of a dataset, with its task and the task's audit specification."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels
from synthbench.tasks.base import Task
from synthbench.tasks.companions import companion
from synthbench.tasks.tokens import Vocabulary


def audit_spec_of(task: Task) -> AuditSpec:
    """The specification in the module `audit` beside the task's module; empty without it."""
    function = companion(task, "audit", "audit_spec")
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
        """Whether a split is for evaluation, not for training."""
        return self.task.split(split).evaluation

    @property
    def tokens(self) -> Callable[[Columns], pa.ListArray] | None:
        """Splits the texts of rows into tokens, by default at spaces; None if rows have no text."""
        vocabulary = self.task.vocabulary or Vocabulary(())
        if "text" not in self.task.columns:
            return None
        return lambda columns: vocabulary.split(columns["text"])

    def rows_by_level(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """For each level in ascending order, which rows are on it: its name, bool `(rows,)`."""
        levels = self.levels.of(columns)
        return {self.levels.label(one): levels == one for one in np.unique(levels).tolist()}

    def label_text(self, label: int) -> str:
        """The name of a label, or the label itself if it has no name."""
        return str(label) if self.task.labels is None else self.task.labels[label]
