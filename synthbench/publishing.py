"""A dataset directory as it comes to be: made beside its place, then renamed.

While it is made, a dataset lies in a hidden directory beside the final one, with what is needed
to go on after an interruption. Under the final name there is a whole dataset or none.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from synthbench.dataset import MANIFEST, Dataset
from synthbench.errors import DatasetError, ExhaustedError, SynthbenchError, UsageError
from synthbench.files import read_regular, reason_against
from synthbench.findings import one_line, short
from synthbench.jsonforms import ANYTHING, TEXT, check_form, read_json

_COMMAND = "command.json"
_PROGRESS = "progress.json"
_LOCK = "lock"
#: Bytes of either file that are read, at most.
_LARGEST_NOTE = 1 << 26


def finished(path: Path) -> Dataset | None:
    """The finished dataset at a place, None where there is nothing yet.

    Raises:
        UsageError: the place is taken by something else.
        DatasetError: there is a dataset whose manifest cannot be read.
    """
    if not path.exists() and not path.is_symlink():
        return None
    if not path.is_dir():
        raise UsageError(f"Output {str(path)!r} is a file; name a directory that is not there yet.")
    if not any(path.iterdir()):
        return None
    if not (path / MANIFEST).is_file():
        raise UsageError(
            f"Output {str(path)!r} holds something else (no {MANIFEST}); "
            "name a directory that is empty or not there yet."
        )
    return Dataset.open(path)


class Workplace:
    """The hidden directory in which a dataset is made; this process alone has it.

    Attributes:
        path: the hidden directory.
        progress: what is finished, by variant and split; JSON values.
    """

    def __init__(self, path: Path, target: Path, lock: IO[str]) -> None:
        self.path = path
        self._target = target
        self._lock = lock
        self.progress: dict[str, Any] = _read_progress(path)

    def save(self, variant: str, split: str, record: dict[str, Any]) -> None:
        """Note what is finished of a split, to go on from there after an interruption."""
        self.progress.setdefault(variant, {})[split] = record
        noted = {"sha256": _checksum(self.progress), "progress": self.progress}
        write_json(self.path / _PROGRESS, noted)

    def publish(self, overwrite: bool) -> None:
        """Give the directory its final name; a dataset there before goes only after that.

        Raises:
            UsageError: something has appeared under the final name meanwhile.
        """
        old = self._target.with_name(f".{self._target.name}.old")
        replaced = finished(self._target) is not None
        if replaced and not overwrite:
            raise UsageError(f"Output {str(self._target)!r} has appeared meanwhile; left alone.")
        for name in (_COMMAND, _PROGRESS):
            (self.path / name).unlink(missing_ok=True)
        if replaced:
            shutil.rmtree(old, ignore_errors=True)  # of a run that was killed just here
            self._target.rename(old)
        elif self._target.exists():
            self._target.rmdir()  # empty: `finished` has looked
        (self.path / _LOCK).unlink()
        try:
            self.path.rename(self._target)
        except OSError:
            if replaced:
                old.rename(self._target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _read_progress(directory: Path) -> dict[str, Any]:
    """What an interrupted run has noted; nothing, if that is not as it was written."""
    try:
        noted = read_json(read_regular(directory, _PROGRESS, _LARGEST_NOTE))
        check_form(noted, {"sha256": TEXT, "progress": ANYTHING}, _PROGRESS)
    except (DatasetError, ValueError):
        return {}
    progress: dict[str, Any] = noted["progress"]
    return progress if _checksum(progress) == noted["sha256"] else {}


def _checksum(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


@contextlib.contextmanager
def open_workplace(target: Path, command: dict[str, Any], overwrite: bool) -> Iterator[Workplace]:
    """Take hold of the workplace for a dataset, new or left by an interrupted run.

    Args:
        target: the final directory.
        command: what is to be made; an interrupted run of another command is refused.
        overwrite: whether an interrupted run of another command may be thrown away.

    Raises:
        UsageError: the place cannot be written, another run is at work there, or an interrupted
            run of another command lies there.
    """
    if target.is_mount():
        raise UsageError(
            f"Output {str(target)!r} is a mount point, which cannot be replaced as a whole; "
            "name a directory inside it."
        )
    path = target.with_name(f".{target.name}.partial")
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / _LOCK).open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"Output {str(target)!r} cannot be written: {error.strerror or error}."
        ) from None
    with lock:
        if not _lock(lock):
            raise UsageError(f"Another run is at work on {str(target)!r}; wait until it is done.")
        _check_command(path, target, command, overwrite)
        try:
            yield Workplace(path, target, lock)
        except ExhaustedError:
            shutil.rmtree(path)  # there is nothing to go on with
            raise


def _check_command(path: Path, target: Path, command: dict[str, Any], overwrite: bool) -> None:
    if reason_against(path, _COMMAND) != "missing":
        try:
            begun = read_json(read_regular(path, _COMMAND, _LARGEST_NOTE))
        except (DatasetError, ValueError) as error:
            begun = f"not to be told: {error}"
        if begun == command:
            return
        if not overwrite:
            raise UsageError(
                f"An interrupted run of another command lies in {str(path)!r} "
                f"({describe_difference(begun, command)}); run that one to its end, name another "
                "--out, or throw it away with --overwrite."
            )
    for entry in path.iterdir():
        if entry.name != _LOCK:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    write_json(path / _COMMAND, command)


def describe_difference(begun: Any, command: dict[str, Any]) -> str:
    """In which entries two commands differ, for people; the first may be whatever a file holds."""
    if not isinstance(begun, dict):
        return f"which one is {one_line(str(begun))}"
    parts = []
    for name in command:
        there, asked = begun.get(name), command[name]
        if there == asked or name == "tables":
            continue  # tables follow from the rest, or from source images
        if isinstance(there, dict) and isinstance(asked, dict):
            keys = [key for key in {**there, **asked} if there.get(key) != asked.get(key)]
            there = {key: there.get(key) for key in keys}
            asked = {key: asked.get(key) for key in keys}
        parts.append(f"{name}: {short(there)} there, {short(asked)} asked for")
    return "; ".join(parts) or "made from other source images"


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


def write_json(path: Path, values: Any) -> None:
    """Write JSON values to a file that is whole at every moment; raises as `write_text`."""
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file that is whole at every moment.

    Raises:
        SynthbenchError: it cannot be written.
    """
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise write_failure(path, error) from error


def write_failure(path: Path, error: OSError) -> SynthbenchError:
    """The error for a file of a dataset that cannot be written."""
    if error.errno == errno.ENOSPC:
        return SynthbenchError(
            f"No space left on the device while writing {path}; what is finished is kept "
            "beside. Make room and run the same command to go on."
        )
    return SynthbenchError(f"{path} cannot be written: {error.strerror or error}")


def check_whole(dataset: Dataset) -> None:
    """Make sure that every shard of a finished dataset is there with its size.

    Raises:
        DatasetError: a shard is missing or has another size, by name.
    """
    for splits in dataset.manifest.variants.values():
        for split in splits.values():
            for shard in split.shards:
                file = dataset.path / shard.file
                there = reason_against(dataset.path, shard.file) is None
                if not there or file.stat().st_size != shard.bytes:
                    raise DatasetError(
                        f"{file} is missing or has another size than the manifest says; make the "
                        "dataset again with --overwrite."
                    )
