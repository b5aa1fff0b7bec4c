"""`load_dataset`: a dataset by its task's name, opened from the cache by `datasets`."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from synthbench.arguments import checked
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.digest import file_sha256
from synthbench.dataset.files import regular_file, write_failure
from synthbench.dataset.manifest import SplitRecord
from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.dataset.staging import check_whole
from synthbench.errors import DatasetError, UsageError
from synthbench.generation.cache import (
    cache_directory,
    cached_dataset,
    discard,
    locked,
    sum_of,
    writable,
)
from synthbench.tasks.base import Task
from synthbench.tasks.registry import as_task
from synthbench.text.lines import short

if TYPE_CHECKING:
    import datasets

#: Rows of a batch in an Arrow file; `datasets` writes as many.
_ARROW_ROWS = 1_000


@checked
def load_dataset(
    task: str | Task,
    split: str | None = None,
    *,
    rows: Mapping[str, int] | None = None,
    preset: str = "paper",
) -> datasets.Dataset | datasets.DatasetDict:
    """The dataset of a task, made on first use and opened from a cache afterwards.

    The same call gives the same rows on every machine, and nothing is downloaded. The cache
    directory is `SYNTHBENCH_CACHE`, else `synthbench/datasets` in the user's
    cache. If it cannot be written, the dataset goes to a temporary directory, and a line on
    standard error says so. A file of the cache that was damaged is made again, which a line on
    standard error says, too.

    Args:
        task: the task, or its name for the task with its defaults.
        split: the split to open. Only this split is made. Default: all splits.
        rows: number of rows by split, where it differs from the preset.
        preset: "paper" for the papers' split sizes, or "small" for 1/100 of them, at least 100 rows
            a split.

    Returns:
        The split, or without `split` a `DatasetDict` of all splits.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: more rows than exist.
        SynthbenchError: too few distinct rows were found, or a file cannot be written.

    Example:
        >>> import synthbench
        >>> test = synthbench.load_dataset("parity", split="test", preset="small")
        >>> len(test), test.features["label"].names[:3]
        (100, ['0', '1', '2'])
    """
    loaded = as_task(task)
    if split is not None:
        _check_split(loaded, split)
    dataset = cached_dataset(loaded, preset, rows, split)
    return open_with_datasets(dataset, loaded.variant, split)


def _check_split(task: Task, split: str) -> None:
    if split in task.variants:
        raise UsageError(
            f"{split!r} is a variant, not a split: write synthbench.task({task.name!r}, {split!r})."
        )
    name, operator = re.fullmatch(r"([^\[+]*)(.*)", split, re.DOTALL).groups()  # type: ignore[union-attr]
    task.split(name.strip() if operator else split)
    if operator:
        raise UsageError(
            f"Split {short(split)}: expected the name of one split. Take rows from it with "
            f"load_dataset(..., split={name.strip()!r}).select(range(10))."
        )


def open_with_datasets(
    dataset: DatasetDirectory, variant: str, split: str | None = None
) -> datasets.Dataset | datasets.DatasetDict:
    """One variant of a dataset directory, as `datasets` opens Arrow files of it in the cache.

    `datasets.load_dataset(DIRECTORY)` finds rows in its cache by the last part of the directory's
    name, and never looks whether they are damaged.

    Raises:
        UsageError: an unknown split.
        DatasetError: a shard is missing or damaged.
        SynthbenchError: the Arrow file cannot be written.
    """
    import datasets

    splits = dataset.manifest.variants[variant]
    names = list(splits) if split is None else [split]
    opened = datasets.DatasetDict()
    for name in names:
        file = _arrow_file(dataset, dataset.split(variant, name))
        opened[name] = datasets.Dataset.from_file(str(file), split=datasets.NamedSplit(name))
    return opened if split is None else opened[split]


def _arrow_file(dataset: DatasetDirectory, record: SplitRecord) -> Path:
    """An Arrow file in the cache with the rows of a split, made if it is missing or damaged."""
    sums = "".join(shard.sha256 for shard in record.shards)
    name = f"arrow-{hashlib.sha256(sums.encode()).hexdigest()[:32]}"
    cache = cache_directory()
    if (file := _sound_file(cache / name)) is not None:
        return file
    folder = writable(cache) / name
    with locked(folder):
        if (file := _sound_file(folder)) is None:
            discard(folder, "no file in it has the sum that is its name")
            check_whole(dataset)
            file = _write_arrow(dataset, record, folder)
    return file


def _sound_file(folder: Path) -> Path | None:
    """The Arrow file whose name is its sum. Others are what users of `datasets` have derived."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            ours = re.fullmatch(r"[0-9a-f]{64}\.arrow", file.name) and file.is_file()
            if ours and sum_of(file) == file.stem:
                return file
    return None


def _write_arrow(dataset: DatasetDirectory, record: SplitRecord, folder: Path) -> Path:
    """Write the rows of a split to an Arrow file in a new directory, under its sum."""
    shards = []
    for shard in record.shards:
        path = regular_file(dataset.path, shard.file)
        if file_sha256(path) != shard.sha256:
            raise DatasetError(
                f"{path} is damaged: its sum is not the manifest's. Make the dataset again with "
                "--overwrite."
            )
        shards.append(path)
    with open_parquet(shards[0]) as first:
        schema = first.schema_arrow
    new = folder.with_name(f"{folder.name}.new")
    try:
        with pa.OSFile(str(new), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
            for path in shards:
                for batch in read_batches(path, batch_rows=_ARROW_ROWS):
                    writer.write_batch(batch)
        file = folder / f"{file_sha256(new)}.arrow"
        folder.mkdir()
        return new.rename(file)
    except OSError as error:
        raise write_failure(folder, error) from error
