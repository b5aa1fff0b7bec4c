"""Where a dataset is made, who works there, and how to recover after a kill.

DIR                  the finished dataset, or nothing
.DIR.partial/        beside it while it is made, and after an interruption
    lock             held by the run that makes it
    command.json     what is to be made
    progress.json    what is finished
    dataset/         the dataset; gets the name DIR when it is whole
    old/             the dataset that it replaces, while the names change
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from synthbench.errors import DatasetError

LOCK, COMMAND, PROGRESS, DATASET, OLD = "lock", "command.json", "progress.json", "dataset", "old"


def workplace_of(target: Path) -> Path:
    """The hidden directory in which the dataset for a place is made; on the same file system."""
    return target.parent / f".{target.name}.partial"


def hold(workplace: Path) -> IO[str] | None:
    """Lock a workplace until the returned file is closed, at the latest when this process ends.

    Returns:
        None if another process holds or is removing it.

    Raises:
        OSError: it cannot be written.
    """
    try:
        lock = (workplace / LOCK).open("a", encoding="utf-8")
    except FileNotFoundError:
        return None
    if _lock(lock) and is_held(workplace, lock):
        return lock
    lock.close()
    return None


def is_held(workplace: Path, lock: IO[str]) -> bool:
    """Whether a workplace is still the one that was locked, not removed or replaced since."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (workplace / LOCK).stat())
    except FileNotFoundError:
        return False


def put_back(target: Path) -> None:
    """Give a dataset its name again if a run was killed while replacing it.

    For `generate` alone: readers change nothing.

    Raises:
        DatasetError: it lies under its hidden name and cannot be moved.
    """
    if not is_being_replaced(target):
        return
    target = target.resolve()
    workplace = workplace_of(target)
    try:
        with _alone(workplace) as alone:
            if alone:
                restore(workplace, target)
    except OSError as error:
        raise DatasetError(
            f"The dataset {target} lies in {workplace / OLD}, where a run left it that was killed, "
            f"and cannot be put back: {error.strerror or error}."
        ) from None


def old_of(target: Path) -> Path:
    """Where a run moves the dataset that it replaces."""
    return workplace_of(target.resolve()) / OLD


def is_being_replaced(target: Path) -> bool:
    """Whether a run has moved a dataset aside and not yet put the new one in its place."""
    try:
        return old_of(target).is_dir() and not target.exists()
    except OSError:  # such as a hidden name that is too long: no run can have worked there
        return False


def restore(workplace: Path, target: Path) -> None:
    """`put_back` for a process that holds the workplace."""
    if (workplace / OLD).is_dir() and not target.exists():
        (workplace / OLD).rename(target)


def tidy(target: Path) -> None:
    """Remove what a run that was killed at its very end left beside a finished dataset."""
    workplace = workplace_of(target)
    with contextlib.suppress(OSError):
        if workplace.is_dir() and not (workplace / DATASET).exists():
            with _alone(workplace) as alone:
                if alone and not (workplace / DATASET).exists():
                    remove(workplace)


def clear(workplace: Path) -> None:
    """Empty a workplace that this process holds."""
    old, removed = workplace / OLD, workplace / "removed"
    shutil.rmtree(removed, ignore_errors=True)
    if old.exists():
        old.rename(removed)  # or, half removed, it would be put back
    for entry in workplace.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def remove(workplace: Path) -> None:
    """Remove a workplace that this process holds; nobody else can take it before it is empty."""
    clear(workplace)
    (workplace / LOCK).unlink()
    workplace.rmdir()


@contextlib.contextmanager
def _alone(workplace: Path) -> Iterator[bool]:
    """Hold a workplace for the length of a block; False if another process holds it."""
    lock = hold(workplace)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.close()


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
