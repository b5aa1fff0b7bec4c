"""The manifest of a dataset: everything needed to make it again and to check it."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.files import PLAIN_NAME, read_json, read_regular, why_unreadable
from synthbench.errors import DatasetError, MissingPathError
from synthbench.tasks.base import Task
from synthbench.tasks.registry import task_from
from synthbench.text.lines import one_line, short

#: Version of the manifest's form. Readers refuse newer versions.
FORMAT = 1
MANIFEST = "manifest.json"
#: The most bytes of a manifest that are read. A manifest of 100 shards has some 30,000.
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
    """The manifest's entry for a split.

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
        tables: whatever else the rows depend on, such as the look-up tables of `ctl`.
        variants: the splits of each variant, in the order in which readers see them.
        synthbench: version that made it.
        format: version of the manifest's form.
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
        """Two lines: the task and the numbers of rows. `to_dict` has everything."""
        first = f"Manifest of {self.task}: seed {self.seed}, made by synthbench {self.synthbench}"
        rows = self._rows()
        if len(rows) == 1:
            ((whose, counts),) = rows.items()
        else:
            whose = f"{len(rows)} variants"
            counts = {variant: sum(splits.values()) for variant, splits in rows.items()}
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        return "\n".join(
            textwrap.shorten(one_line(line), 200, placeholder=" ...")
            for line in (first, f"{whose}: {shown} rows")
        )

    def to_dict(self) -> dict[str, Any]:
        """The manifest as JSON values, in the order of the file."""
        values = dataclasses.asdict(self)
        values["variants"] = {
            variant: {"splits": records} for variant, records in values["variants"].items()
        }
        return {name: values[name] for name in _ENTRIES}

    @classmethod
    def of(
        cls, command: dict[str, Any], variants: dict[str, dict[str, SplitRecord]], synthbench: str
    ) -> Manifest:
        """The manifest of what `command` (as `command()` gives it) has made."""
        values = {name: value for name, value in command.items() if name != "rows"}
        return cls(**values, variants=variants, synthbench=synthbench)

    def command(self) -> dict[str, Any]:
        """The request, as JSON values. The same command makes the same bytes."""
        return {
            "task": self.task,
            "seed": self.seed,
            "parameters": self.parameters,
            "rows": self._rows(),
            "shard_rows": self.shard_rows,
            "tables": self.tables,
        }

    def all_shards(self) -> list[Shard]:
        """The shards of all variants and splits."""
        records = (record for splits in self.variants.values() for record in splits.values())
        return [shard for record in records for shard in record.shards]

    def _rows(self) -> dict[str, dict[str, int]]:
        return {
            variant: {name: split.rows for name, split in splits.items()}
            for variant, splits in self.variants.items()
        }

    @classmethod
    def from_dict(cls, values: Any, file: str | Path = MANIFEST) -> Manifest:
        """The manifest from JSON values, which may be anything. Errors call them `file`.

        Raises:
            DatasetError: they do not have the form of a manifest, or have a newer form. The text
                names the key.
        """
        version = values.get("format") if isinstance(values, dict) else None
        if isinstance(version, int) and version > FORMAT:
            raise DatasetError(
                f"{file} has format {version}. This version reads formats up to {FORMAT}. "
                "Upgrade synthbench."
            )
        try:
            return _checked(values)
        except ValueError as error:
            raise DatasetError(f"{file}: {error}.") from None

    def make_task(self, variant: str) -> Task:
        """The task that made one of the variants.

        Raises:
            UsageError: a task, variant or parameter that this version does not know.
        """
        return task_from(self.task, variant, self.parameters, self.seed)


def shard_file(variant: str, split: str, number: int, count: int) -> str:
    """Path of a shard in its dataset directory."""
    return f"data/{variant}/{split}-{number:05d}-of-{count:05d}.parquet"


