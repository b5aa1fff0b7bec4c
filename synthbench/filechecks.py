"""What can be told of a dataset without reading its rows: manifest, card, files and footers."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.card import command_line, content_digest
from synthbench.dataset import MANIFEST, Dataset, Shard, SplitRecord, columns_of
from synthbench.errors import SynthbenchError
from synthbench.features import Features, arrow_schema, card_features
from synthbench.findings import Findings, short
from synthbench.rowchecks import Piece
from synthbench.tasks.base import Split, Task
from synthbench.writing import shard_file

CARD = "README.md"

# What the manifest and the card say.


def make_tasks(dataset: Dataset, findings: Findings) -> dict[str, Task]:
    """The task of each variant, if the manifest names one; parameters and splits are compared."""
    manifest, tasks = dataset.manifest, {}
    if not isinstance(manifest.format, int) or manifest.format < 1:
        text = f"format is {manifest.format!r}, expected a whole number from 1"
        findings.add(MANIFEST, "format", text)
    if not manifest.variants:
        findings.add(MANIFEST, "variants", "there is no variant")
    for variant, splits in manifest.variants.items():
        try:
            task = manifest.make_task(variant)
            known = [split.name for split in task.splits]
        except (SynthbenchError, TypeError, AttributeError) as error:
            findings.add(MANIFEST, f"variant {variant}", f"no task for variant {variant}: {error}")
            continue
        tasks[variant] = task
        made = task.parameters.to_dict()
        for name, given in manifest.parameters.items():
            if given != made[name]:
                text = f"parameter {name} is {short(given)}, the task has {short(made[name])}"
                findings.add(MANIFEST, f"parameter {name}", text)
        for name in [*known, *splits]:
            if name not in splits:
                findings.add(MANIFEST, f"split {name}", f"{variant} is without its split {name}")
            elif name not in known:
                findings.add(MANIFEST, f"split {name}", f"{variant} has no split named {name}")
    return tasks


def check_tables(
    dataset: Dataset, tasks: Mapping[str, Task], findings: Findings, with_sources: bool
) -> None:
    """Whether the manifest has the tables that the tasks of its variants have together.

    Tables that tell of source images cannot be compared where these are not at hand.

    Raises:
        SynthbenchError: source images are said to be here and are not.
    """
    there = dict(_entries("tables", dataset.manifest.tables))
    made: dict[str, Any] = {}
    for task in tasks.values():
        try:
            made.update(_entries("tables", json.loads(json.dumps(task.tables))))
        except SynthbenchError:
            if with_sources:
                raise
            return
    for name in {**there, **made}:
        if there.get(name) != made.get(name):
            text = f"{name} is {short(there.get(name))}, the task gives {short(made.get(name))}"
            findings.add(MANIFEST, "tables", text)


def _entries(name: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """What nested tables hold, each entry with its path; an empty table holds nothing."""
    if isinstance(entry, dict):
        for key, inner in entry.items():
            yield from _entries(f"{name}.{key}", inner)
    else:
        yield name, entry


def check_card(dataset: Dataset, tasks: Mapping[str, Task], findings: Findings) -> None:
    """Whether the card's front matter and command agree with the manifest; its prose is free."""
    import yaml

    manifest = dataset.manifest
    try:
        text = (dataset.path / CARD).read_text(encoding="utf-8")
        front = yaml.safe_load(text.split("---\n", 2)[1])
        configs = {config["config_name"]: config for config in front["configs"]}
        infos = {info["config_name"]: info for info in front["dataset_info"]}
        for variant, task in tasks.items():
            digest = f"content sha256:{content_digest(manifest, variant)}"
            description = configs[variant]["description"]
            if digest not in description:
                wrong = f"{variant} is described as {description!r}, the manifest gives {digest!r}"
                findings.add(CARD, f"description of {variant}", wrong)
            shown = {split["name"]: split["num_examples"] for split in infos[variant]["splits"]}
            rows = {name: record.rows for name, record in manifest.variants[variant].items()}
            if shown != rows:
                wrong = f"the rows of {variant} are {shown}, the manifest says {rows}"
                findings.add(CARD, f"rows of {variant}", wrong)
            if infos[variant]["features"] != card_features(columns_of(task)):
                wrong = f"the features of {variant} are not those of its task"
                findings.add(CARD, f"features of {variant}", wrong)
    except FileNotFoundError:
        findings.add(CARD, "missing", "missing")
        return
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError) as error:
        wrong = f"its front matter cannot be read: {type(error).__name__} {error}"
        findings.add(CARD, "unreadable", wrong.splitlines()[0])
        return
    if tasks and len(tasks) == len(manifest.variants) and command_line(manifest) not in text:
        wrong = f"it does not show the command that the manifest gives: {command_line(manifest)}"
        findings.add(CARD, "command", wrong)


# What files there are, and what their footers say.


