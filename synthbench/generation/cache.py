"""The cache of `load_dataset`: made on first use, checked in every process, mended if damaged.

    CACHE/listops-0f4c.../         a dataset directory, whose name holds a hash of the request
    CACHE/listops-0f4c....sha256   the sums of its files, in the form of `sha256sum`
    CACHE/listops-0f4c....lock     held by the process that makes it, while others wait
    CACHE/arrow-93ab.../           a split's rows as an Arrow file, which `datasets` memory-maps.
                                   The file is named by its own SHA-256

CACHE is the directory that `SYNTHBENCH_CACHE` names, else `synthbench/datasets` in the user's
cache. A process hashes a file when it first uses it. Later it only looks whether size and time are
the same. Whatever is damaged is made again.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import filelock

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.digest import file_sha256
from synthbench.dataset.staging_directory import staging_of
from synthbench.engine.source_digest import source_digest, source_packages
from synthbench.errors import SynthbenchError, UsageError
from synthbench.generation.generate import run
from synthbench.generation.request import Request
from synthbench.sampling.plan import check_rows, plan_rows
from synthbench.tasks.base import Task
from synthbench.tasks.images.task import ImageTask
from synthbench.text.lines import one_line

#: The environment variable that names the cache directory.
CACHE_VARIABLE = "SYNTHBENCH_CACHE"


def cached_dataset(
    task: Task, preset: str, rows: Mapping[str, int] | None, split: str | None = None
) -> DatasetDirectory:
    """The dataset of a request, made if it is missing or damaged.

    If a split is named, only this split is made. A dataset of all splits serves as well.

    Raises:
        UsageError: a number that is not allowed.
        ParameterError: more rows than exist.
        SynthbenchError: too few distinct rows were found, or a file cannot be written.
    """
    rows = check_rows(task, rows)
    request = Request(
        (task,),
        preset=preset,
        rows=rows,
        overwrite=True,  # only an interrupted run can lie there
    )
    cache = cache_directory()
    names = [_entry(request, task)]
    if split is not None:
        request = dataclasses.replace(request, split=split)
        names.append(_entry(request, task))
    # A cache that cannot be written may still hold the dataset.
    for name in names:
        if _damage(cache / name) is None:
            return DatasetDirectory.open(cache / name)
    plan_rows(task, preset, rows)  # refuses impossible requests before anything is written
    target = writable(cache) / name
    with locked(target):
        if (damage := _damage(target)) is not None:
            discard(target, damage)
            _make(dataclasses.replace(request, out=target), target)
    return DatasetDirectory.open(target)


def _entry(request: Request, task: Task) -> str:
    """The name of a request's directory in the cache."""
    text = json.dumps(_row_sources(request, task), sort_keys=True, separators=(",", ":"))
    return f"{task.name}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _row_sources(request: Request, task: Task) -> dict[str, Any]:
    """Everything that the rows depend on, as JSON values."""
    sources: dict[str, Any] = {
        "synthbench": __version__,
        "task": task.name,
        "variant": task.variant,
        "parameters": task.parameters.to_dict(),
        "seed": task.seed,
        "preset": request.preset,
        "rows": request.rows,
    }
    if request.split is not None:
        sources["split"] = request.split
    if isinstance(task, ImageTask):
        source_dirs = task.source_dirs
        sources["sources"] = [list(source_dirs.named), *map(str, source_dirs.roots())]
    if not type(task).__module__.startswith("synthbench."):
        # Our version says nothing about the tasks of other packages.
        packages = [name for name in source_packages([task]) if name != "synthbench"]
        sources["source"] = {name: source_digest(name) for name in packages} or _main_source(task)
    return sources


def _main_source(task: Task) -> str | None:
    """The text of the program that defines a task, None if it lacks a file."""
    try:
        return inspect.getsource(sys.modules[type(task).__module__])
    except (OSError, TypeError):
        return None


