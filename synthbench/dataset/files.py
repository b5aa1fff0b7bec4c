"""Reading regular files of a directory that somebody else may have made, and nothing outside it.

A dataset from elsewhere may hold links that lead out of it, pipes on which a reader would wait for
ever, or files that grow while they are read. Every reader of a dataset asks here first.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from synthbench.errors import DatasetError

#: What a file or directory of a dataset may be called: nothing that leads elsewhere.
PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_PLAIN_PATH = re.compile(rf"{PLAIN_NAME}(/{PLAIN_NAME})*")


def regular_file(directory: Path, name: str) -> Path:
    """The path of a regular file of a directory.

    Args:
        directory: the directory; it may be a link itself, as its caller has named it.
        name: the file's path in it, with slashes.

    Raises:
        DatasetError: it is missing, or it or a directory above it is something else, say a link.
    """
    if (reason := why_unreadable(directory, name)) is not None:
        raise DatasetError(f"{directory / name} is {reason}.")
    return directory / name


def why_unreadable(directory: Path, name: str) -> str | None:
    """Why a file of a directory cannot be read, such as "missing"; None if it can.

    Links are looked at, never followed, so that nothing outside the directory is touched.
    """
    if not _PLAIN_PATH.fullmatch(name):
        return "no path in a dataset"
    path = directory
    mode = stat.S_IFDIR
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
    return None if stat.S_ISREG(mode) else "no regular file"


def read_regular(directory: Path, name: str, most: int) -> bytes:
    """The bytes of a regular file.

    Args:
        directory: as in `regular_file`.
        name: as in `regular_file`.
        most: largest size that is read, in bytes.

    Raises:
        DatasetError: as in `regular_file`; also if it is larger or cannot be read.
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

    Args:
        directory: as in `regular_file`.
        name: the directory in it; if it is a link or a file, it is the only entry.

    Yields:
        Paths in `directory`, with slashes, in order; also directories that cannot be read.
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
