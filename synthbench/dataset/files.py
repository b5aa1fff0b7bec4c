"""Files of a dataset: only regular files inside it are read, and every file is written atomically.

A dataset from elsewhere may hold links that lead out of it, pipes that a reader would wait on for
ever, or files that grow while they are read. All code that reads a dataset's files calls this
module first.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synthbench.errors import DatasetError, SynthbenchError

#: What a file or directory of a dataset may be called: nothing that leads elsewhere.
PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_PLAIN_PATH = re.compile(rf"{PLAIN_NAME}(/{PLAIN_NAME})*")


def regular_file(directory: Path, name: str) -> Path:
    """The path of a regular file in a directory.

    Args:
        directory: the directory; it may be a link itself, since the caller has named it.
        name: the file's path in it, with slashes.

    Raises:
        DatasetError: the file is missing, or it or a directory on the way is something else, such
            as a link.
    """
    if (reason := why_unreadable(directory, name)) is not None:
        raise DatasetError(f"{directory / name} is {reason}.")
    return directory / name


def why_unreadable(directory: Path, name: str) -> str | None:
    """Why a file of a directory cannot be read, such as "missing"; None if it can.

    Links are looked at, never followed, so that nothing outside the directory is touched.
    """
    if not _PLAIN_PATH.fullmatch(name):
        return "not a path in a dataset"
    path, mode = directory, stat.S_IFDIR
    for part in name.split("/"):
        if not stat.S_ISDIR(mode):
            return "missing"
        path = path / part
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return "missing"
        except OSError as error:
            return f"out of reach: {error.strerror}"
        if stat.S_ISLNK(mode):
            which = "a link" if path == directory / name else f"behind the link {path}"
            return f"{which}, and links are not followed (from the Hub, download to a local_dir)"
    return None if stat.S_ISREG(mode) else "not a regular file"


def read_regular(directory: Path, name: str, most: int) -> bytes:
    """The bytes of a `regular_file`.

    Raises:
        DatasetError: as in `regular_file`; also if the file has more than `most` bytes or cannot
            be read.
    """
    path = regular_file(directory, name)
    try:
        if (size := path.stat().st_size) > most:
            raise DatasetError(f"{path} has {size:,} bytes; at most {most:,} are read.")
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None


def entries_below(directory: Path, name: str) -> Iterator[str]:
    """Files under `directory/name`, recursively; links are listed, not followed.

    Yields:
        Paths relative to `directory`, with slashes, in order; also directories that cannot be
        read. If `name` is a file or a link, it is the only entry.
    """
    waiting = [name]
    while waiting:
        place = waiting.pop()
        try:
            if not stat.S_ISDIR((directory / place).lstat().st_mode):
                yield place
                continue
            names = [entry.name for entry in (directory / place).iterdir()]
        except FileNotFoundError:
            continue
        except OSError:
            yield place
            continue
        waiting += [f"{place}/{entry}" for entry in sorted(names, reverse=True)]


# Writing.

#: Errors that mean that the disk is full, and how messages name them.
NO_ROOM = {
    errno.ENOSPC: "No space left on the device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EFBIG: "Largest size of a file exceeded (ulimit -f)",
}


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
            f"{NO_ROOM[error.errno]} while writing {path}; what is finished is kept beside. "
            "Make room and run the same command to go on."
        )
    # Arrow's own messages are longer than a line.
    reason = os.strerror(error.errno) if error.errno else error
    return SynthbenchError(
        f"{path} cannot be written: {reason}. What is finished is kept beside; "
        "run the same command to go on."
    )