def _make(request: Request, target: Path) -> None:
    """Make a dataset and note the sums of its files. Nothing is at its path."""
    staging = staging_of(target)
    resumed = os.path.lexists(staging)
    try:
        run(request)
    except (SynthbenchError, OSError) as error:
        if not resumed:
            raise
        discard(staging, one_line(str(error)))  # what the interrupted run left may be damaged
        discard(target, "it was left by an interrupted run")
        run(request)
    sums = _sums_file(target)
    discard(sums)
    sums.write_bytes(_sums(target))


# Damage.


def _sums_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _damage(target: Path) -> str | None:
    """The damage to a dataset's files in the cache. None if they are sound."""
    sums = _sums_file(target)
    try:
        if not sums.is_file():  # reading a pipe would wait
            return f"{sums.name} is not a file"
        noted, actual = sums.read_bytes(), _sums(target)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    if noted == actual:
        return None
    differing = set(noted.splitlines()) ^ set(actual.splitlines())
    names = sorted({line.partition(b"  ")[2].decode("utf-8", "replace") for line in differing})
    return f"the sums differ of {', '.join(names)}"


def _sums(directory: Path) -> bytes:
    """A line for each file of a directory, its SHA-256 and its path there.

    Raises:
        OSError: a file cannot be read.
    """
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    lines = [f"{sum_of(path)}  {path.relative_to(directory).as_posix()}\n" for path in files]
    return "".join(lines).encode("utf-8", "surrogateescape")


def sum_of(path: Path) -> str:
    """SHA-256 of a file, computed again only when the file has changed since this process did.

    Raises:
        OSError: the file cannot be read.
    """
    there = path.stat()
    return _sum_once(path, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns)


@functools.lru_cache(maxsize=65_536)
def _sum_once(path: Path, *state: int) -> str:
    return file_sha256(path)


def discard(path: Path, damage: str | None = None) -> None:
    """Remove whatever lies at a path of the cache, if anything does.

    Args:
        path: the path.
        damage: the fault, for a line on standard error. None says nothing.

    Raises:
        SynthbenchError: it cannot be removed.
    """
    if not os.path.lexists(path):
        return
    if damage is not None:
        line = one_line(f"{path} in the cache is damaged ({damage}). It is made again.")
        print(line, file=sys.stderr)
    try:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError as error:
        raise SynthbenchError(
            f"{path} in the cache is damaged and cannot be removed: {error.strerror or error}. "
            f"Remove it, or set {CACHE_VARIABLE} to another directory."
        ) from error


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock of a path in the cache. Waits for the process that holds it.

    Raises:
        SynthbenchError: there can be no lock, for example because the disk is full.
    """
    file = target.with_name(f"{target.name}.lock")
    if not file.is_file() or file.is_symlink():
        discard(file, "it is not a file")
    try:
        lock = filelock.FileLock(file).acquire()
    except OSError as error:
        raise SynthbenchError(
            f"{file} cannot be locked: {error.strerror or error}. Remove it, or set "
            f"{CACHE_VARIABLE} to another directory."
        ) from error
    with lock:
        yield


# The directory.


def cache_directory() -> Path:
    """The cache, which need not exist.

    Raises:
        UsageError: its path cannot be used.
    """
    setting = os.environ.get(CACHE_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "synthbench", "datasets")
    try:
        directory = Path(setting or cache).expanduser().absolute()
        os.fsencode(directory).decode("utf-8")  # as `datasets` opens files
    except (OSError, RuntimeError, UnicodeError) as error:
        why = "its name is not UTF-8" if isinstance(error, UnicodeError) else error
        raise UsageError(
            f"Cache {str(setting or cache)!r} cannot be used ({why}). Set {CACHE_VARIABLE} to the "
            "absolute path of another directory."
        ) from None
    return directory


@functools.cache
def writable(directory: Path) -> Path:
    """The directory. If it cannot be written, a temporary directory for this process."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        other = Path(tempfile.mkdtemp(prefix="synthbench-"))
        atexit.register(shutil.rmtree, other, ignore_errors=True)
        print(
            f"The cache {directory} cannot be written ({error.strerror or error}). Datasets of "
            f"this process go to {other}. Set {CACHE_VARIABLE} to a directory that can be written.",
            file=sys.stderr,
        )
        return other
    return directory