def check_unknown_files(dataset: Dataset, findings: Findings) -> None:
    """Whether all that lies under `data` is in the manifest."""
    known = [
        shard.file
        for splits in dataset.manifest.variants.values()
        for record in splits.values()
        for shard in record.shards
    ]
    for path in sorted((dataset.path / "data").rglob("*")):
        file = path.relative_to(dataset.path).as_posix()
        if not path.is_dir() and file not in known:
            findings.add(file, "unknown", "not in the manifest")


@dataclasses.dataclass(frozen=True)
class SplitFiles:
    """A split as it lies in its files.

    Attributes:
        name: variant and split, as in `default/train`.
        split: the split.
        record: what the manifest says of it.
        shards: the shards that are there.
        pieces: the row groups of those shards that have the task's columns.
        whole: whether these are all shards.
    """

    name: str
    split: Split
    record: SplitRecord
    shards: list[Shard]
    pieces: list[Piece]
    whole: bool


def open_variant(dataset: Dataset, task: Task, findings: Findings) -> list[SplitFiles]:
    """The files of a variant's splits, their places, sizes, schemas and rows compared."""
    records = dataset.manifest.variants[task.variant]
    return [
        _open_split(dataset, task, split, records[split.name], findings)
        for split in task.splits
        if split.name in records
    ]


def _open_split(
    dataset: Dataset, task: Task, split: Split, record: SplitRecord, findings: Findings
) -> SplitFiles:
    name = f"{task.variant}/{split.name}"
    count, full = len(record.shards), dataset.manifest.shard_rows
    there: list[Shard] = []
    footers: list[list[Piece]] = []
    for number, shard in enumerate(record.shards):
        file = shard_file(task.variant, split.name, number, count)
        if shard.file != file:
            text = f"shard {number} of {name} is {shard.file!r}, its name must be {file!r}"
            findings.add(MANIFEST, f"shard {number} of {name}", text)
        elif not (dataset.path / file).is_file():
            findings.add(file, "missing", "missing")
        else:
            there.append(shard)
            pieces = _read_footer(dataset.path, file, split, columns_of(task), findings)
            if pieces is not None:
                footers.append(pieces)
                _check_rows(shard, pieces, None if number == count - 1 else full, findings)
    whole, rows = len(footers) == count, sum(map(_rows, footers))
    if whole and rows != record.rows:
        text = f"{name} has {record.rows} rows by the manifest, {rows} in its files"
        findings.add(MANIFEST, f"rows of {name}", text)
    if not isinstance(record.candidates, int) or record.candidates < rows:
        text = f"{name} has {rows} rows from {record.candidates!r} candidates"
        findings.add(MANIFEST, f"candidates of {name}", text)
    pieces = list(itertools.chain.from_iterable(footers))
    return SplitFiles(name, split, record, there, pieces, whole)


def _rows(pieces: Sequence[Piece]) -> int:
    return sum(piece.rows for piece in pieces)


def _check_rows(shard: Shard, pieces: list[Piece], full: int | None, findings: Findings) -> None:
    """Compare a shard's rows with the manifest, and with a full shard's where it must be one."""
    if _rows(pieces) != shard.rows:
        text = f"has {_rows(pieces)} rows, the manifest says {shard.rows}"
        findings.add(shard.file, "rows", text)
    if full is not None and _rows(pieces) != full:
        text = f"has {_rows(pieces)} rows, the manifest's shard_rows says {full}"
        findings.add(shard.file, "shard_rows", text)


def _read_footer(
    directory: Path, file: str, split: Split, features: Features, findings: Findings
) -> list[Piece] | None:
    """The row groups of a shard; None if it cannot be read or has other columns."""
    try:
        with pq.ParquetFile(directory / file) as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
    except (pa.ArrowException, OSError) as error:
        text = f"cannot be read, perhaps cut off: {str(error).splitlines()[0]}"
        findings.add(file, "unreadable", text)
        return None
    if not _check_schema(file, schema, features, findings):
        return None
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    firsts = itertools.accumulate(rows, initial=0)
    return [
        Piece(split, file, group, first, count)
        for group, (first, count) in enumerate(zip(firsts, rows, strict=False))
    ]


def _check_schema(file: str, schema: pa.Schema, features: Features, findings: Findings) -> bool:
    """Whether a shard has the columns and types of its task; its metadata is compared, too."""
    expected = arrow_schema(features)
    if schema.names != expected.names:
        text = f"has the columns {', '.join(schema.names)}; expected {', '.join(expected.names)}"
        findings.add(file, "columns", text)
        return False
    for there, right in zip(schema, expected, strict=True):
        if there.type != right.type:
            text = f"column {there.name} is {there.type}, expected {right.type}"
            findings.add(file, f"type of {there.name}", text)
    try:
        stored = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (ValueError, LookupError, TypeError):
        stored = None
    if stored != json.loads(json.dumps(features)):
        findings.add(file, "features", "the features in its metadata are not the task's")
    return bool(schema.types == expected.types)
