"""Checks of a dataset's files against its manifest: sums, schema, digests."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.dataset.files import reading, regular_file
from synthbench.dataset.manifest import (
    MANIFEST,
    Manifest,
    Shard,
    SplitRecord,
    merged_tables,
    shard_file,
)
from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.errors import DatasetError, MissingSourceError, SynthbenchError
from synthbench.tasks.base import Split, Task
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.row_ids import columns_of
from synthbench.text.lines import short

#: Files that some version of `datasets` reads as well as the card, or instead of it.
_OVERRIDING = (".huggingface.yaml", "dataset_infos.json")

# What the manifest says.


def release(version: str) -> tuple[int, ...] | None:
    """A version's numbers, to compare it with others; None if it is not a version.

    Example:
        >>> from synthbench.verification.files import release
        >>> release("0.10.2"), release("0.10.2.dev3"), release("newest")
        ((0, 10, 2), (0, 10, 2), None)
    """
    match = re.fullmatch(r"([0-9]+)\.([0-9]+)\.([0-9]+)[-+.A-Za-z0-9]*", version)
    return tuple(map(int, match.groups())) if match else None


def make_tasks(dataset: DatasetDirectory, findings: list[str]) -> dict[str, Task]:
    """The task of each variant for which one can be made. Checks parameters and splits.

    Raises:
        MissingSourceError: no source directory has the manifest's class folders, without which
            the dataset cannot be checked.
    """
    manifest, tasks = dataset.manifest, {}
    if release(manifest.synthbench) is None:
        version = short(manifest.synthbench)
        findings.append(
            f"{MANIFEST}: synthbench is {version}, expected a version like {__version__}"
        )
    for variant, splits in manifest.variants.items():
        try:
            task = dataset.make_task(variant)
            known = [split.name for split in task.splits]
        except MissingSourceError:
            raise
        except SynthbenchError as error:
            findings.append(f"{MANIFEST}: no task for variant {variant}: {error}")
            continue
        tasks[variant] = task
        # A split that was asked for with 0 rows is left out.
        if list(splits) != [name for name in known if name in splits]:
            findings.append(
                f"{MANIFEST}: the splits of {variant} are {', '.join(splits)}, "
                f"expected {', '.join(known)}"
            )
    for task in list(tasks.values())[:1]:
        findings += _compare_parameters(manifest, task)
    return tasks


def _compare_parameters(manifest: Manifest, task: Task) -> Iterator[str]:
    for name, value in task.parameters.to_dict().items():
        if name in manifest.parameters:
            there = manifest.parameters[name]
            if json.dumps(there) != json.dumps(value):
                yield f"{MANIFEST}: parameter {name} is {short(there)}, expected {short(value)}"
        elif manifest.synthbench == __version__:  # another version may lack it
            yield f"{MANIFEST}: parameter {name} is missing"


def check_tables(
    manifest: Manifest, tasks: Mapping[str, Task], with_sources: bool
) -> Iterator[str]:
    """Compare the manifest's tables with those of its tasks.

    Args:
        manifest: the manifest.
        tasks: the task of each variant.
        with_sources: whether source images are required. Otherwise tables that depend on missing
            ones are not compared.

    Yields:
        What is wrong.

    Raises:
        SynthbenchError: source images are required and missing.
    """
    try:
        tables = merged_tables([task.tables for task in tasks.values()])
    except SynthbenchError:
        if with_sources:
            raise
        if not manifest.tables:
            yield f"{MANIFEST}: tables is empty and does not describe the sources"
        return
    expected = json.loads(json.dumps(tables))
    if (key := next(_differences(manifest.tables, expected, "tables"), None)) is not None:
        yield f"{MANIFEST}: {key} is not what the task has there"


def _differences(there: Any, expected: Any, key: str) -> Iterator[str]:
    """The keys at which two JSON values differ, such as `tables.sources.mnist.sha256`."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**expected, **there}:
            yield from _differences(there.get(name), expected.get(name), f"{key}.{name}")
    elif json.dumps(there) != json.dumps(expected):
        yield key


# What the files hold.


def unknown_files(dataset: DatasetDirectory) -> Iterator[str]:
    """Files that `datasets` would read but that the manifest does not name."""
    root, known = dataset.path, {shard.file for shard in dataset.manifest.all_shards()}
    stored = (
        file.relative_to(root).as_posix()
        for file in root.glob("data/*/*.parquet")
        if not file.name.startswith(".")  # as macOS leaves beside copies
    )
    for file in sorted(set(stored) - known):
        yield f"{file}: not in the manifest"
    for name in (*_OVERRIDING, f"{root.resolve().name}.py"):
        if os.path.lexists(root / name):  # also of a name that is too long
            yield f"{name}: `datasets` would read this file as well as, or instead of, README.md"


@dataclasses.dataclass(frozen=True)
class RowGroup:
    """A row group of a shard."""

    file: str  # the shard, as a path in the dataset directory
    number: int  # number of the row group in the file
    start: int  # number of its first row in the split
    rows: int


