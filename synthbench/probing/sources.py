"""Rows from files, folders, datasets in memory and dataset directories of this package."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.checks import usable_path
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import reading
from synthbench.errors import DatasetError, MissingPathError, UsageError, unknown_name
from synthbench.evaluation.prediction_files import PredictionTable, open_file
from synthbench.probing.columns import Row
from synthbench.text.lines import short

FILES = (".parquet", ".jsonl", ".csv", ".tsv")
#: The forms of a source, for errors.
FORMS = (
    f"a file ({', '.join(FILES)}), a folder of such files, a dataset directory, "
    "reasoning-gym:NAME, reasoning-core:NAME, verifiers:ENV, FILE.py:FUNCTION"
)
#: The column that says which variant of a dataset directory a row is of.
VARIANT = "variant"
#: How many objects of a file are looked at for the names of its columns.
_LOOKED_AT = 100


@dataclasses.dataclass(frozen=True)
class SourceRows:
    """Rows that can be read again.

    Attributes:
        names: the names of the columns.
        read: the rows in order, given some of these names. A row may have more columns.
    """

    names: Sequence[str]
    read: Callable[[Sequence[str]], Iterator[Row]]

    def first(self) -> Row:
        """The first row."""
        return next(self.read(self.names))


@dataclasses.dataclass(frozen=True)
class ProbeSource:
    """Rows of some splits.

    Attributes:
        name: as the user named it.
        splits: the rows of each split.
        train: the splits to train on.
        evaluation: the splits to evaluate on.
        question: the columns of the question, if the source knows them.
        answer: the column of the answer, if the source knows it.
    """

    name: str
    splits: Mapping[str, SourceRows]
    train: Sequence[str]
    evaluation: Sequence[str]
    question: Sequence[str] = ()
    answer: str | None = None


def open_source(source: Any, evaluation: str | None) -> ProbeSource:
    """Open rows that exist already.

    Args:
        source: a path, a `datasets.Dataset` or `DatasetDict`, a list of dicts, or lists by split.
        evaluation: the split to evaluate on, or a file of more rows; None: every split that is not
            for training.

    Raises:
        UsageError: another form of source, or an unknown split.
        MissingPathError: a missing file.
        DatasetError: a file cannot be read, or lacks rows.
    """
    question: Sequence[str] = ()
    answer = None
    if isinstance(source, str | os.PathLike):
        name, path = os.fspath(source), usable_path("Source", source)
        if not path.exists():
            raise MissingPathError(f"Source {short(name)} is missing. Allowed are {FORMS}.")
        if (path / "manifest.json").is_file():
            splits, question, answer = _directory(path)
        elif path.is_dir():
            splits = _folder(path)
        else:
            splits = {"rows": rows_of_file(path)}
    else:
        name, splits = f"the {type(source).__name__}", _in_memory(source)
    if evaluation is not None and evaluation not in splits:
        if not Path(evaluation).is_file():
            raise unknown_name("evaluation split or file", evaluation, splits)
        splits = {**splits, "evaluation": rows_of_file(Path(evaluation))}
        evaluation = "evaluation"
    return ProbeSource(name, splits, *shared_out(splits, evaluation), question, answer)


def shared_out(
    splits: Mapping[str, Any], evaluation: str | None
) -> tuple[Sequence[str], Sequence[str]]:
    """The splits to train on and to evaluate on."""
    if evaluation is None:
        train = [name for name in splits if name.lower().startswith("train")]
        train = train or ([*splits] if len(splits) == 1 else [])
        return train, [name for name in splits if name not in train]
    others = [name for name in splits if name != evaluation]
    return [name for name in others if name.lower().startswith("train")] or others, [evaluation]


def rows_of_file(path: Path) -> SourceRows:
    """The rows of a Parquet, JSON Lines or CSV file.

    Raises:
        UsageError: another kind of file.
        DatasetError: the file cannot be read, or lacks rows.
    """
    if path.suffix.lower() not in FILES:
        raise UsageError(f"Source {str(path)!r}: allowed are {FORMS}.")

    def contents() -> Any:
        return open_file(path)[1]

    opened = contents()
    if isinstance(opened, PredictionTable):

        def cells(names: Sequence[str]) -> Iterator[Row]:
            table = contents()
            kept = [name for name in names if name in table.names]
            for _, row in table.rows(kept):
                yield dict(zip(kept, row, strict=True))

        rows = SourceRows(opened.names, cells)
    elif isinstance(opened, Iterator):

        def objects(_: Sequence[str]) -> Iterator[Row]:
            for number, value in contents():
                if not isinstance(value, dict):
                    raise DatasetError(
                        f"{path}, line {number}: expected an object, got {short(value)}."
                    )
                yield value

        rows = SourceRows(_names(objects(())), objects)
    else:
        raise DatasetError(f"{path}: expected a line with names of columns, then rows.")
    if next(rows.read(rows.names), None) is None:
        raise DatasetError(f"{path} is empty: expected rows.")
    return rows


def _names(rows: Iterator[Row]) -> list[str]:
    return list(dict.fromkeys(itertools.chain(*itertools.islice(rows, _LOOKED_AT))))


def _joined(parts: Sequence[SourceRows]) -> SourceRows:
    """Rows of several files, one after another."""
    names = list(dict.fromkeys(itertools.chain(*(part.names for part in parts))))
    return SourceRows(names, lambda names: itertools.chain(*(part.read(names) for part in parts)))


def _folder(path: Path) -> dict[str, SourceRows]:
    """The splits that `datasets` finds in a folder."""
    import datasets

    with reading(path):
        configs = datasets.get_dataset_config_names(str(path))
        if len(configs) > 1:
            raise UsageError(
                f"Source {str(path)!r} has the configurations {', '.join(configs)}: name a folder "
                "or a file of a single configuration."
            )
        data_files = datasets.load_dataset_builder(str(path)).config.data_files or {}
    splits = {str(name): [Path(str(file)) for file in files] for name, files in data_files.items()}
    if not any(splits.values()):
        raise UsageError(f"Source {str(path)!r} is empty. Allowed are {FORMS}.")
    return {name: _joined([*map(rows_of_file, files)]) for name, files in splits.items()}


def _directory(path: Path) -> tuple[dict[str, SourceRows], Sequence[str], str | None]:
    """The rows of a dataset directory of this package, with all its variants."""
    dataset = DatasetDirectory.open(path)
    variants = [*dataset.manifest.variants]
    tasks = [dataset.make_task(variant) for variant in variants]
    split_names = dict.fromkeys(
        split for records in dataset.manifest.variants.values() for split in records
    )
    question = [*([VARIANT] if len(variants) > 1 else []), *tasks[0].inputs]
    answer = "label" if "label" in tasks[0].columns else None

    def rows_of(split: str) -> SourceRows:
        def read(names: Sequence[str]) -> Iterator[Row]:
            for variant in variants:
                if split in dataset.manifest.variants[variant]:
                    kept = [name for name in names if name != VARIANT]
                    for batch in dataset.batches(variant, split, kept):
                        for row in batch.to_pylist():
                            yield {VARIANT: variant, **row}

        return SourceRows([VARIANT, "id", *tasks[0].columns], read)

    return {split: rows_of(split) for split in split_names}, question, answer


def _in_memory(source: Any) -> dict[str, SourceRows]:
    """The splits of a `DatasetDict`, or the rows of a `Dataset` or of a list."""
    splits = source if isinstance(source, Mapping) else {"rows": source}
    return {str(name): _rows_in_memory(str(name), rows) for name, rows in splits.items()}


def _rows_in_memory(name: str, rows: Any) -> SourceRows:
    if hasattr(rows, "column_names") and hasattr(rows, "select_columns"):
        table = rows.with_format(None)
        columns = list(table.column_names or next(iter(table), {}))

        def read(names: Sequence[str]) -> Iterator[Row]:
            yield from table.select_columns([name for name in names if name in columns])

        opened = SourceRows(columns, read)
    elif isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise UsageError(f"Row {number} of {name!r} is {short(row)}: expected a dict.")
        opened = SourceRows(_names(iter(rows)), lambda _: iter(rows))
    else:
        raise UsageError(f"Source {short(rows)}: expected rows as dicts, or {FORMS}.")
    if next(opened.read(opened.names), None) is None:
        raise UsageError(f"Source: {name!r} is empty: expected rows.")
    return opened
