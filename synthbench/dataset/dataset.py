"""A dataset directory as it is read: its manifest, its shards, their rows.

It may come from anybody. What the manifest says is held against a form before it is used, and no
name in it leads out of the directory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.files import PLAIN_NAME, read_regular, regular_file, why_unreadable
from synthbench.dataset.forms import (
    ANYTHING,
    PLAIN_OR_LIST,
    TEXT,
    WHOLE,
    ListOf,
    MapOf,
    Value,
    check_form,
    read_json,
)
from synthbench.dataset.parquet import LARGEST_ROW, SMALLEST_ROW, large_rows, read_batches
from synthbench.dataset.places import is_being_replaced, old_of
from synthbench.errors import DatasetError, MissingPathError, UsageError, unknown_name, usable_path
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_type
from synthbench.tasks.images.source_dirs import check_place
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.registry import make_task
from synthbench.tasks.row_ids import columns_of
from synthbench.text.lines import one_line

#: Version of the manifest's form; a reader refuses newer ones.
FORMAT = 1
MANIFEST = "manifest.json"
#: Characters of each line of a manifest's `repr`, at most.
_REPR_COLUMNS = 200
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


@dataclasses.dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        """Two lines: what was made, and how many rows; `to_dict` has everything."""
        first = f"Manifest of {self.task}: seed {self.seed}, made by synthbench {self.synthbench}"
        if len(self.variants) == 1:
            ((variant, splits),) = self.variants.items()
            rows = {name: split.rows for name, split in splits.items()}
            second = f"{variant}: "
        else:
            rows = {
                variant: sum(split.rows for split in splits.values())
                for variant, splits in self.variants.items()
            }
            second = f"{len(rows)} variants: "
        second += ", ".join(f"{name} {count:,}" for name, count in rows.items()) + " rows"
        return "\n".join(
            textwrap.shorten(one_line(line), _REPR_COLUMNS, placeholder=" ...")
            for line in (first, second)
        )

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
    def of(
        cls, command: dict[str, Any], variants: dict[str, dict[str, SplitRecord]], synthbench: str
    ) -> Manifest:
        """The manifest of what a command has made."""
        values = {name: value for name, value in command.items() if name != "rows"}
        return cls(**values, variants=variants, synthbench=synthbench)

    def command(self) -> dict[str, Any]:
        """What was asked for, as JSON values: the same command makes the same bytes."""
        return {
            "task": self.task,
            "seed": self.seed,
            "parameters": self.parameters,
            "rows": {
                variant: {name: split.rows for name, split in splits.items()}
                for variant, splits in self.variants.items()
            },
            "shard_rows": self.shard_rows,
            "tables": self.tables,
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


def shard_file(variant: str, split: str, number: int, count: int) -> str:
    """Path of a shard in its dataset directory."""
    return f"data/{variant}/{split}-{number:05d}-of-{count:05d}.parquet"


def merged_tables(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tables of several variants in one; what has the same name is the same."""
    merged: dict[str, Any] = {}
    for table in tables:
        for name, entry in table.items():
            both = isinstance(entry, dict) and isinstance(merged.get(name), dict)
            merged[name] = merged_tables([merged[name], entry]) if both else entry
    return merged


def split_record(values: dict[str, Any]) -> SplitRecord:
    """A split's record from JSON values that have its form."""
    shards = tuple(Shard(**shard) for shard in values["shards"])
    return SplitRecord(**{**values, "shards": shards})


#: Inode, size in bytes and time of change of a manifest.
_Identity = tuple[int, int, int]


