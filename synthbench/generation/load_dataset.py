"""`load_dataset`: a dataset made on first use into a cache, and opened from there afterwards.

    CACHE/listops-0f4c.../      a dataset directory; its name holds a hash of the request
    CACHE/listops-0f4c....lock  held by the process that makes it; others wait
    CACHE/arrow/                the same rows in Arrow files, which `datasets` memory-maps

CACHE is the directory that `SYNTHBENCH_CACHE` names, else `synthbench/datasets` in the user's
cache.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import hashlib
import inspect
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import check_whole, finished
from synthbench.errors import DatasetError, UsageError
from synthbench.generation.generate import run
from synthbench.generation.request import Request
from synthbench.sampling.plan import plan_rows
from synthbench.tasks.base import Parameters, Task
from synthbench.tasks.images.source_dirs import carried_source_dirs, source_dirs
from synthbench.tasks.registry import make_task

if TYPE_CHECKING:
    import datasets

#: The environment variable that names the cache directory.
CACHE_VARIABLE = "SYNTHBENCH_CACHE"


def load_dataset(
    task: str,
    split: str | None = None,
    *,
    variant: str | None = None,
    seed: int = 0,
    rows: Mapping[str, int] | None = None,
    preset: str = "paper",
    parameters: Mapping[str, Any] | Parameters | None = None,
    **keywords: Any,
) -> datasets.Dataset | datasets.DatasetDict:
    """A dataset by its task's name, made on first use and opened from a cache afterwards.

    The same call gives the same rows on every machine, and nothing is downloaded. The cache
    directory is the one that `SYNTHBENCH_CACHE` names, else `synthbench/datasets` in the user's
    cache. If it cannot be written, the dataset goes to a temporary directory, and a line on
    standard error says so.

    Args:
        task: name of the task.
        split: the split to open; only this split is made. Default: all splits.
        variant: one of the task's variants; default: the first.
        seed: whole number from 0.
        rows: number of rows by split, where it differs from the preset.
        preset: "paper" for the papers' split sizes, or "small" for 1/100 of them, at least 100 rows
            a split.
        parameters: parameters of the task that differ from the defaults, as in `generate`.
        keywords: the same, as keywords: `max_length=30`.

    Returns:
        The split, or without `split` a `DatasetDict` of all splits.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, or parameters in both
            ways.
        ParameterError: impossible parameters, or more rows than exist.
        SynthbenchError: too few distinct rows were found, or a file cannot be written.

    Example:
        >>> import synthbench
        >>> test = synthbench.load_dataset("parity", split="test", preset="small")
        >>> len(test), test.features["label"].names[:3]
        (100, ['0', '1', '2'])
    """
    if parameters is not None and keywords:
        raise UsageError(
            f"Parameters as parameters= and as keywords ({', '.join(keywords)}): give all of them "
            "in one of the two ways."
        )
    made = make_task(task, variant, keywords if parameters is None else parameters, seed)
    if split in made.variants:
        raise UsageError(f"{split!r} is a variant, not a split: write variant={split!r}.")
    if split is not None:
        made.split(split)
    dataset = cached_dataset(made, preset, rows, split)
    return open_with_datasets(dataset, made.variant, split)


def open_with_datasets(
    dataset: DatasetDirectory, variant: str, split: str | None = None
) -> datasets.Dataset | datasets.DatasetDict:
    """One variant of a dataset directory, as `datasets` opens it.

    `datasets.load_dataset(DIRECTORY)` caches rows by the last part of the directory's name. Given
    the files, `datasets` caches them by the full paths and times of the shards instead.

    Raises:
        UsageError: there is no such split.
        DatasetError: a shard is missing.
    """
    import datasets

    if split is not None:
        dataset.split(variant, split)
    check_whole(dataset)
    files = {
        name: [str((dataset.path / shard.file).resolve()) for shard in record.shards]
        for name, record in dataset.manifest.variants[variant].items()
    }
    arrow = _writable(_cache_directory()) / "arrow"
    opened: datasets.Dataset | datasets.DatasetDict = datasets.load_dataset(
        "parquet", data_files=files, split=split, cache_dir=str(arrow)
    )
    return opened


def cached_dataset(
    task: Task, preset: str, rows: Mapping[str, int] | None, split: str | None = None
) -> DatasetDirectory:
    """The dataset of a request, made if it is missing or incomplete.

    If a split is named, only this split is made; a dataset of all splits serves as well.
    """
    request = Request(
        task.name,
        task.variant,
        seed=task.seed,
        preset=preset,
        rows=rows,
        parameters=task.parameters.to_dict(),
        overwrite=True,  # only a broken entry, or an interrupted run, can lie there
    )
    names = [_entry(request, task)]
    if split is not None:
        request = dataclasses.replace(request, split=split)
        names.append(_entry(request, task))
    # A cache that cannot be written may still hold the dataset.
    for name in names:
        if (there := _whole(_cache_directory() / name)) is not None:
            return there
    plan_rows(task, preset, rows)  # refuses impossible requests before anything is written
    target = _writable(_cache_directory()) / name
    with filelock.FileLock(f"{target}.lock"):
        if (there := _whole(target)) is not None:
            return there
        run(dataclasses.replace(request, out=target))
    return DatasetDirectory.open(target)


def _entry(request: Request, task: Task) -> str:
    """The name of a request's directory in the cache."""
    text = json.dumps(_row_sources(request, task), sort_keys=True, separators=(",", ":"))
    return f"{task.name}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _whole(target: Path) -> DatasetDirectory | None:
    """The dataset at a place, None if it or one of its files is missing."""
    try:
        if (dataset := finished(target)) is not None:
            check_whole(dataset)
    except (DatasetError, OSError):
        return None
    return dataset


def _row_sources(request: Request, task: Task) -> dict[str, Any]:
    """Everything that the rows depend on, as JSON values."""
    sources: dict[str, Any] = {
        "synthbench": __version__,
        "task": request.task,
        "variant": request.variant,
        "parameters": request.parameters,
        "seed": request.seed,
        "preset": request.preset,
        "rows": dict(request.rows or {}),
    }
    if request.split is not None:
        sources["split"] = request.split
    if task.image_column:
        sources["sources"] = [carried_source_dirs(), *map(str, source_dirs())]
    if not type(task).__module__.startswith("synthbench."):
        # Our version says nothing about the tasks of other packages.
        sources["source"] = _source_of(type(task))
    return sources


def _source_of(task: type[Task]) -> str | None:
    """The text of the module that defines a task, None if it has no file."""
    try:
        return inspect.getsource(sys.modules[task.__module__])
    except (OSError, TypeError):
        return None


def _cache_directory() -> Path:
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser().absolute() / "synthbench" / "datasets"


@functools.cache
def _writable(directory: Path) -> Path:
    """The directory; if it cannot be written, a temporary directory for this process."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        other = Path(tempfile.mkdtemp(prefix="synthbench-"))
        atexit.register(shutil.rmtree, other, ignore_errors=True)
        print(
            f"The cache {directory} cannot be written ({error.strerror or error}); datasets of "
            f"this process go to {other}. Set {CACHE_VARIABLE} to a directory that can be written.",
            file=sys.stderr,
        )
        return other
    return directory
