"""A dataset directory as it is read: its manifest, its shards, their rows."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.errors import DatasetError, unknown_name
from synthbench.features import Features, value
from synthbench.places import put_back
from synthbench.registry import make_task
from synthbench.tasks.base import Task

#: Version of the manifest's form; a reader refuses newer ones.
FORMAT = 1
MANIFEST = "manifest.json"


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
    def from_dict(cls, values: Mapping[str, Any]) -> Manifest:
        """The manifest from JSON values.

        Raises:
            KeyError, TypeError, ValueError: values that are none of a manifest.
        """
        return cls(
            task=values["task"],
            seed=values["seed"],
            parameters=dict(values["parameters"]),
            shard_rows=values["shard_rows"],
            tables=dict(values["tables"]),
            variants={
                variant: {name: split_record(split) for name, split in record["splits"].items()}
                for variant, record in values["variants"].items()
            },
            synthbench=values["synthbench"],
            format=values["format"],
        )

    def make_task(self, variant: str) -> Task:
        """The task that made one of the variants.

        Raises:
            UsageError: a task, variant or parameter that this version does not know.
        """
        return make_task(self.task, variant, self.parameters, self.seed)


def split_record(values: Mapping[str, Any]) -> SplitRecord:
    """A split's record from JSON values."""
    shards = tuple(Shard(**shard) for shard in values["shards"])
    return SplitRecord(**{**values, "shards": shards})


def columns_of(task: Task) -> Features:
    """All columns of a task's shards, `id` first."""
    return {"id": value("string"), **task.columns}


class Dataset:
    """A dataset directory.

    Attributes:
        path: the directory.
        manifest: what it says of itself.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Open a directory; only its manifest is read.

        Raises:
            DatasetError: there is no dataset, its manifest cannot be read, or it is newer.
        """
        path = Path(path)
        put_back(path)
        file = path / MANIFEST
        if not path.is_dir():
            raise DatasetError(f"No dataset at {str(path)!r}: there is no such directory.")
        if not file.is_file():
            raise DatasetError(f"No dataset at {str(path)!r}: it has no {MANIFEST}.")
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(values.get("format"), int) and values["format"] > FORMAT:
                raise DatasetError(
                    f"{file} has format {values['format']}; this version reads formats up to "
                    f"{FORMAT}. Upgrade synthbench."
                )
            manifest = Manifest.from_dict(values)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DatasetError(f"{file} is no manifest: {type(error).__name__} {error}") from None
        return cls(path, manifest)

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
        """The rows of a split in order, a batch at a time.

        Raises:
            DatasetError: a shard that is missing or cannot be read, by name.
        """
        for shard in self.split(variant, split).shards:
            yield from read_batches(self.path / shard.file, columns, batch_rows)

    def rows(
        self, variant: str, split: str, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a split in order, as plain Python values."""
        for batch in self.batches(variant, split, columns, batch_rows=4_096):
            yield from batch.to_pylist()


def read_batches(
    path: Path, columns: Sequence[str] | None = None, batch_rows: int = 65_536
) -> Iterator[pa.RecordBatch]:
    """The rows of one Parquet file, a batch at a time.

    Raises:
        DatasetError: the file is missing or cannot be read.
    """
    try:
        with pq.ParquetFile(path) as file:
            names = list(columns) if columns is not None else None
            yield from file.iter_batches(batch_rows, columns=names)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing.") from None
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
