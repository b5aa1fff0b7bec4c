"""The directories in which source images are searched for."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from synthbench.errors import MissingPathError, MissingSourceError, UsageError, unknown_name

#: The environment variable that names the directory; worker processes inherit it.
SOURCE_VARIABLE = "SYNTHBENCH_DATA"
#: Hands on to worker processes what `use_source_dir` was given, as JSON.
_GIVEN_VARIABLE = "SYNTHBENCH_SOURCE_DIRS"
#: The sources that torchvision can download, by their names in `NAME=DIR`.
SETS = ("mnist", "fashion", "cifar")
#: A source with this prefix is a tree of class folders.
FOLDER = "folder:"

#: A directory, several of them (a string may be `NAME=DIR`), or the directory of each source.
SourceDir = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, str | Path]


class _Given(NamedTuple):
    """What `--source-dir` or `source_dir` named.

    Attributes:
        directories: the directories to search, in order.
        named: by the name of a source, such as `mnist` or `folder:PATH`, its only directory.
    """

    directories: list[str]
    named: dict[str, str]


def source_dirs() -> list[Path]:
    """The directories to search for sources, in order.

    They are those that `use_source_dir` was given, else the directory that `SYNTHBENCH_DATA` names,
    else the user's cache.
    """
    if given := _given().directories:
        return [Path(path) for path in given]
    if chosen := os.environ.get(SOURCE_VARIABLE):
        return [Path(chosen).expanduser()]
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return [Path(cache).expanduser() / "synthbench"]


def named_source(name: str) -> Path | None:
    """The directory that was given for one source by its name, or None."""
    path = _given().named.get(name)
    return None if path is None else Path(path)


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
    """Refuse class folders outside the source directories.

    This is for folders that a dataset names, because a dataset may come from anybody.

    Raises:
        MissingSourceError: they are elsewhere or do not exist.
        UsageError: the path begins with the home directory of an unknown user.
    """
    named = named_source(FOLDER + place)
    if named is not None and named.is_dir():
        return
    path = Path(os.path.normpath(expanded(place)))
    roots = [Path(os.path.normpath(root.absolute())) for root in source_dirs()]
    # Do not touch anything outside the roots, not even to see whether it exists.
    inside = [root / path for root in roots if (root / path).is_relative_to(root)]
    if path.parts[:1] != ("..",) and any(candidate.is_dir() for candidate in inside):
        return
    where = named or ", ".join(map(str, roots))
    # An option that can be copied; whoever made the dataset knows whether the place is right.
    now = shlex.quote(str(path)) if path.is_absolute() and named is None else "DIR"
    raise MissingSourceError(
        f"Class folders {place!r}, which the dataset names, are not in {where}; folders that a "
        f"dataset names are searched for nowhere else.\nAdd --source-dir "
        f"{shlex.quote(FOLDER + place)}={now} if they are there, or in another DIR now, or "
        "--source-dir DIR for a directory above them (the option may be repeated)."
    )


@contextlib.contextmanager
def use_source_dir(given: SourceDir | None) -> Iterator[None]:
    """Search for source images where `given` says, within a `with` block.

    Args:
        given: a directory; several, where a string may be `NAME=DIR`; or a mapping from the names
            of sources to directories. A name is `mnist`, `fashion`, `cifar` or `folder:PATH`.
            Sources that are not named are searched for in the other directories, or if there are
            none in `SYNTHBENCH_DATA`, else the user's cache. None changes nothing.

    Raises:
        UsageError: an unknown source, a source named twice, or an empty path.
        MissingPathError: a directory does not exist.
    """
    if not given and given != "":
        yield
        return
    parsed, before = _parse(given), carried_source_dirs()
    carry_source_dirs(json.dumps(parsed))
    try:
        yield
    finally:
        carry_source_dirs(before)


def carried_source_dirs() -> str | None:
    """What `use_source_dir` was given, as text for a worker elsewhere; None outside a block."""
    return os.environ.get(_GIVEN_VARIABLE)


def carry_source_dirs(carried: str | None) -> None:
    """Search where another process does, given its `carried_source_dirs`."""
    if carried is None:
        os.environ.pop(_GIVEN_VARIABLE, None)
    else:
        os.environ[_GIVEN_VARIABLE] = carried


def _given() -> _Given:
    return _Given(*json.loads(carried_source_dirs() or "[[], {}]"))


def _parse(given: SourceDir) -> _Given:
    if isinstance(given, str | os.PathLike):
        given = [given]
    pairs = (
        [(_check_name(name), path) for name, path in given.items()]
        if isinstance(given, Mapping)
        else [_name_and_path(word) for word in given]
    )
    parsed = _Given([], {})
    for name, path in pairs:
        text = os.fspath(path)
        if not text:
            raise UsageError("Source directory '': expected a path.")
        directory = expanded(text).absolute()
        if not directory.is_dir():
            raise MissingPathError(f"Source directory {text!r}: there is no such directory.")
        if name is None:
            parsed.directories.append(str(directory))
        elif name in parsed.named:
            raise UsageError(
                f"Source directory {name}={text}: {name} is given already, as "
                f"{parsed.named[name]!r}."
            )
        else:
            parsed.named[name] = str(directory)
    return parsed


def _name_and_path(word: str | os.PathLike[str]) -> tuple[str | None, str | os.PathLike[str]]:
    """A value of `--source-dir`: `NAME=DIR`, or a directory, which may have a `=` in its name."""
    if not isinstance(word, str) or "=" not in word:
        return None, word
    # The path of class folders may have a `=`; the last one ends it.
    name, _, path = word.rpartition("=") if word.startswith(FOLDER) else word.partition("=")
    is_path = os.sep in name or Path(word).is_dir()
    if is_path and name not in SETS and not name.startswith(FOLDER):
        return None, word
    return _check_name(name), path


def _check_name(name: str) -> str:
    if name not in SETS and (not name.startswith(FOLDER) or name == FOLDER):
        raise unknown_name("source", name, [*SETS, f"{FOLDER}PATH"])
    return name