@dataclasses.dataclass
class SplitFiles:
    """The contents of a split's files.

    Attributes:
        directory: the dataset directory.
        task: the task of the split's variant.
        split: the split.
        record: its record in the manifest.
        faults: faults of the files or their record.
        groups: the row groups, in order.
        chunks: the digests of the chunks of the rows; None if not every row can be read.
        shards: how many shards were read.
    """

    directory: Path
    task: Task
    split: Split
    record: SplitRecord
    faults: list[str] = dataclasses.field(default_factory=list)
    groups: list[RowGroup] = dataclasses.field(default_factory=list)
    chunks: list[bytes] | None = None
    shards: int = 0

    @property
    def name(self) -> str:
        """Variant and split, as in `default/train`."""
        return f"{self.task.variant}/{self.split.name}"

    @property
    def rows(self) -> int:
        """The number of rows in the files."""
        return sum(group.rows for group in self.groups)

    def locate(self, row: int) -> str:
        """The place of row number `row` of the split: the file, and its number there."""
        file = next(group.file for group in reversed(self.groups) if group.start <= row)
        first = next(group.start for group in self.groups if group.file == file)
        return f"{file} row {row - first}"

    def read(self, first: int, count: int) -> pa.Table:
        """Rows `first` to `first + count - 1` of the split.

        Raises:
            DatasetError: a file can no longer be read.
        """
        parts = []
        for group in self.groups:
            skip, end = max(first - group.start, 0), min(first + count - group.start, group.rows)
            if skip < end:
                batches = read_batches(self.directory / group.file, groups=[group.number])
                parts.append(pa.Table.from_batches(batches).slice(skip, end - skip))
        return pa.concat_tables(parts)


def read_split(
    directory: Path, task: Task, split: Split, record: SplitRecord, shard_rows: int
) -> SplitFiles:
    """Read the files of a split: their sums, their schema and the digests of their rows."""
    files, digest = SplitFiles(directory, task, split, record), RowDigest(columns_of(task))
    for number, shard in enumerate(record.shards):
        file = shard_file(task.variant, split.name, number, len(record.shards))
        if shard.file != file:
            files.faults.append(f"{file}: is named {short(shard.file)} in the manifest")
            continue
        try:
            for fault in _read_shard(files, shard, digest):
                files.faults.append(f"{file}: {fault}")
        except DatasetError as error:
            files.faults.append(f"{file}: {str(error).removeprefix(f'{directory / file} ')}")
    rows = [shard.rows for shard in record.shards]
    if sum(rows) != record.rows or any(count != shard_rows for count in rows[:-1]):
        text = f"the shards of {files.name} are not {record.rows} rows, {shard_rows} in each"
        files.faults.append(f"{MANIFEST}: {text}")
    elif files.shards == len(rows) and files.rows == record.rows:
        files.chunks = digest.all_chunks()
        if digest.hexdigest() != record.digest:
            text = f"the digest of the rows is {digest.hexdigest()}, the manifest says"
            files.faults.append(f"data/{files.name}-*.parquet: {text} {record.digest}")
    return files


def _read_shard(files: SplitFiles, shard: Shard, digest: RowDigest) -> Iterator[str]:
    """Add a shard's rows to the digest and its row groups to the files. Yields what is wrong."""
    path, expected = regular_file(files.directory, shard.file), arrow_schema(columns_of(files.task))
    with reading(path):
        size, checksum = path.stat().st_size, file_sha256(path)
    if size != shard.bytes:
        yield f"has {size} bytes, the manifest says {shard.bytes}"
    elif checksum != shard.sha256:
        yield f"its sha256 is {checksum}, the manifest says {shard.sha256}"
    with open_parquet(path) as opened:
        schema, footer = opened.schema_arrow, opened.metadata
    yield from _schema_faults(schema, expected)
    if not schema.equals(expected):
        return
    rows = 0
    with reading(path):  # also the images that are decoded for the digest
        for batch in read_batches(path):
            rows += batch.num_rows
            digest.update(batch)
    if rows != shard.rows:
        yield f"has {rows} rows, the manifest says {shard.rows}"
        return
    for number in range(footer.num_row_groups):
        count = footer.row_group(number).num_rows
        files.groups.append(RowGroup(shard.file, number, files.rows, count))
    files.shards += 1


def _schema_faults(schema: pa.Schema, expected: pa.Schema) -> Iterator[str]:
    if schema.names != expected.names:
        yield f"has the columns {', '.join(schema.names)}. Expected {', '.join(expected.names)}"
        return
    for there, right in zip(schema, expected, strict=True):
        if there != right:
            yield f"column {there.name} is {_typed(there)}, expected {_typed(right)}"
    if (schema.metadata or {}) != expected.metadata:
        yield "its metadata does not match the task's columns"


def _typed(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ', never null'}"
