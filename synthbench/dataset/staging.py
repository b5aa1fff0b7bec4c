"""How a dataset directory is made: beside its place, then renamed.

Whenever the run is killed, the final name has a whole dataset or none; finished parts lie beside
it until then. See `places` for what lies where.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from synthbench.dataset import places
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import read_regular, why_unreadable
from synthbench.dataset.forms import read_json
from synthbench.dataset.manifest import MANIFEST
from synthbench.engine.signals import defer_signals
from synthbench.errors import (
    DatasetError,
    ExhaustedError,
    MissingPathError,
    SynthbenchError,
    UsageError,
)
from synthbench.text.lines import one_line, short

#: Errors that mean the disk is full, not that the place is wrong.
_NO_ROOM = {
    errno.ENOSPC: "No space left on the device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EFBIG: "Largest size of a file exceeded (ulimit -f)",
}
#: Largest size, in bytes, of a note about a run that is read.
_LARGEST_NOTE = 1 << 26


def finished(path: Path) -> DatasetDirectory | None:
    """The finished dataset at a place, None where there is nothing yet; changes nothing.

    Raises:
        UsageError: the place is taken by something else.
        DatasetError: there is a dataset whose manifest cannot be read, or one that an interrupted
            run moved aside.
    """
    if places.is_being_replaced(path):
        return DatasetDirectory.open(path)  # whose error says where the dataset lies
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
    return DatasetDirectory.open(path)


def made_before(target: Path, command: dict[str, Any], overwrite: bool) -> DatasetDirectory | None:
    """The finished dataset that the same command made; None if it is still to be made.

    First it mends what a killed run left: a dataset that was moved aside to be replaced gets its
    name again; what lies beside a finished dataset is removed. `generate` alone does so; readers
    change nothing.

    Args:
        target: the dataset directory.
        command: what is to be made, as `Manifest.command` gives it.
        overwrite: whether a finished dataset is to be replaced, whatever made it.

    Raises:
        UsageError: the place is taken by another dataset, or by something else.
        DatasetError: a dataset there cannot be read, lacks a shard, or cannot be moved back.
    """
    places.put_back(target)
    if (target / MANIFEST).is_file():
        places.tidy(target)
    there = finished(target)
    if there is None or overwrite:
        return None
    made = there.manifest.command()
    if made != command:
        raise UsageError(
            f"Output {str(target)!r} holds another dataset "
            f"({describe_difference(made, command)}); name another --out, or replace it with "
            "--overwrite."
        )
    check_whole(there)
    return there


class Staging:
    """The hidden directory in which a dataset is made; this process alone has it.

    Attributes:
        path: the directory that will be the dataset.
        progress: what is finished, by variant and split; JSON values.
    """

    def __init__(self, place: Path, target: Path, lock: IO[str]) -> None:
        self._place, self._target, self._lock = place, target, lock
        self.path = place / places.DATASET
        self.progress: dict[str, Any] = _read_progress(place)

    def save(self, variant: str, split: str, record: dict[str, Any]) -> None:
        """Note what is finished of a split, to go on from there after an interruption.

        Raises:
            SynthbenchError: it cannot be written, or the staging directory was removed meanwhile.
        """
        self._check_held()
        self.progress.setdefault(variant, {})[split] = record
        noted = {"sha256": _checksum(self.progress), "progress": self.progress}
        write_json(self._place / places.PROGRESS, noted)

    def publish(self, overwrite: bool) -> None:
        """Give the directory its final name; an earlier dataset is removed only after that.

        Raises:
            UsageError: something has appeared under the final name meanwhile.
            SynthbenchError: files have gone, or the directory cannot be renamed.
        """
        self._check_held()
        replaced = finished(self._target) is not None
        if replaced and not overwrite:
            raise _appeared(self._target)
        # First, so that a power cut cannot leave the new name without its data.
        _flush(self.path)
        # Last: flushing took a while, and files may have disappeared.
        check_whole(self._made(), "run the same command again")
        with defer_signals():
            self._give_name(replaced)
            with contextlib.suppress(OSError):  # the next run removes the rest
                places.remove(self._place)

    def _made(self) -> DatasetDirectory:
        try:
            return DatasetDirectory.open(self.path)
        except MissingPathError:  # it would blame the command
            raise self._removed() from None

    def _give_name(self, replaced: bool) -> None:
        try:
            if replaced:
                self._target.rename(self._place / places.OLD)
            elif self._target.exists():
                self._target.rmdir()  # empty: `finished` has looked
            self.path.rename(self._target)
            _flush_entry(self._target.parent)
        except OSError as error:
            raise SynthbenchError(
                f"{self._target} cannot be put in place: {error.strerror or error}. The whole "
                f"dataset lies in {self.path}; make the place free and run the same command again."
            ) from error
        finally:
            places.restore(self._place, self._target)

    def _check_held(self) -> None:
        if not places.is_held(self._place, self._lock):
            raise self._removed()

    def _removed(self) -> SynthbenchError:
        return SynthbenchError(
            f"{self._place}, in which the dataset is made, was removed meanwhile; "
            "run the same command again."
        )


def _read_progress(place: Path) -> dict[str, Any]:
    """What an interrupted run has noted; nothing if the note is damaged."""
    noted = _read_note(place, places.PROGRESS)
    if noted is None or noted.get("sha256") != _checksum(noted.get("progress")):
        return {}
    progress: dict[str, Any] = noted["progress"]
    return progress


def _read_note(place: Path, name: str) -> dict[str, Any] | None:
    """A JSON object beside the dataset; None if it is missing or damaged, as by a power cut."""
    try:
        values = read_json(read_regular(place, name, _LARGEST_NOTE))
    except (DatasetError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def _checksum(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


@contextlib.contextmanager
def open_staging(target: Path, command: dict[str, Any], overwrite: bool) -> Iterator[Staging]:
    """Lock the staging directory of a dataset, new or left by an interrupted run.

    Args:
        target: the final directory.
        command: what is to be made; an interrupted run of another command is refused.
        overwrite: whether a finished dataset is to be replaced, or an interrupted run of another
            command thrown away.

    Raises:
        UsageError: the place cannot be written, another run is at work there, a dataset has
            appeared, or an interrupted run of another command lies there.
    """
    if target.is_mount():
        raise UsageError(
            f"Output {str(target)!r} is a mount point, which cannot be replaced as a whole; "
            "name a directory inside it."
        )
    place = places.workplace_of(target)
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = places.hold(place)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise write_failure(place, error) from error
        raise UsageError(
            f"Output {str(target)!r} cannot be written: {error.strerror or error}."
        ) from None
    if lock is None:
        raise UsageError(f"Another run is at work on {str(target)!r}; wait until it is done.")
    with lock:
        places.restore(place, target)
        if not overwrite and finished(target) is not None:
            if not (place / places.DATASET).exists():
                places.remove(place)
            raise _appeared(target)
        _check_command(place, command, overwrite)
        try:
            yield Staging(place, target, lock)
        except SynthbenchError as error:
            made = place / places.DATASET
            # Without a shard, as when no engine could be opened, there is nothing to resume either.
            if isinstance(error, ExhaustedError) or (made.is_dir() and not any(made.iterdir())):
                places.remove(place)
            raise


def _appeared(target: Path) -> UsageError:
    return UsageError(f"Output {str(target)!r} has appeared meanwhile; left alone.")


def _check_command(place: Path, command: dict[str, Any], overwrite: bool) -> None:
    """Prepare a staging directory for a command: resume what is there, or start anew."""
    begun = _read_note(place, places.COMMAND)
    dataset = place / places.DATASET
    if begun == command and dataset.is_dir():
        return
    if begun not in (None, command) and not overwrite:
        raise UsageError(
            f"An interrupted run of another command lies in {str(place)!r} "
            f"({describe_difference(begun, command)}); run that one to its end, name another "
            "--out, or throw it away with --overwrite."
        )
    places.clear(place)
    try:
        dataset.mkdir()
    except OSError as error:
        raise write_failure(dataset, error) from error
    write_json(place / places.COMMAND, command)


def _flush(directory: Path) -> None:
    """Flush a directory and everything in it to disk."""
    for entry in (*directory.rglob("*"), directory):
        _flush_entry(entry)


def _flush_entry(path: Path) -> None:
    """Flush one file, or the names in one directory, to disk."""
    if os.name != "posix":
        return  # elsewhere directories cannot be opened
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # missing files are noticed after this
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def describe_difference(begun: Any, command: dict[str, Any]) -> str:
    """In which entries two commands differ, for people; the first may be any JSON value."""
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


def write_json(path: Path, values: Any) -> None:
    """Write JSON values to a file atomically; raises as `write_text`."""
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    # Bytes of a path that are not UTF-8 are surrogates in Python, which JSON can escape.
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically.

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
    if error.errno in _NO_ROOM:
        return SynthbenchError(
            f"{_NO_ROOM[error.errno]} while writing {path}; what is finished is kept beside. "
            "Make room and run the same command to go on."
        )
    # Arrow's own messages are longer than a line.
    reason = os.strerror(error.errno) if error.errno else error
    return SynthbenchError(
        f"{path} cannot be written: {reason}. What is finished is kept beside; "
        "run the same command to go on."
    )


def check_whole(
    dataset: DatasetDirectory, remedy: str = "make the dataset again with --overwrite"
) -> None:
    """Make sure that every shard of a finished dataset is there with its size.

    Raises:
        DatasetError: a shard is missing or has another size, by name, and the remedy; or the
            dataset was replaced meanwhile.
    """
    splits = [split for variant in dataset.manifest.variants.values() for split in variant.values()]
    with dataset.unreplaced():
        for shard in itertools.chain.from_iterable(split.shards for split in splits):
            file = dataset.path / shard.file
            there = why_unreadable(dataset.path, shard.file) is None
            if not there or file.stat().st_size != shard.bytes:
                raise DatasetError(
                    f"{file} is missing or has another size than the manifest says; {remedy}."
                )
