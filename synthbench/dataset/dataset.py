"""Reading a dataset directory: its manifest, its shards, their rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.checks import check_name, usable_path
from synthbench.dataset.files import regular_file
from synthbench.dataset.manifest import Manifest, SplitRecord, read_manifest
from synthbench.dataset.parquet import read_batches
from synthbench.dataset.staging_directory import is_being_replaced, old_of
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import chosen_source_dirs
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.row_ids import columns_of


class DatasetDirectory:
    """A dataset on disk, with all its variants. `DatasetDirectory.open` opens it.

    It reads the manifest and streams rows. A `datasets.Dataset` of the rows comes from
    `datasets.load_dataset(DIRECTORY)` or `synthbench.load_dataset`.

    Attributes:
        path: the directory.
        manifest: its manifest.
        source_dirs: where the source images of its tasks are searched for.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> dataset = synthbench.DatasetDirectory.open("parity")
        >>> dataset.split("default", "test").rows
        100
        >>> [len(batch) for batch in dataset.batches("default", "test", batch_rows=60)]
        [60, 40]
        >>> row = next(dataset.rows("default", "test"))
        >>> row["label"] == dataset.make_task("default").solve(row["text"])
        True
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.source_dirs = chosen_source_dirs()

    @classmethod
    def open(cls, dataset: str | PathLike[str]) -> DatasetDirectory:
        """Open a directory. Only its manifest is read, and nothing is changed.

        Raises:
            DatasetError: the dataset is missing, its manifest is newer or cannot be read, or a run
                is replacing it or was killed while replacing it. A `MissingPathError` if nothing
                exists at the path.
            UsageError: the path is too long, or has a character that no path can have.
        """
        path = usable_path("Dataset", dataset)
        if is_being_replaced(path):
            raise DatasetError(
                f"No dataset at {str(path)!r}: `generate --overwrite` is replacing it, or was "
                f"killed while replacing it. The old dataset is in {str(old_of(path))!r}. If no "
                f"run is working on it, `synthbench generate TASK --out {shlex.quote(str(path))}` "
                "puts it back."
            )
        return cls(path, read_manifest(path))

    def __repr__(self) -> str:
        """The directory's task, and the rows of each split of each variant."""
        variants = "; ".join(
            f"{variant}: {', '.join(f'{name} {split.rows:,}' for name, split in splits.items())}"
            for variant, splits in self.manifest.variants.items()
        )
        manifest = self.manifest
        return f"<{manifest.task}, seed {manifest.seed}, in {str(self.path)!r}: {variants}>"

    def make_task(self, variant: str | None = None) -> Task:
        """The task that made one of the variants. Default: the first.

        Raises:
            UsageError: a task, variant or parameter that this version does not know, or a
                parameter that names a path outside the directory of source images.
        """
        task = self.manifest.make_task(self.variant(variant))
        if isinstance(task, ImageTask):
            task.source_dirs = self.source_dirs
            for directory in task.source_directories:
                task.source_dirs.check_folder(directory)
        return task

    def task_like(self, task: str | Task | None) -> Task:
        """The task that made the variant which a user means.

        Args:
            task: a task, whose variant counts. A name or None for the first variant.

        Raises:
            UsageError: the directory has another task, or the task with another seed or other
                parameters.
        """
        data = f"Data {str(self.path)!r}"
        name = task.name if isinstance(task, Task) else task
        if name not in (None, self.manifest.task):
            raise UsageError(f"{data} is of task {self.manifest.task!r}. Expected {name!r}.")
        if not isinstance(task, Task):
            return self.make_task()
        if isinstance(task, ImageTask):
            self.source_dirs = task.source_dirs
        own = self.make_task(task.variant)
        has = {"seed": own.seed, **own.parameters.to_dict()}
        for key, value in {"seed": task.seed, **task.parameters.to_dict()}.items():
            if has[key] != value:
                raise UsageError(f"{data} has {key}={has[key]}; {key}={value} was asked for.")
        return own

    def variant(self, name: str | None = None) -> str:
        """The name of a variant of the dataset, if it exists. Default: the first variant.

        Raises:
            UsageError: an unknown variant.
        """
        variants = self.manifest.variants
        name = next(iter(variants)) if name is None else name
        check_name(f"variant in {self.path}", name, variants)
        return name

    def split(self, variant: str, name: str) -> SplitRecord:
        """The manifest's record of a split.

        Raises:
            UsageError: an unknown variant or split.
        """
        splits = self.manifest.variants[self.variant(variant)]
        check_name(f"split in {self.path}", name, splits)
        return splits[name]

    def batches(
        self,
        variant: str,
        split: str,
        columns: Sequence[str] | None = None,
        batch_rows: int = 65_536,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a split in order, a batch at a time, with the columns of their task.

        Raises:
            DatasetError: a shard is missing, cannot be read or has rows of another form. The split
                has another number of rows than its manifest says.
            UsageError: an unknown variant, split or column, `columns` is a single name, or
                the task is unknown.
        """
        if isinstance(columns, str):
            raise UsageError(f"Columns {columns!r}: expected a list of names.")
        features = columns_of(self.make_task(self.variant(variant)))
        names = list(features) if columns is None else list(dict.fromkeys(columns))
        for name in names:
            check_name(f"column of {self.manifest.task}", name, features)
        types = {name: features[name].arrow for name in names}
        record, rows = self.split(variant, split), 0
        for shard in record.shards:
            path = regular_file(self.path, shard.file)
            for batch in read_batches(path, names, batch_rows):
                _check_batch(path, batch, types)
                rows += batch.num_rows
                yield batch.select(names)
        if rows != record.rows:
            raise DatasetError(
                f"{self.path}: {variant}/{split} has {rows:,} rows where its manifest says "
                f"{record.rows:,}: a shard is damaged, or the dataset was replaced while it was "
                "read."
            )

    def rows(
        self, variant: str, split: str, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a split in order, as plain Python values. Raises as `batches`."""
        for batch in self.batches(variant, split, columns, batch_rows=4_096):
            yield from batch.to_pylist()


def _check_batch(path: Path, batch: pa.RecordBatch, types: dict[str, pa.DataType]) -> None:
    """Make sure that rows have columns of these types, without missing values."""
    for name, expected in types.items():
        indices = batch.schema.get_all_field_indices(name)
        there = [batch.schema.field(index).type for index in indices]
        if there != [expected]:
            shown = ", ".join(map(str, there)) or "missing"
            raise DatasetError(f"{path}: column {name} is {shown}, expected {expected}.")
        if batch.column(name).null_count:
            raise DatasetError(f"{path}: column {name} lacks values.")
