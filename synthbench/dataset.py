"""A dataset directory as it is read: its manifest, its shards, their rows.

It may come from anybody. What the manifest says is held against a form before it is used, and no
name in it leads out of the directory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.errors import DatasetError, UsageError, unknown_name
from synthbench.features import Features, arrow_type, value
from synthbench.files import read_regular, reason_against, regular_file
from synthbench.findings import one_line
from synthbench.jsonforms import check_form, read_json
from synthbench.manifest_form import MANIFEST_FORM
from synthbench.parquet import LARGEST_ROW, SMALLEST_ROW, large_rows, read_batches
from synthbench.places import put_back
from synthbench.registry import make_task
from synthbench.sources import check_place
from synthbench.tasks.base import Task

#: Version of the manifest's form; a reader refuses newer ones.
FORMAT = 1
MANIFEST = "manifest.json"
#: Bytes of a manifest, at most; one of 100 shards has some 30,000.
_LARGEST_MANIFEST = 1 << 26


@dataclasses.dataclass(frozen=True)
class Shard:
    """One Parquet file; `file` is its path in the dataset directory."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclasses.dataclass(frozen=True)
class SplitRecord:
    """What the manifest says of one split.

    Attributes:
        rows: number of rows.
        buckets: rows in each bucket, by the bucket's name.
        candidates: candidates that were tried.
        digest: SHA-256 over the decoded rows, see `digest.RowDigest`.
        shards: the files, in order.
    """

    rows: int
    buckets: dict[str, int]
    candidates: int
    digest: str
    shards: tuple[Shard, ...]