def merged_tables(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tables of several variants merged. Entries of the same name are equal."""
    merged: dict[str, Any] = {}
    for table in tables:
        for name, entry in table.items():
            both = isinstance(entry, dict) and isinstance(merged.get(name), dict)
            merged[name] = merged_tables([merged[name], entry]) if both else entry
    return merged


def read_manifest(path: Path) -> Manifest:
    """The manifest of a dataset directory.

    Raises:
        DatasetError: the manifest is missing, it cannot be read, or its form is newer.
        MissingPathError: the directory does not exist.
    """
    try:
        there = path.is_dir()
    except OSError as error:  # such as a directory above it that may not be searched
        raise DatasetError(f"No dataset at {str(path)!r}: {error.strerror}.") from None
    if not there:
        if path.exists():
            raise DatasetError(f"No dataset at {str(path)!r}: it is a file.")
        raise MissingPathError(f"No dataset at {str(path)!r}: there is no such directory.")
    if why_unreadable(path, MANIFEST) == "missing":
        raise DatasetError(f"No dataset at {str(path)!r}: it has no {MANIFEST}.")
    file = path / MANIFEST
    data = read_regular(path, MANIFEST, _LARGEST_MANIFEST)
    try:
        values = read_json(data)
    except ValueError as error:
        raise DatasetError(f"{file} is not a manifest: {one_line(str(error))}.") from None
    return Manifest.from_dict(values, file)


# Checks of a manifest's values. Each raises a ValueError that names the key.

#: The entries of a manifest, in the order of the file.
_ENTRIES = "format", "synthbench", "task", "seed", "parameters", "shard_rows", "tables", "variants"
_SHA256 = "[0-9a-f]{64}"
_FILE = rf"data/{PLAIN_NAME}/{PLAIN_NAME}\.parquet"


def _checked(values: Any) -> Manifest:
    _object(values, "", _ENTRIES)
    for name, least in (("format", 1), ("seed", 0), ("shard_rows", 1)):
        _whole(values[name], name, least)
    _expect(isinstance(values["synthbench"], str), values["synthbench"], "synthbench", "a text")
    _text(values["task"], "task", PLAIN_NAME, "a name")
    _object(values["tables"], "tables")
    for name, value in _object(values["parameters"], "parameters").items():
        listed = value if isinstance(value, list) else [value]
        plain = all(isinstance(element, str | int | float) for element in listed)
        _expect(plain, value, f"parameters.{name}", "text, a number, or a list of these")
    variants = {}
    for variant, record in _object(values["variants"], "variants").items():
        where = f"variants.{variant}"
        _text(variant, "a variant", PLAIN_NAME, "a name")
        splits = _object(_object(record, where, ["splits"])["splits"], f"{where}.splits")
        _expect(bool(splits), splits, f"{where}.splits", "an object with entries")
        variants[variant] = {
            name: _split_record(split, f"{where}.splits.{name}") for name, split in splits.items()
        }
    _expect(bool(variants), variants, "variants", "an object with entries")
    return Manifest(**{**values, "variants": variants})


def _split_record(values: Any, where: str) -> SplitRecord:
    _object(values, where, [field.name for field in dataclasses.fields(SplitRecord)])
    _whole(values["rows"], f"{where}.rows", 1)
    _whole(values["candidates"], f"{where}.candidates")
    _text(values["digest"], f"{where}.digest", _SHA256, "64 hexadecimal digits")
    for bucket, rows in _object(values["buckets"], f"{where}.buckets").items():
        _whole(rows, f"{where}.buckets.{bucket}")
    _expect(isinstance(values["shards"], list), values["shards"], f"{where}.shards", "a list")
    for number, shard in enumerate(values["shards"]):
        its = f"{where}.shards[{number}]"
        _object(shard, its, [field.name for field in dataclasses.fields(Shard)])
        _text(
            shard["file"], f"{its}.file", _FILE, "a path such as 'data/VARIANT/SPLIT-....parquet'"
        )
        _whole(shard["rows"], f"{its}.rows", 1)
        _whole(shard["bytes"], f"{its}.bytes")
        _text(shard["sha256"], f"{its}.sha256", _SHA256, "64 hexadecimal digits")
    return SplitRecord(
        **{**values, "shards": tuple(Shard(**fields) for fields in values["shards"])}
    )


def _expect(right: bool, value: Any, where: str, expected: str) -> None:
    if not right:
        raise ValueError(f"{where} is {short(value)}, expected {expected}")


def _object(value: Any, where: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """An object. If `names` are given, with exactly these."""
    _expect(isinstance(value, dict), value, where or "it", "an object")
    values: dict[str, Any] = value
    for name in [*names, *values] if names else ():
        if name not in values:
            raise ValueError(f"{where}.{name} is missing".removeprefix("."))
        if name not in names:
            raise ValueError(f"{where or 'it'} has {short(name)}, expected only {', '.join(names)}")
    return values


def _whole(value: Any, where: str, least: int = 0) -> None:
    _expect(type(value) is int and value >= least, value, where, f"a whole number from {least}")


def _text(value: Any, where: str, pattern: str, expected: str) -> None:
    right = isinstance(value, str) and re.fullmatch(pattern, value) is not None
    _expect(right, value, where, expected)
