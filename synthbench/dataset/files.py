"""Files of a dataset: one guard around every reader, and every file is written atomically.

Files may be damaged, so whatever a library raises while it reads one becomes an error that names
the file, and sizes are bounded. Nothing outside the dataset's directory is read.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synthbench.errors import DatasetError, SynthbenchError

#: Allowed names of a dataset's files and directories. They cannot lead elsewhere.
PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
#: How deep lists and objects may be nested, so that recursive code is safe.
DEEPEST = 32
_PLAIN_PATH = re.compile(rf"{PLAIN_NAME}(/{PLAIN_NAME})*")


def regular_file(directory: Path, name: str) -> Path:
    """The path of a regular file in a directory.

    Args:
        directory: the directory. It may be a link itself, since the caller has named it.
        name: the file's path in it, with slashes.

    Raises:
        DatasetError: the file is missing, or it or a directory on the way is something else, such
            as a link.
    """
    if (reason := why_unreadable(directory, name)) is not None:
        raise DatasetError(f"{directory / name} is {reason}.")
    return directory / name


def why_unreadable(directory: Path, name: str) -> str | None:
    """The reason why a file of a directory cannot be read, such as "missing". None if it can."""
    if not _PLAIN_PATH.fullmatch(name):
        return "not a path in a dataset"
    path = directory / name
    try:
        if not path.exists():
            return "missing"
        if not path.resolve().is_relative_to(directory.resolve()):
            return "a link out of the dataset, not followed (from the Hub, download to a local_dir)"
        if path.is_file():
            return None
        # Another process may have removed it since the first look.
        return "not a regular file" if path.exists() else "missing"
    except (OSError, RuntimeError) as error:  # before Python 3.13, links in a loop: RuntimeError
        return f"out of reach: {getattr(error, 'strerror', error)}"


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a library raises while it reads a file into an error that names the file.

    Raises:
        DatasetError: anything else was raised in the block.
    """
    try:
        yield
    except SynthbenchError:
        raise
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing.") from None
    except Exception as error:  # whatever pyarrow, yaml or json may raise
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DatasetError(f"{path} cannot be read: {' '.join(reason.split())}") from error


def read_regular(directory: Path, name: str, most: int) -> bytes:
    """The bytes of a `regular_file`.

    Raises:
        DatasetError: as in `regular_file`. Also if the file has more than `most` bytes or cannot
            be read.
    """
    path = regular_file(directory, name)
    with reading(path):
        if (size := path.stat().st_size) > most:
            raise DatasetError(f"{path} has {size:,} bytes. At most {most:,} are read.")
        return path.read_bytes()


def read_json(data: bytes, constants: bool = False) -> Any:
    """The value of a JSON text in UTF-8.

    Args:
        data: the text.
        constants: whether NaN and infinities are allowed, which JSON does not have.

    Raises:
        ValueError: it is not JSON, an object repeats a name, or it is nested more than 32 deep.
    """
    too_deep = ValueError(f"nested more than {DEEPEST} deep")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_object)
    except RecursionError:
        raise too_deep from None
    level = [value]
    for _ in range(DEEPEST + 1):
        if not constants and any(isinstance(x, float) and not math.isfinite(x) for x in level):
            raise ValueError("NaN and infinities are not numbers")
        lists = (
            x.values() if isinstance(x, dict) else x for x in level if isinstance(x, dict | list)
        )
        level = list(itertools.chain.from_iterable(lists))
        if not level:
            return value
    raise too_deep


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name appears more than once in an object")
    return values


# Writing.

#: Errors that mean that the disk is full, and how messages name them.
NO_ROOM = {
    errno.ENOSPC: "No space left on the device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EFBIG: "Largest size of a file exceeded (ulimit -f)",
}


def write_json(path: Path, values: Any) -> None:
    """Write JSON values to a file atomically. Raises as `write_text`."""
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    # Bytes of a path that are not UTF-8 are surrogates in Python, which JSON can escape.
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically. Raises as `writing`."""
    with writing(path) as beside:
        beside.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A path beside a file to write to. At the end of the block it takes the file's place.

    Raises:
        SynthbenchError: the file cannot be written.
    """
    beside = path.with_name(path.name + ".new")
    try:
        yield beside
        beside.replace(path)
    except OSError as error:
        raise write_failure(path, error) from error


def flush(directory: Path) -> None:
    """Flush a directory and everything in it to disk."""
    for entry in (*directory.rglob("*"), directory):
        flush_entry(entry)


def flush_entry(path: Path) -> None:
    """Flush one file, or the names in one directory, to disk."""
    if os.name != "posix":
        return  # other systems cannot open directories
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # `check_whole` reports missing files
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_failure(path: Path, error: OSError) -> SynthbenchError:
    """The error for a file of a dataset that cannot be written."""
    if error.errno in NO_ROOM:
        return SynthbenchError(
            f"{NO_ROOM[error.errno]} while writing {path}. Finished parts are kept. "
            "Make room and run the same command to continue."
        )
    # Arrow's own messages are longer than a line.
    reason = os.strerror(error.errno) if error.errno else error
    return SynthbenchError(
        f"{path} cannot be written: {reason}. Finished parts are kept. "
        "Run the same command to continue."
    )