@dataclasses.dataclass(frozen=True)
class Manifest:
    """Everything needed to make a dataset again and to check it.

    Attributes:
        task: name of the task.
        seed: the seed.
        parameters: all parameters, as JSON values.
        shard_rows: rows of a full shard.
        tables: what else the rows depend on, such as the look-up tables of `ctl`.
        variants: the splits of each variant, in the order in which readers see them.
        synthbench: version that made it.
        format: version of this form.
    """

    task: str
    seed: int
    parameters: dict[str, Any]
    shard_rows: int
    tables: dict[str, Any]
    variants: dict[str, dict[str, SplitRecord]]
    synthbench: str
    format: int = FORMAT

    def to_dict(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        return {
            "format": self.format,
            "synthbench": self.synthbench,
            "task": self.task,
            "seed": self.seed,
            "parameters": self.parameters,
            "shard_rows": self.shard_rows,
            "tables": self.tables,
            "variants": {
                variant: {
                    "splits": {name: dataclasses.asdict(split) for name, split in splits.items()}
                }
                for variant, splits in self.variants.items()
            },
        }

    @classmethod
    def from_dict(cls, values: Any, file: str | Path = MANIFEST) -> Manifest:
        """The manifest from JSON values.

        Args:
            values: the values, whatever they are.
            file: what to call them in an error.

        Raises:
            DatasetError: they are none of a manifest, or of a newer one; the text says where.
        """
        found = values.get("format") if isinstance(values, dict) else None
        if isinstance(found, int) and found > FORMAT:
            raise DatasetError(
                f"{file} has format {found}; this version reads formats up to {FORMAT}. "
                "Upgrade synthbench."
            )
        check_form(values, MANIFEST_FORM, str(file))
        variants = {
            variant: {name: split_record(split) for name, split in record["splits"].items()}
            for variant, record in values["variants"].items()
        }
        return cls(**{**values, "variants": variants})

    def make_task(self, variant: str) -> Task:
        """The task that made one of the variants.

        Raises:
            UsageError: a task, variant or parameter that this version does not know.
        """
        return make_task(self.task, variant, self.parameters, self.seed)


def split_record(values: dict[str, Any]) -> SplitRecord:
    """A split's record from JSON values that have its form."""
    shards = tuple(Shard(**shard) for shard in values["shards"])
    return SplitRecord(**{**values, "shards": shards})


def columns_of(task: Task) -> Features:
    """All columns of a task's shards, `id` first."""
    return {"id": value("string"), **task.columns}


class Dataset:
    """A dataset directory; `Dataset.open` opens one.

    Attributes:
        path: the directory.
        manifest: what it says of itself.
        trusted: whether it is of our own making, so that its parameters may name any place.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> dataset = synthbench.Dataset.open("parity")
        >>> dataset.split("default", "test").rows
        102
        >>> [len(batch) for batch in dataset.batches("default", "test", batch_rows=60)]
        [60, 42]
        >>> row = next(dataset.rows("default", "test"))
        >>> row["label"] == dataset.make_task("default").solve(row["text"])
        True
    """

    def __init__(self, path: Path, manifest: Manifest, trusted: bool = True) -> None:
        self.path = path
        self.manifest = manifest
        self.trusted = trusted

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Open a directory; only its manifest is read.

        Raises:
            DatasetError: there is no dataset, its manifest cannot be read, or it is newer.
        """
        path = Path(path)
        put_back(path)
        file = path / MANIFEST
        try:
            there = path.is_dir()
        except OSError as error:  # a name that is too long, for one
            raise DatasetError(f"No dataset at {str(path)!r}: {error.strerror}.") from None
        if not there:
            reason = "it is a file" if path.exists() else "there is no such directory"
            raise DatasetError(f"No dataset at {str(path)!r}: {reason}.")
        if reason_against(path, MANIFEST) == "missing":
            raise DatasetError(f"No dataset at {str(path)!r}: it has no {MANIFEST}.")
        data = read_regular(path, MANIFEST, _LARGEST_MANIFEST)
        try:
            values = read_json(data)
        except ValueError as error:
            raise DatasetError(f"{file} is no manifest: {one_line(str(error))}.") from None
        return cls(path, Manifest.from_dict(values, file), trusted=False)

    def make_task(self, variant: str) -> Task:
        """The task that made one of the variants.

        Raises:
            UsageError: a task, variant or parameter that this version does not know, or a
                parameter that names a place outside the directory of source images.
        """
        task = self.manifest.make_task(variant)
        for place in () if self.trusted else task.places:
            check_place(place)
        return task

    def variant(self, name: str | None = None) -> str:
        """The name of a variant that is there; without a name, the first.

        Raises:
            UsageError: there is no such variant.
        """
        names = list(self.manifest.variants)
        if name is None:
            return names[0]
        if name not in names:
            raise unknown_name(f"variant in {self.path}", name, names)
        return name

    def split(self, variant: str, name: str) -> SplitRecord:
        """The record of a split of a variant that is there.

        Raises:
            UsageError: there is no such variant or split.
        """
        splits = self.manifest.variants[self.variant(variant)]
        if name not in splits:
            raise unknown_name(f"split in {self.path}", name, splits)
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
            DatasetError: a shard that is missing or cannot be read, or whose rows are none of its
                task, by name.
            UsageError: there is no such variant, split or column, no list of columns, or the task
                is unknown.
        """
        if isinstance(columns, str):
            raise UsageError(f"Columns {columns!r}: expected a list of names.")
        features = columns_of(self.make_task(self.variant(variant)))
        names = list(features) if columns is None else list(columns)
        for name in names:
            if name not in features:
                raise unknown_name(f"column of {self.manifest.task}", name, features)
        types = {name: arrow_type(features[name]) for name in names}
        for shard in self.split(variant, split).shards:
            path = regular_file(self.path, shard.file)
            for batch in read_batches(path, names, batch_rows, smallest_row=SMALLEST_ROW):
                _check_batch(path, batch, types)
                yield batch.select(names)

    def rows(
        self, variant: str, split: str, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a split in order, as plain Python values; raises as `batches`."""
        for batch in self.batches(variant, split, columns, batch_rows=4_096):
            yield from batch.to_pylist()


def _check_batch(path: Path, batch: pa.RecordBatch, types: dict[str, pa.DataType]) -> None:
    """Make sure that rows have columns of these types, no value missing and none huge."""
    for name, expected in types.items():
        found = batch.schema.get_all_field_indices(name)
        there = [batch.schema.field(index).type for index in found]
        if there != [expected]:
            shown = ", ".join(map(str, there)) or "missing"
            raise DatasetError(f"{path}: column {name} is {shown}, expected {expected}.")
        if batch.column(name).null_count:
            raise DatasetError(f"{path}: column {name} lacks values.")
    if large_rows(batch):
        raise DatasetError(f"{path} has rows of more than {LARGEST_ROW:,} bytes.")
