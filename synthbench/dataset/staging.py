"""A dataset directory is made in a hidden directory beside its final path, then renamed.

Whenever the run is killed, the final name has a whole dataset or does not exist, and the finished
parts stay in the hidden directory. See `staging_directory` for its layout.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from synthbench.checks import check_replaceable, claim_output
from synthbench.dataset import staging_directory
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import (
    NO_ROOM,
    flush,
    flush_entry,
    read_json,
    read_regular,
    why_unreadable,
    write_failure,
    write_json,
)
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

#: Largest size, in bytes, of a note about a run that is read.
_LARGEST_NOTE = 1 << 26


def finished(path: Path) -> DatasetDirectory | None:
    """The finished dataset at a path, None if nothing is there yet. Changes nothing.

    Raises:
        UsageError: something else is there.
        DatasetError: a dataset is there whose manifest cannot be read, or that an interrupted run
            moved aside.
    """
    if staging_directory.is_being_replaced(path) or claim_output(path, MANIFEST):
        return DatasetDirectory.open(path)  # or, if it was moved aside, an error that says where
    return None


def made_before(target: Path, command: dict[str, Any], overwrite: bool) -> DatasetDirectory | None:
    """The finished dataset that the same command made; None if it is still to be made.

    First this repairs what a killed run left. See `staging_directory.repair`.

    Args:
        target: the dataset directory.
        command: the request, as `Manifest.command` gives it.
        overwrite: whether to replace a finished dataset, whatever command made it.

    Raises:
        UsageError: another run is at work there; `target` is another dataset, something else, or
            the working directory.
        DatasetError: the dataset cannot be read, lacks a shard, or cannot be moved back.
    """
    if not staging_directory.repair(
        target
    ):  # the other run may be replacing the dataset at this moment
        raise _at_work(target)
    there = finished(target)
    if there is None or overwrite:
        check_replaceable(target)
        return None
    check_same_command(target, "dataset", there.manifest.command(), command)
    check_whole(there)
    return there


class Staging:
    """The hidden directory in which a dataset is made, locked by this process.

    Attributes:
        path: the directory that will be the dataset.
        finished: what an interrupted run noted as finished, in order, as JSON values.
    """

    def __init__(self, staging: Path, target: Path, lock: IO[str]) -> None:
        self._staging, self._target, self._lock = staging, target, lock
        self.path = staging / staging_directory.DATASET
        self.finished = _read_notes(staging / staging_directory.FINISHED)

    def note(self, record: dict[str, Any]) -> None:
        """Note that something is finished, so that an interrupted run can resume there.

        A line begins with a line break: a line before it that was cut off spoils no other.

        Raises:
            SynthbenchError: the note cannot be written, or the staging directory was removed
                meanwhile.
        """
        self._check_held()
        file, line = self._staging / staging_directory.FINISHED, json.dumps(record)
        try:
            with file.open("a", encoding="utf-8") as notes:
                notes.write(f"\n{_checksum(line)} {line}\n")
        except OSError as error:
            raise write_failure(file, error) from error

    def publish(self, overwrite: bool) -> None:
        """Give the directory its final name, then remove the dataset that it replaces, if any.

        Raises:
            UsageError: something has appeared under the final name meanwhile.
            SynthbenchError: files have disappeared, or the directory cannot be renamed.
        """
        self._check_held()
        replaced = finished(self._target) is not None
        if replaced and not overwrite:
            raise _appeared(self._target)
        # First, so that a power cut cannot leave the new name without its data.
        flush(self.path)
        # Last: flushing took a while, and files may have disappeared.
        try:
            check_whole(DatasetDirectory.open(self.path), "run the same command again")
        except MissingPathError:  # its text would blame the command
            raise self._removed() from None
        with defer_signals():
            self._give_name(replaced)
            with contextlib.suppress(OSError):  # the next run removes the rest
                staging_directory.remove(self._staging)

    def _give_name(self, replaced: bool) -> None:
        try:
            if replaced:
                self._target.rename(self._staging / staging_directory.OLD)
            elif self._target.exists():
                self._target.rmdir()  # empty: `finished` has looked
            self.path.rename(self._target)
            flush_entry(self._target.parent)
        except OSError as error:
            raise SynthbenchError(
                f"{self._target} cannot be created: {error.strerror or error}. The complete "
                f"dataset is in {self.path}. Remove what is in the way and "
                "run the same command again."
            ) from error
        finally:
            staging_directory.restore(self._staging, self._target)

    def _check_held(self) -> None:
        if not staging_directory.is_held(self._staging, self._lock):
            raise self._removed()

    def _removed(self) -> SynthbenchError:
        return SynthbenchError(
            f"{self._staging}, where the dataset is made, was removed during the run; "
            "run the same command again."
        )


def _read_note(staging: Path, name: str) -> dict[str, Any] | None:
    """A JSON object beside the dataset; None if it is missing or damaged, as by a power cut."""
    try:
        values = read_json(read_regular(staging, name, _LARGEST_NOTE))
    except (DatasetError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def _read_notes(file: Path) -> list[dict[str, Any]]:
    """The records that `Staging.note` wrote. Lines that a power cut damaged are left out."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError:
        return []
    parted = (line.decode("utf-8", "replace").partition(" ") for line in lines)
    return [json.loads(record) for sum_, _, record in parted if sum_ == _checksum(record)]


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def open_staging(target: Path, command: dict[str, Any], overwrite: bool) -> Iterator[Staging]:
    """Lock the staging directory of a dataset, new or left by an interrupted run.

    Args:
        target: the final directory.
        command: the request.
        overwrite: whether to replace a finished dataset, or to throw away an interrupted run of
            another command.

    Raises:
        UsageError: the directory cannot be written, another run is at work there, a dataset has
            appeared, or another command's run was interrupted there.
    """
    if target.is_mount():
        raise UsageError(
            f"Output {str(target)!r} is a mount point, which cannot be replaced as a whole; "
            "name a directory inside it."
        )
    staging = staging_directory.staging_of(target)
    try:
        staging.mkdir(parents=True, exist_ok=True)
        lock = staging_directory.hold(staging)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise write_failure(staging, error) from error
        raise UsageError(
            f"Output {str(target)!r} cannot be written: {error.strerror or error}."
        ) from None
    if lock is None:
        raise _at_work(target)
    with lock:
        staging_directory.restore(staging, target)
        if not overwrite and finished(target) is not None:
            if not (staging / staging_directory.DATASET).exists():
                staging_directory.remove(staging)
            raise _appeared(target)
        _check_command(staging, command, overwrite)
        try:
            yield Staging(staging, target, lock)
        except SynthbenchError as error:
            dataset = staging / staging_directory.DATASET
            # Without a shard there is nothing to resume, as when no engine could be opened.
            if isinstance(error, ExhaustedError) or (
                dataset.is_dir() and not any(dataset.iterdir())
            ):
                staging_directory.remove(staging)
            raise


