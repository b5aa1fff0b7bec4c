"""Checks of manifest, files and footers, without reading rows."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import entries_below, why_unreadable
from synthbench.dataset.forms import differences, read_json, same
from synthbench.dataset.manifest import (
    MANIFEST,
    Manifest,
    Shard,
    SplitRecord,
    merged_tables,
    shard_file,
)
from synthbench.dataset.parquet import SMALLEST_ROW, open_parquet
from synthbench.errors import DatasetError, MissingSourceError, SynthbenchError
from synthbench.tasks.base import Split, Task
from synthbench.tasks.features import Columns, arrow_schema
from synthbench.tasks.row_ids import columns_of
from synthbench.text.lines import short
from synthbench.verification.findings import Findings
from synthbench.verification.rows import RowGroup

#: Files that some version of `datasets` reads beside a card with configs, or instead of it.
_OVERRIDING = (".huggingface.yaml", "dataset_infos.json")

# What the manifest says.


def release(version: str) -> tuple[int, ...] | None:
    """A version's numbers, to compare it with others; None if it is not a version.

    Example:
        >>> from synthbench.verification.files import release
        >>> release("0.10.2"), release("0.10.2.dev3"), release("newest")
        ((0, 10, 2), (0, 10, 2), None)
    """
    found = re.fullmatch(r"([0-9]+)\.([0-9]+)\.([0-9]+)[-+.A-Za-z0-9]*", version)
    return tuple(map(int, found.groups())) if found else None


def make_tasks(dataset: DatasetDirectory, findings: Findings) -> dict[str, Task]:
    """The task of each variant for which one can be made; checks parameters and splits.

    Raises:
        MissingSourceError: no source directory has the manifest's class folders, without which
            the dataset cannot be checked.
    """
    manifest, tasks = dataset.manifest, {}
    if release(manifest.synthbench) is None:
        text = f"synthbench is {short(manifest.synthbench)}, expected a version like {__version__}"
        findings.add(MANIFEST, "synthbench", text)
    for variant, splits in manifest.variants.items():
        try:
            task = dataset.make_task(variant)
            known = [split.name for split in task.splits]
        except MissingSourceError:
            raise
        except SynthbenchError as error:
            findings.add(MANIFEST, f"variant {variant}", f"no task for variant {variant}: {error}")
            continue
        tasks[variant] = task
        _compare_parameters(manifest, task, findings)
        for name in [*known, *splits]:
            if name not in splits:
                findings.add(MANIFEST, f"split {name}", f"{variant} lacks its split {name}")
            elif name not in known:
                findings.add(MANIFEST, f"split {name}", f"{variant} has no split named {name}")
        if sorted(splits) == sorted(known) and list(splits) != known:
            text = f"the splits of {variant} are {', '.join(splits)}, not {', '.join(known)}"
            findings.add(MANIFEST, f"order of {variant}", text)
    return tasks


def _compare_parameters(manifest: Manifest, task: Task, findings: Findings) -> None:
    there, made = manifest.parameters, task.parameters.to_dict()
    for name, value in made.items():
        if name in there and not same(there[name], value):
            text = f"parameter {name} is {short(there[name])}, but {short(value)} in the task"
            findings.add(MANIFEST, f"parameter {name}", text)
        # Another version may lack it.
        if name not in there and manifest.synthbench == __version__:
            findings.add(MANIFEST, f"parameter {name}", f"parameter {name} is missing")


def check_tables(
    manifest: Manifest, tasks: Mapping[str, Task], findings: Findings, with_sources: bool
) -> None:
    """Compare the manifest's tables with those of its tasks.

    Args:
        manifest: the manifest.
        tasks: the task of each variant.
        findings: receives what is wrong.
        with_sources: whether source images are required; otherwise tables that depend on missing
            ones are not compared.

    Raises:
        SynthbenchError: source images are required and missing.
    """
    try:
        made = merged_tables([task.tables for task in tasks.values()])
    except SynthbenchError:
        if with_sources:
            raise
        if not manifest.tables:
            findings.add(MANIFEST, "tables", "tables is empty and does not describe the sources")
        return
    for difference in differences(manifest.tables, json.loads(json.dumps(made)), "tables"):
        findings.add(MANIFEST, "tables", difference)


# Files and their footers.


def check_unknown_files(dataset: DatasetDirectory, findings: Findings) -> None:
    """Check that `data` has no file beside the manifest's, and that no file overrides the card."""
    known = {shard.file for shard in dataset.manifest.all_shards()}
    for file in entries_below(dataset.path, "data"):
        if file not in known:
            findings.add(file, "unknown", "not in the manifest")
    for name in (*_OVERRIDING, f"{dataset.path.resolve().name}.py"):
        if os.path.lexists(dataset.path / name):
            findings.add(name, "unknown", "`datasets` would use it beside or instead of the card")


