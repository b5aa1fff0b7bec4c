"""Croissant metadata: one JSON-LD file that describes a dataset's files and their columns.

    synthbench export listops --to croissant --out listops/croissant.json

The file must lie in the dataset's directory, because its paths are relative. Each shard is listed
with its checksum. Each variant is a record set with a field for each column and a field `split`,
which is read from the name of the file. mlcroissant reads one split with
`records("forward", filters={"forward/split": "test"})`. Its `Dataset` keeps that filter, so reading
all splits afterwards needs a new one. Version 1.1 of the format is the first with
lists of lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench import __version__
from synthbench.dataset.card import citations
from synthbench.dataset.files import write_json
from synthbench.dataset.manifest import Shard
from synthbench.sharing.parts import ExportPart
from synthbench.tasks.base import Task
from synthbench.tasks.column import Column
from synthbench.tasks.features import value
from synthbench.tasks.row_ids import columns_of

#: Every file that this module writes contains this address. No other file is replaced.
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_LICENSE = "https://spdx.org/licenses/Apache-2.0"
_PARQUET = "application/x-parquet"
#: Croissant's type of a column, or of the items of its lists.
_KINDS = (
    (pa.types.is_string, "sc:Text"),
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
)
#: The JSON-LD context of the specification.
_CROISSANT_NAMES = (
    "citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet", "includes",
    "recordSet", "regex", "source", "transform", "isArray", "arrayShape",
)  # fmt: skip
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{name: f"cr:{name}" for name in _CROISSANT_NAMES},
}


def unsupported_reason(task: Task) -> str | None:
    """The reason why rows of a task cannot be described. None if they can."""
    for name, column in task.columns.items():
        if _items(column)[0] is None:
            return f"its column {name!r} is not of numbers or text"
    return None


def write(parts: Sequence[ExportPart], file: Path) -> None:
    """Write the description of the parts."""
    write_json(file, describe(parts))
    for part in parts:
        part.advance(part.record.rows)


def describe(parts: Sequence[ExportPart]) -> dict[str, Any]:
    """The parts as JSON-LD."""
    task, manifest = parts[0].task, parts[0].dataset.manifest
    variants = {part.task.variant: part.task for part in parts}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": f"synthbench-{task.name}",
        "description": f"{task.title}. {task.summary} Seed {manifest.seed}.",
        "license": _LICENSE,
        "version": __version__,
        "citeAs": citations(task),
        "distribution": [
            *(_file_object(shard) for part in parts for shard in part.record.shards),
            *(_file_set(variant, parts) for variant in variants),
        ],
        "recordSet": [_record_set(task) for task in variants.values()],
    }


def _file_object(shard: Shard) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": shard.file,
        "name": shard.file,
        "contentUrl": shard.file,
        "contentSize": f"{shard.bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": shard.sha256,
    }


def _file_set(variant: str, parts: Sequence[ExportPart]) -> dict[str, Any]:
    splits = [part.split for part in parts if part.task.variant == variant]
    return {
        "@type": "cr:FileSet",
        "@id": _files_of(variant),
        "name": _files_of(variant),
        "encodingFormat": _PARQUET,
        "includes": [f"data/{variant}/{split}-*.parquet" for split in splits],
    }


def _files_of(variant: str) -> str:
    return f"{variant}-files"


def _record_set(task: Task) -> dict[str, Any]:
    path = {"extract": {"fileProperty": "fullpath"}, "transform": {"regex": _split(task.variant)}}
    fields = [_field(task, "split", value("string"), path)]
    for name, column in columns_of(task).items():
        fields.append(_field(task, name, column, {"extract": {"column": name}}))
    return {"@type": "cr:RecordSet", "@id": task.variant, "name": task.variant, "field": fields}


def _split(variant: str) -> str:
    r"""The expression that finds the split in the path of a variant's file.

    To read one split, mlcroissant 1.1.1 puts its name in place of the group and makes a glob of the
    rest, which replaces those of the file set. It knows `.+`, `.*` and `\.`, but not `\d`.
    """
    return rf".*data/{variant}/([^/]+)-.+-of-.+\.parquet$"


def _field(task: Task, name: str, column: Column, origin: dict[str, Any]) -> dict[str, Any]:
    kind, depth = _items(column)
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{task.variant}/{name}",
        "name": name,
        "dataType": kind,
        "source": {"fileSet": {"@id": _files_of(task.variant)}, **origin},
    }
    if column.names:
        field["description"] = f"The number, from 0, of one of: {', '.join(column.names)}."
    if depth:
        field |= {"isArray": True, "arrayShape": ",".join(["-1"] * depth)}
    return field


def _items(column: Column) -> tuple[str | None, int]:
    """Croissant's type of a column's items, None if it lacks a type, and how deep its lists are."""
    item, depth = column.arrow, 0
    while pa.types.is_list(item):
        item, depth = item.value_type, depth + 1
    return next((kind for is_kind, kind in _KINDS if is_kind(item)), None), depth