class DatasetDirectory:
    """A dataset on disk, with all its variants; `DatasetDirectory.open` opens one.

    It reads the manifest and streams rows. A `datasets.Dataset` of the rows comes from
    `datasets.load_dataset(DIRECTORY)` or `synthbench.load_dataset`.

    Attributes:
        path: the directory.
        manifest: what it says of itself.
        trusted: whether it is of our own making, so that its parameters may name any place.

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

    def __init__(self, path: Path, manifest: Manifest, trusted: bool = True) -> None:
        self.path = path
        self.manifest = manifest
        self.trusted = trusted
        # Set by `open`: tells the manifest from another that takes its place later.
        self._identity: _Identity | None = None

    @classmethod
    def open(cls, dataset: str | PathLike[str]) -> DatasetDirectory:
        """Open a directory; only its manifest is read, and nothing is changed.

        If `generate --overwrite` replaces the directory later, reading on is an error: rows of two
        datasets are never mixed.

        Raises:
            DatasetError: there is no dataset, its manifest cannot be read, or it is newer; or the
                dataset is just being replaced, or a run that replaced it was interrupted. Where
                nothing lies at the path at all, it is a `MissingPathError`.
            UsageError: the path is too long, or has a character that no path can have.
        """
        path = usable_path("Dataset", dataset)
        identity = _identify(path / MANIFEST)
        try:
            opened = cls(path, _read_manifest(path), trusted=False)
        except DatasetError:
            # In this order: the replacement may be done between the two questions.
            if is_being_replaced(path):
                raise _moved_aside(path) from None
            if _identify(path / MANIFEST) != identity:
                raise _replaced(path) from None
            raise
        if identity is None or _identify(path / MANIFEST) != identity:
            raise _replaced(path)
        opened._identity = identity
        return opened

    @contextlib.contextmanager
    def unreplaced(self) -> Iterator[None]:
        """Make sure that all files read in a `with` block are those of this dataset.

        Raises:
            DatasetError: the directory holds another dataset at the end of the block, or none.
                This error comes in place of any error in the block, for which it is the reason.
        """
        try:
            yield
        except Exception:
            if self._is_replaced():
                raise _replaced(self.path) from None
            raise
        if self._is_replaced():
            raise _replaced(self.path)

    def _is_replaced(self) -> bool:
        expected = self._identity
        return expected is not None and _identify(self.path / MANIFEST) != expected

    def make_task(self, variant: str) -> Task:
        """The task that made one of the variants.

        Raises:
            UsageError: a task, variant or parameter that this version does not know, or a
                parameter that names a place outside the directory of source images.
        """
        task = self.manifest.make_task(variant)
        if isinstance(task, ImageTask) and not self.trusted:
            for directory in task.source_directories:
                check_place(directory)
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
                task, by name; or the dataset was replaced meanwhile.
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
            batches = self._shard_batches(shard, types, batch_rows)
            while True:
                # The check comes after reading and before the rows are given out.
                with self.unreplaced():
                    batch = next(batches, None)
                if batch is None:
                    break
                yield batch

    def _shard_batches(
        self, shard: Shard, types: dict[str, pa.DataType], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        path, names = regular_file(self.path, shard.file), list(types)
        for batch in read_batches(path, names, batch_rows, smallest_row=SMALLEST_ROW):
            _check_batch(path, batch, types)
            yield batch.select(names)

    def rows(
        self, variant: str, split: str, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a split in order, as plain Python values; raises as `batches`."""
        for batch in self.batches(variant, split, columns, batch_rows=4_096):
            yield from batch.to_pylist()


def _identify(manifest: Path) -> _Identity | None:
    """What tells a manifest from a later one at the same path; None if there is no file.

    The inode alone is not enough: file systems use the inode of a removed file again.
    """
    try:
        found = manifest.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _replaced(path: Path) -> DatasetError:
    return DatasetError(
        f"The dataset at {str(path)!r} was replaced or removed while it was being read; "
        "read it again from the start."
    )


def _moved_aside(path: Path) -> DatasetError:
    old = old_of(path)
    try:
        task = _read_manifest(old).task
    except DatasetError:
        task = "TASK"
    return DatasetError(
        f"No dataset at {str(path)!r}: `generate --overwrite` is replacing it, or was interrupted "
        f"when it did. The old dataset lies in {str(old)!r}; if no run is at work, "
        f"`synthbench generate {task} --out {shlex.quote(str(path))}` puts it back."
    )


def _read_manifest(path: Path) -> Manifest:
    """The manifest of a dataset directory.

    Raises:
        DatasetError: there is none, it cannot be read, or it is newer.
    """
    try:
        there = path.is_dir()
    except OSError as error:  # a directory above it may not be searched, for one
        raise DatasetError(f"No dataset at {str(path)!r}: {error.strerror}.") from None
    if not there:
        if path.exists():
            raise DatasetError(f"No dataset at {str(path)!r}: it is a file.")
        raise MissingPathError(f"No dataset at {str(path)!r}: there is no such directory.")
    if why_unreadable(path, MANIFEST) == "missing":
        raise DatasetError(f"No dataset at {str(path)!r}: it has no {MANIFEST}.")
    data = read_regular(path, MANIFEST, _LARGEST_MANIFEST)
    file = path / MANIFEST
    try:
        values = read_json(data)
    except ValueError as error:
        raise DatasetError(f"{file} is no manifest: {one_line(str(error))}.") from None
    return Manifest.from_dict(values, file)


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


def _matching(expected: str, pattern: str) -> Value:
    found = re.compile(pattern)
    return Value(
        expected, lambda given: isinstance(given, str) and found.fullmatch(given) is not None
    )


_NAME = _matching("a name of letters, digits, '_', '-' and '.'", PLAIN_NAME)
_SHA256 = _matching("64 hexadecimal digits", "[0-9a-f]{64}")
_COUNT = Value("a whole number from 1", lambda given: WHOLE.fits(given) and given > 0)
_SEED = Value("a whole number from 0", lambda given: type(given) is int and given >= 0)
_FILE = _matching(
    "a path such as 'data/VARIANT/SPLIT-00000-of-00001.parquet'",
    rf"data/{PLAIN_NAME}/{PLAIN_NAME}\.parquet",
)
#: What a split's record must look like, and a manifest.
SPLIT_FORM = {
    "rows": _COUNT,
    "buckets": MapOf(TEXT, WHOLE),
    "candidates": WHOLE,
    "digest": _SHA256,
    "shards": ListOf({"file": _FILE, "rows": _COUNT, "bytes": WHOLE, "sha256": _SHA256}),
}
MANIFEST_FORM = {
    "format": _COUNT,
    "synthbench": TEXT,
    "task": _NAME,
    "seed": _SEED,
    "parameters": MapOf(_NAME, PLAIN_OR_LIST),
    "shard_rows": _COUNT,
    "tables": MapOf(TEXT, ANYTHING),
    "variants": MapOf(_NAME, {"splits": MapOf(_NAME, SPLIT_FORM, least=1)}, least=1),
}