def _at_work(target: Path) -> UsageError:
    return UsageError(f"Another run is writing {str(target)!r}. Wait until it has finished.")


def _appeared(target: Path) -> UsageError:
    return UsageError(
        f"Another program created {str(target)!r} while this run was working. It was not changed."
    )


def _check_command(staging: Path, command: dict[str, Any], overwrite: bool) -> None:
    """Keep what an interrupted run of the same command left. Otherwise start afresh."""
    begun = _read_note(staging, staging_directory.COMMAND)
    dataset = staging / staging_directory.DATASET
    if begun == command and dataset.is_dir():
        return
    if begun not in (None, command) and not overwrite:
        raise UsageError(
            f"An interrupted run of another command is in {str(staging)!r} "
            f"({describe_difference(begun, command)}). Finish that run, name another "
            "--out, or discard it with --overwrite."
        )
    staging_directory.clear(staging)
    try:
        dataset.mkdir()
    except OSError as error:
        raise write_failure(dataset, error) from error
    write_json(staging / staging_directory.COMMAND, command)


def check_same_command(
    target: Path, what: str, there: dict[str, Any], command: dict[str, Any]
) -> None:
    """Check that `what` is at a path, such as a dataset, was made by the command asked for.

    Raises:
        UsageError: it was made by another command.
    """
    if there != command:
        raise UsageError(
            f"Output {str(target)!r} holds another {what} ({describe_difference(there, command)}); "
            "name another --out, or replace it with --overwrite."
        )


def describe_difference(begun: Any, command: dict[str, Any]) -> str:
    """In which entries two commands differ, for messages; `begun` may be any JSON value."""
    if not isinstance(begun, dict):
        return f"it was {one_line(str(begun))}"
    # Tables follow from the rest, or from source images.
    names = [name for name in command if name != "tables"]
    parts = [part for name in names for part in _differences(name, begun.get(name), command[name])]
    return "; ".join(parts) or "made from other source images"


def _differences(name: str, there: Any, wanted: Any) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(wanted, dict):
        for key in {**there, **wanted}:
            yield from _differences(f"{name} {key}", there.get(key), wanted.get(key))
    elif there != wanted:
        yield f"{name}: {short(there)} there, {short(wanted)} asked for"


def check_whole(
    dataset: DatasetDirectory, remedy: str = "make the dataset again with --overwrite"
) -> None:
    """Make sure that every shard of a finished dataset is there with its size.

    Raises:
        DatasetError: a shard is missing or has another size. The text names it and the remedy.
    """
    for shard in dataset.manifest.all_shards():
        file = dataset.path / shard.file
        there = why_unreadable(dataset.path, shard.file) is None
        if not there or file.stat().st_size != shard.bytes:
            raise DatasetError(
                f"{file} is missing or has another size than the manifest says; {remedy}."
            )
