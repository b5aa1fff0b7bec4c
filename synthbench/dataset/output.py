"""A directory that a command writes: claimed before any work, locked, its files written whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from synthbench.checks import claim_output
from synthbench.dataset import files
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.staging import check_same_command
from synthbench.dataset.staging_directory import LOCK, hold, staging_of
from synthbench.errors import DatasetError, UsageError


def check_writable(output: Path) -> None:
    """Refuse a path behind a file, or in a directory that is read-only.

    Raises:
        UsageError: says which of these it is.
    """
    target = output.resolve()
    nearest = next(path for path in (target, *target.parents) if path.exists())
    wrong = ""
    if not nearest.is_dir():
        wrong = "is a file"
    elif not os.access(nearest, os.W_OK | os.X_OK):
        wrong = "is read-only"
    if wrong:
        raise UsageError(f"Output {str(output)!r} cannot be written: {str(nearest)!r} {wrong}.")


class OutputDirectory:
    """A directory that a command writes.

    Args:
        path: the directory.
        mark: the file by which our own output is known.
        data: a dataset of the same command. It may lie in the directory.

    Attributes:
        path: the directory.
    """

    def __init__(self, path: str | Path, mark: str = "", data: str | Path | None = None) -> None:
        self.path = Path(path)
        self._mark = mark
        self._data = None if data is None else Path(data)

    def check(self) -> bool:
        """True if our output is here. Nothing is written.

        Raises:
            UsageError: the path is a file, lies inside a dataset, holds other files or cannot be
                written.
        """
        ours = {f"{self._mark}.new"}
        try:
            self.check_path()
            if self._data is not None and self._data.resolve().parent == self.path.resolve():
                dataset = self._data.resolve()
                ours |= {dataset.name, staging_of(dataset).name}
            lock = self.path / LOCK
            if lock.is_file() and not lock.stat().st_size:
                ours.add(LOCK)
        except (OSError, RuntimeError) as error:  # before Python 3.13, links in a loop
            raise self._unusable(error) from None
        return claim_output(self.path, self._mark, ours)

    def check_path(self) -> None:
        """Refuse a path inside a dataset, behind a file, or in a directory that is read-only.

        Raises:
            UsageError: says which of these it is.
        """
        name, target = repr(str(self.path)), self.path.resolve()
        dataset = None if self._data is None else self._data.resolve()
        above = (target, *target.parents)
        for path in above:
            if path == dataset or _is_dataset(path):
                lies = "is the dataset" if path == target else "lies inside the dataset"
                raise UsageError(
                    f"Output {name} {lies} {str(path)!r}. Name a directory outside it."
                )
        check_writable(self.path)

    def check_same(self, what: str, there: dict[str, Any], command: dict[str, Any]) -> None:
        """Check that what is here was made by the command that is asked for.

        Args:
            what: the kind of output, such as `run`.
            there: its command as JSON values.
            command: the command, or as much of it as is known.

        Raises:
            UsageError: it was made by another command.
        """
        check_same_command(self.path, what, {name: there.get(name) for name in command}, command)

    def make(self) -> None:
        """Make the directory if it does not exist.

        Raises:
            UsageError: it cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from None

    def lock(self) -> IO[str]:
        """Make the directory and lock it until the returned file is closed.

        Raises:
            UsageError: it cannot be written, or another process is at work here.
        """
        self.make()
        try:
            lock = hold(self.path)
        except OSError as error:
            raise self._unusable(error) from None
        if lock is None:
            raise UsageError(
                f"Another process is writing {str(self.path)!r}. Wait until it has finished."
            )
        return lock

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A path to write one of its files to, which is never seen half-written.

        Raises:
            SynthbenchError: the file cannot be written.
        """
        with files.writing(self.path / name) as beside:
            yield beside

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """The path of one of its files. Whatever goes wrong in the block is an error that names it.

        Raises:
            DatasetError: the file is missing, or cannot be read.
        """
        with files.reading(self.path / name):
            yield self.path / name

    def write_text(self, name: str, text: str) -> None:
        """Write one of its files. Raises as `writing`."""
        files.write_text(self.path / name, text)

    def write_json(self, name: str, values: Any) -> None:
        """Write JSON values to one of its files. Raises as `writing`."""
        files.write_json(self.path / name, values)

    def _unusable(self, error: Exception) -> UsageError:
        reason = getattr(error, "strerror", None) or error
        return UsageError(f"Output {str(self.path)!r} cannot be written: {reason}.")


def _is_dataset(path: Path) -> bool:
    if not (path / MANIFEST).is_file():
        return False
    try:
        DatasetDirectory.open(path)
    except DatasetError:
        return False  # other programs have files called manifest.json too
    return True
