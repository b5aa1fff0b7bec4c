"""The staging directory in which a dataset is made, its lock, and recovery after a killed run.

DIR                  the finished dataset, or nothing
.DIR.partial/        the staging directory, while the dataset is made and after an interruption
    lock             locked by the run that makes the dataset
    command.json     what is to be made
    finished.jsonl   what is finished, a line for each shard
    dataset/         the dataset. Renamed to DIR when it is whole
    old/             the dataset that it replaces, during the renames
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import IO

from synthbench.dataset.manifest import MANIFEST
from synthbench.errors import DatasetError

LOCK, COMMAND, FINISHED, DATASET, OLD = "lock", "command.json", "finished.jsonl", "dataset", "old"


def staging_of(target: Path) -> Path:
    """The staging directory of a dataset, beside it and so on the same file system."""
    return target.parent / f".{target.name}.partial"


def hold(staging: Path) -> IO[str] | None:
    """Lock a staging directory until the returned file is closed or this process ends.

    Returns:
        None if another process has locked the directory or is removing it.

    Raises:
        OSError: the directory cannot be written.
    """
    try:
        lock = (staging / LOCK).open("a", encoding="utf-8")
    except FileNotFoundError:
        return None
    if _lock(lock) and is_held(staging, lock):
        return lock
    lock.close()
    return None


def is_held(staging: Path, lock: IO[str]) -> bool:
    """True if the staging directory that was locked is still there, not removed or replaced."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (staging / LOCK).stat())
    except FileNotFoundError:
        return False


def repair(target: Path) -> bool:
    """Give a dataset its name back if a run was killed while replacing it, and tidy up beside it.

    Only `generate` calls this: readers change nothing.

    Returns:
        True if no other run is at work on the dataset. Otherwise nothing is changed.

    Raises:
        DatasetError: the dataset cannot be renamed.
    """
    staging = staging_of(target)
    try:
        if staging.is_dir():
            with hold(staging) or contextlib.nullcontext() as lock:
                if lock is None:
                    return False
                restore(staging, target)
                # A run that is killed at its very end leaves the staging directory.
                if (target / MANIFEST).is_file() and not (staging / DATASET).exists():
                    remove(staging)
    except OSError as error:
        if is_being_replaced(target):
            raise DatasetError(
                f"A run that was killed left the dataset {target} in {staging / OLD}, and it "
                f"cannot be put back: {error.strerror or error}."
            ) from None
        # No run can be at work in a directory that cannot be written, and tidying can wait.
    return True


def old_of(target: Path) -> Path:
    """The path to which a run moves the dataset that it replaces."""
    return staging_of(target.resolve()) / OLD


def is_being_replaced(target: Path) -> bool:
    """True if a run has moved a dataset aside and not yet put the new one in its place."""
    try:
        return old_of(target).is_dir() and not target.exists()
    # A name that is too long, or links in a loop (RuntimeError before Python 3.13): no run can
    # have used such a path.
    except (OSError, RuntimeError):
        return False


def restore(staging: Path, target: Path) -> None:
    """Move a dataset back that was moved aside. For a process that has locked the staging."""
    if (staging / OLD).is_dir() and not target.exists():
        (staging / OLD).rename(target)


def clear(staging: Path) -> None:
    """Empty a staging directory that this process has locked."""
    old, removed = staging / OLD, staging / "removed"
    shutil.rmtree(removed, ignore_errors=True)
    if old.exists():
        old.rename(removed)  # otherwise a later run would put it back half removed
    for entry in staging.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def remove(staging: Path) -> None:
    """Remove a staging directory that this process has locked. The lock is removed last."""
    clear(staging)
    (staging / LOCK).unlink()
    staging.rmdir()


def _lock(file: IO[str]) -> bool:
    """Take an exclusive lock that ends with this process; False if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
