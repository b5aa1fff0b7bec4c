"""What is audited: one variant of a dataset, with what its task says of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pyarrow as pa

from synthbench.dataset import Dataset
from synthbench.features import is_image, label_names
from synthbench.tasks.base import Task
from synthbench.tasks.scrutiny import Columns, Levels, Scrutiny, words


@dataclasses.dataclass(frozen=True)
class Subject:
    """One variant of a dataset.

    Attributes:
        dataset: the dataset.
        task: the task with the variant.
        scrutiny: what to look for beside what is looked for in every task.
        levels: what figures are given by.
    """

    dataset: Dataset
    task: Task
    scrutiny: Scrutiny
    levels: Levels

    @classmethod
    def open(cls, dataset: Dataset, variant: str) -> Subject:
        """The variant of a dataset, which has it."""
        task = dataset.make_task(variant)
        scrutiny = task.scrutiny()
        buckets = Levels(task.bucket_name, task.buckets, task.bucket_label)
        return cls(dataset, task, scrutiny, scrutiny.levels or buckets)

    @property
    def splits(self) -> list[str]:
        """The splits that are there, in the order in which readers see them."""
        return list(self.dataset.manifest.variants[self.task.variant])

    @property
    def train(self) -> str | None:
        """The split to fit on, if there is one."""
        return next((name for name in self.splits if not self.is_evaluation(name)), None)

    def is_evaluation(self, split: str) -> bool:
        """Whether a split is for evaluation, not for training."""
        return self.task.split(split).evaluation

    @property
    def tokens(self) -> Callable[[Columns], pa.ListArray] | None:
        """How a row's tokens are found, if it has any."""
        return self.scrutiny.tokens or (words if "text" in self.task.columns else None)

    @property
    def image_columns(self) -> list[str]:
        """The columns that hold images."""
        return [name for name, feature in self.task.columns.items() if is_image(feature)]

    @property
    def other_columns(self) -> list[str]:
        """All other columns, `id` first: what can be read of every row in no time."""
        columns = [name for name in self.task.columns if name not in self.image_columns]
        return ["id", *columns]

    def label_text(self, label: int) -> str:
        """A label as people read it."""
        names = label_names(self.task.columns.get("label", {}))
        return str(label) if names is None else names[label]
