"""The directories in which source images are searched for."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from synthbench.errors import MissingPathError, MissingSourceError, UsageError, unknown_name
from synthbench.text.lines import short

#: The environment variable that names the directory. Worker processes inherit it.
SOURCE_VARIABLE = "SYNTHBENCH_DATA"
#: The sources that torchvision can download, by their names in `NAME=DIR`.
SETS = ("mnist", "fashion", "cifar")
#: A source with this prefix is a tree of class folders.
FOLDER = "folder:"

#: A directory, several of them (a string may be `NAME=DIR`), or the directory of each source.
SourceDir = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, str | Path]


@dataclasses.dataclass(frozen=True)
class SourceDirs:
    """The directories that are searched for a task's source images.

    Attributes:
        directories: the directories to search, in order. If empty, the directory that
            `SYNTHBENCH_DATA` names, else the user's cache.
        named: the only directory of a source, as pairs of the source's name, such as `mnist` or
            `folder:PATH`, and the directory.
    """

    directories: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, source_dir: SourceDir | SourceDirs) -> SourceDirs:
        """The source directories that a user gives.

        Args:
            source_dir: a directory, several, where a string may be `NAME=DIR`, or a mapping from
                the names of sources to directories. A name is `mnist`, `fashion`, `cifar` or
                `folder:PATH`.

        Raises:
            UsageError: an unknown source, a source named twice, or an empty path.
            MissingPathError: a directory does not exist.
        """
        if isinstance(source_dir, SourceDirs):
            return source_dir
        if isinstance(source_dir, str | os.PathLike):
            source_dir = [source_dir]
        if not isinstance(source_dir, Iterable):
            raise UsageError(f"Source directory {short(source_dir)}: expected a path.")
        pairs = (
            [(_check_name(name), path) for name, path in source_dir.items()]
            if isinstance(source_dir, Mapping)
            else [_name_and_path(word) for word in source_dir]
        )
        directories: list[str] = []
        named: dict[str, str] = {}
        for name, path in pairs:
            if not (isinstance(path, str | os.PathLike) and (text := str(path))):
                raise UsageError(f"Source directory {short(path)}: expected a path.")
            directory = expanded(text).absolute()
            if not directory.is_dir():
                raise MissingPathError(f"Source directory {text!r}: there is no such directory.")
            if name is None:
                directories.append(str(directory))
            elif name in named:
                raise UsageError(
                    f"Source directory {name}={text}: {name} is given already, as {named[name]!r}."
                )
            else:
                named[name] = str(directory)
        return cls(tuple(directories), tuple(named.items()))

    def __bool__(self) -> bool:
        return bool(self.directories or self.named)

    def roots(self) -> list[Path]:
        """The directories to search for sources without a directory of their own, in order."""
        if self.directories:
            return [Path(path) for path in self.directories]
        if directory := os.environ.get(SOURCE_VARIABLE):
            return [Path(directory).expanduser()]
        cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return [Path(cache).expanduser() / "synthbench"]

    def own(self, name: str) -> Path | None:
        """The directory that was given for this source alone, or None."""
        path = dict(self.named).get(name)
        return None if path is None else Path(path)

    def check_folder(self, folder: str) -> None:
        """Refuse class folders outside the source directories.

        This is for folders that a dataset names, because a dataset may come from strangers.

        Raises:
            MissingSourceError: they are elsewhere or do not exist.
            UsageError: the path begins with the home directory of an unknown user.
        """
        own = self.own(FOLDER + folder)
        if own is not None and own.is_dir():
            return
        path = Path(os.path.normpath(expanded(folder)))
        roots = [Path(os.path.normpath(root.absolute())) for root in self.roots()]
        # Do not touch anything outside the roots, not even to see whether it exists.
        inside = [root / path for root in roots if (root / path).is_relative_to(root)]
        if path.parts[:1] != ("..",) and any(candidate.is_dir() for candidate in inside):
            return
        where = own or ", ".join(map(str, roots))
        # An option that can be copied. Whoever made the dataset knows whether the path is right.
        now = shlex.quote(str(path)) if path.is_absolute() and own is None else "DIR"
        raise MissingSourceError(
            f"Class folders {folder!r}, which the dataset names, are not in {where}. Folders that "
            f"a dataset names are searched for nowhere else.\nAdd --source-dir "
            f"{shlex.quote(FOLDER + folder)}={now} if they are there, or in another DIR now, or "
            "--source-dir DIR for a directory above them (the option may be repeated)."
        )


#: Only those that the environment names.
DEFAULT_DIRS = SourceDirs()
_chosen = contextvars.ContextVar("source directories", default=DEFAULT_DIRS)


def chosen_source_dirs() -> SourceDirs:
    """The source directories of tasks that are made now: those of `use_source_dir`, if it is used.

    A task keeps the directories that were chosen when it was made, also in other processes.
    """
    return _chosen.get()


@contextlib.contextmanager
def use_source_dir(source_dir: SourceDir | SourceDirs | None) -> Iterator[None]:
    """Search for source images where `source_dir` says, for all tasks made within a `with` block.

    Args:
        source_dir: as in `SourceDirs.of`; None or nothing changes nothing.

    Raises:
        UsageError: an unknown source, a source named twice, or an empty path.
        MissingPathError: a directory does not exist.
    """
    if not source_dir and source_dir != "":
        yield
        return
    token = _chosen.set(SourceDirs.of(source_dir))
    try:
        yield
    finally:
        _chosen.reset(token)


def expanded(path: str) -> Path:
    """A path with its `~` replaced.

    Raises:
        UsageError: the user does not exist.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"Path {path!r}: {error}") from None


def _name_and_path(word: str | os.PathLike[str]) -> tuple[str | None, str | os.PathLike[str]]:
    """A value of `--source-dir`: `NAME=DIR`, or a directory, which may have a `=` in its name."""
    if not isinstance(word, str) or "=" not in word:
        return None, word
    # The path of class folders may have a `=`. The last one ends it.
    name, _, path = word.rpartition("=") if word.startswith(FOLDER) else word.partition("=")
    is_path = os.sep in name or Path(word).is_dir()
    if is_path and name not in SETS and not name.startswith(FOLDER):
        return None, word
    return _check_name(name), path


def _check_name(name: str) -> str:
    if name not in SETS and (not name.startswith(FOLDER) or name == FOLDER):
        raise unknown_name("source", name, [*SETS, f"{FOLDER}PATH"])
    return name
