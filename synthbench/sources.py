"""Where source images lie, for the tasks that are made from images."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from synthbench.errors import UsageError

#: The environment variable that names the directory; worker processes inherit it.
SOURCE_VARIABLE = "SYNTHBENCH_DATA"


def source_dir() -> Path:
    """The directory of the sources: `SYNTHBENCH_DATA`, else the user's cache."""
    if chosen := os.environ.get(SOURCE_VARIABLE):
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "synthbench"


def expanded(place: str) -> Path:
    """A path with its `~` replaced.

    Raises:
        UsageError: there is no such user.
    """
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise UsageError(f"Path {place!r}: {error}") from None


def check_place(place: str) -> None:
    """Refuse a directory that is not in the directory of the sources.

    Asked of what a dataset names itself, which may come from anybody.

    Raises:
        UsageError: it lies elsewhere, or is missing.
    """
    root = os.path.normpath(source_dir().absolute())
    path = Path(os.path.normpath(root / expanded(place)))
    if not path.is_relative_to(root) or not path.is_dir():
        raise UsageError(
            f"Class folders {place!r} are not in {root}, and what a dataset names itself is "
            f"looked for only there.\nName a directory above them with --source-dir or "
            f"{SOURCE_VARIABLE}."
        )


@contextlib.contextmanager
def use_source_dir(path: str | Path | None) -> Iterator[None]:
    """Look for source images in `path` for the length of a `with` block; None changes nothing."""
    if path is None:
        yield
        return
    before = os.environ.get(SOURCE_VARIABLE)
    os.environ[SOURCE_VARIABLE] = str(Path(path).absolute())
    try:
        yield
    finally:
        if before is None:
            del os.environ[SOURCE_VARIABLE]
        else:
            os.environ[SOURCE_VARIABLE] = before
