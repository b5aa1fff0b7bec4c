"""Checks of the place that `train` and `validate` are to write to. They write nothing."""

from __future__ import annotations

import os
from pathlib import Path

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.places import LOCK, workplace_of
from synthbench.errors import DatasetError, UsageError


def check_output(path: Path, data: Path, mark: str) -> None:
    """Make sure that a directory may be written: it is new, empty, or marked as ours.

    The dataset that the same command makes may lie in it already, whole or interrupted.

    Args:
        path: the directory.
        data: the directory of the dataset.
        mark: name of the file that marks a directory as ours.

    Raises:
        UsageError: the place is a file, lies inside a dataset, holds something else, or cannot
            be written.
    """
    name = repr(str(path))
    try:
        if path.exists() and not path.is_dir():
            raise UsageError(f"Output {name} is a file; name a directory.")
        target, dataset = path.resolve(), data.resolve()
        for place in (target, *target.parents):
            if place == dataset or _is_dataset(place):
                lies = "is the dataset" if place == target else "lies inside the dataset"
                raise UsageError(
                    f"Output {name} {lies} {str(place)!r}; name a directory outside it."
                )
        _check_writable(name, target)
        if not path.is_dir() or (path / mark).is_file():
            return
        ours = {f"{mark}.new"}
        if dataset.parent == target:
            ours |= {dataset.name, workplace_of(dataset).name}
        lock = path / LOCK
        if lock.is_file() and not lock.stat().st_size:
            ours.add(LOCK)
        foreign = sorted(entry.name for entry in path.iterdir() if entry.name not in ours)
    except (OSError, RuntimeError) as error:  # before Python 3.13, links in a loop: RuntimeError
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"Output {name} cannot be written: {reason}.") from None
    if foreign:
        raise UsageError(
            f"Output {name} holds something else ({foreign[0]!r}); "
            "name a directory that is empty or not there yet."
        )


def _check_writable(name: str, target: Path) -> None:
    """Make sure that the nearest directory that exists can be written."""
    there = next(place for place in (target, *target.parents) if place.exists())
    if not there.is_dir():
        raise UsageError(f"Output {name} cannot be written: {str(there)!r} is a file.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"Output {name} cannot be written: {str(there)!r} is read-only.")


def _is_dataset(place: Path) -> bool:
    if not (place / MANIFEST).is_file():
        return False
    try:
        DatasetDirectory.open(place)
    except DatasetError:
        return False  # many programs have a manifest.json
    return True