@dataclasses.dataclass(frozen=True)
class SplitFiles:
    """The files of a split.

    Attributes:
        directory: the dataset directory.
        task: the task of the split's variant.
        split: the split.
        record: its record in the manifest.
        shards: the shards that exist.
        footers: the footers of the shards that have the task's columns.
        row_groups: the row groups of these shards.
    """

    directory: Path
    task: Task
    split: Split
    record: SplitRecord
    shards: list[Shard] = dataclasses.field(default_factory=list)
    footers: list[pq.FileMetaData] = dataclasses.field(default_factory=list)
    row_groups: list[RowGroup] = dataclasses.field(default_factory=list)

    @property
    def name(self) -> str:
        """Variant and split, as in `default/train`."""
        return f"{self.task.variant}/{self.split.name}"

    @property
    def whole(self) -> bool:
        """Whether all shards exist and have the task's columns."""
        return len(self.footers) == len(self.record.shards)

    @property
    def rows(self) -> int:
        """The number of rows in the files."""
        return sum(row_group.rows for row_group in self.row_groups)


def open_variant(dataset: DatasetDirectory, task: Task, findings: Findings) -> list[SplitFiles]:
    """The files of a variant's splits; checks names, schemas and numbers of rows."""
    records = dataset.manifest.variants[task.variant]
    return [
        _open_split(dataset, task, split, records[split.name], findings)
        for split in task.splits
        if split.name in records
    ]


def _open_split(
    dataset: DatasetDirectory, task: Task, split: Split, record: SplitRecord, findings: Findings
) -> SplitFiles:
    files = SplitFiles(dataset.path, task, split, record)
    name, count, full = files.name, len(record.shards), dataset.manifest.shard_rows
    for number, shard in enumerate(record.shards):
        file = shard_file(task.variant, split.name, number, count)
        if shard.file != file:
            text = f"shard {number} of {name} is {shard.file!r}, its name must be {file!r}"
            findings.add(MANIFEST, f"shard {number} of {name}", text)
        elif (reason := why_unreadable(dataset.path, file)) is not None:
            findings.add(file, "missing", reason)
        else:
            files.shards.append(shard)
            footer = _read_footer(dataset.path / file, file, columns_of(task), findings)
            if footer is not None:
                files.footers.append(footer)
                files.row_groups.extend(_row_groups(split, file, footer))
                _check_rows(shard, footer.num_rows, full, number == count - 1, findings)
    if files.whole and files.rows != record.rows:
        text = f"{name} has {record.rows} rows by the manifest, {files.rows} in its files"
        findings.add(MANIFEST, f"rows of {name}", text)
    return files


def _row_groups(split: Split, file: str, footer: pq.FileMetaData) -> Iterator[RowGroup]:
    first = 0
    for group in range(footer.num_row_groups):
        rows = footer.row_group(group).num_rows
        yield RowGroup(split, file, group, first, rows, footer)
        first += rows


def _check_rows(shard: Shard, rows: int, full: int, last: bool, findings: Findings) -> None:
    """Compare a shard's rows with the manifest; all shards but the last must be full."""
    if rows != shard.rows:
        findings.add(shard.file, "rows", f"has {rows} rows, the manifest says {shard.rows}")
    if rows > full or (rows < full and not last):
        text = f"has {rows} rows, the manifest's shard_rows says {full}"
        findings.add(shard.file, "shard_rows", text)


def _read_footer(
    path: Path, file: str, features: Columns, findings: Findings
) -> pq.FileMetaData | None:
    """The footer of a shard; None if it cannot be read or has other columns."""
    try:
        with open_parquet(path) as opened:
            opened.check_rows(SMALLEST_ROW)
            if _check_schema(file, opened.schema, features, findings):
                return opened.footer
    except DatasetError as error:
        findings.add(file, "unreadable", str(error).removeprefix(f"{path} "))
    return None


def _check_schema(file: str, schema: pa.Schema, features: Columns, findings: Findings) -> bool:
    """Whether a shard has the columns and types of its task; metadata is compared, too."""
    expected = arrow_schema(features)
    if schema.names != expected.names:
        text = f"has the columns {', '.join(schema.names)}; expected {', '.join(expected.names)}"
        findings.add(file, "columns", text)
        return False
    for there, right in zip(schema, expected, strict=True):
        if there.type != right.type:
            text = f"column {there.name} is {there.type}, expected {right.type}"
            findings.add(file, f"type of {there.name}", text)
    metadata = schema.metadata or {}
    try:
        stored = read_json(metadata[b"huggingface"])
    except (ValueError, KeyError):
        stored = None
    if not same(stored, read_json(expected.metadata[b"huggingface"])):
        findings.add(file, "features", "the features in its metadata are not the task's")
    for name in sorted(metadata.keys() - expected.metadata.keys()):
        text = f"its metadata has {short(name.decode(errors='replace'))}, which readers may use"
        findings.add(file, "metadata", text)
    return bool(schema.types == expected.types)
