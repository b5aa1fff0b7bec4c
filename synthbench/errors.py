"""Errors are designed output: every class has an exit status, every text says what to do."""

from __future__ import annotations

import contextlib
import difflib
import errno
import operator
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from synthbench.text.lines import one_line, short


class SynthbenchError(Exception):
    """A check failed, data is bad, or the system refused an operation. Exit status 1.

    Its text may quote file names and values; control characters in them are escaped.
    """

    exit_status = 1

    def __str__(self) -> str:
        """The text, each line shortened, with control characters escaped."""
        return "\n".join(map(one_line, super().__str__().split("\n")))


class DatasetError(SynthbenchError):
    """A dataset directory, a shard or a predictions file is not what it should be."""


class ExhaustedError(SynthbenchError):
    """A split cannot be filled: its buckets have fewer rows than were asked for."""


class UsageError(SynthbenchError, ValueError):
    """Wrong usage: a name that does not exist, a place that cannot be used. Exit status 2."""

    exit_status = 2


class MissingPathError(UsageError, DatasetError):
    """A path that was given does not exist. Exit status 2: the command is wrong, not the data."""


class ParameterError(UsageError):
    """A parameter, or a combination of parameters, that is impossible."""


class TaskError(UsageError):
    """A task of another package is or gives what no task may. Exit status 1.

    The text names its attribute or method and what that gave.
    """

    exit_status = 1


class MissingSourceError(UsageError):
    """Source images were not found; `--source-dir` can name another place."""


@contextlib.contextmanager
def needs(what: str, library: str, extra: str) -> Iterator[None]:
    """A `with` block that imports a library of an extra.

    Args:
        what: what needs the library; the error begins with it.
        library: the library's name, for people.
        extra: the extra of this package that installs it.

    Raises:
        SynthbenchError: the library is not installed.
    """
    try:
        yield
    except ImportError:
        raise SynthbenchError(
            f"{what} needs {library}: pip install 'synthbench[{extra}]'."
        ) from None


def unknown_name(kind: str, name: object, allowed: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the allowed names and the nearest.

    Example:
        >>> from synthbench.errors import unknown_name
        >>> str(unknown_name("split", "tset", ["train", "test"]))
        "Unknown split 'tset'; allowed: train, test. Did you mean 'test'?"
    """
    names, given = list(allowed), repr(name) if isinstance(name, str) else short(name)
    lowered = {one.lower(): one for one in names}
    word = name.lower() if isinstance(name, str) else given
    nearest = difflib.get_close_matches(word, list(lowered), n=1, cutoff=0.5)
    hint = f" Did you mean {lowered[nearest[0]]!r}?" if nearest else ""
    return UsageError(f"Unknown {kind} {given}; allowed: {', '.join(names)}.{hint}")


def check_name(kind: str, name: object, allowed: Collection[str]) -> None:
    """Make sure that a name exists; whatever is no text is no name.

    Raises:
        UsageError: as `unknown_name` makes it.
    """
    if not (isinstance(name, str) and name in allowed):
        raise unknown_name(kind, name, allowed)


def whole_number(given: object) -> int | None:
    """A value as an `int` if it is a whole number, also one of NumPy; None if not, as for True."""
    if isinstance(given, bool):
        return None
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def check_whole_number(what: str, given: object, least: int, most: int | None = None) -> int:
    """A whole number, as an `int`, that is within its limits.

    Args:
        what: the option's name in an error.
        given: the value given, whatever `whole_number` takes.
        least: the smallest number that is allowed.
        most: the largest number that is allowed; None for 2**64 - 1, which nothing reaches.

    Raises:
        UsageError: the value is not allowed.
    """
    number = whole_number(given)
    if most is None and number is not None and number >= 2**64:
        most = 2**64 - 1
    if number is None or number < least or (most is not None and number > most):
        limits = f"from {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{what} {short(given)}: allowed are whole numbers {limits}.")
    return number


def usable_path(what: str, given: str | os.PathLike[str]) -> Path:
    """A path that the file system accepts, whether or not it exists.

    Args:
        what: the path's name in an error, such as "Output".
        given: the path. Its bytes need not be UTF-8; Python keeps other bytes as surrogates.

    Raises:
        UsageError: it is no path, is too long, has a character that no path can have, or is
            relative while the working directory is gone.
    """
    try:
        path = Path(given)
    except TypeError:
        raise UsageError(f"{what} {short(given)}: expected a path.") from None
    try:
        path.absolute()
    except FileNotFoundError:
        raise UsageError(
            f"{what} {short(str(path))}: the working directory is gone; name an absolute path."
        ) from None
    try:
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(
                f"{what} {short(str(path))}: the path is too long for its file system; "
                "name a shorter one."
            ) from None
    except ValueError as error:  # a null character, or a surrogate that stands for no byte
        raise UsageError(f"{what} {short(str(path))} cannot be a path: {error}.") from None
    return path


def claim_output(path: Path, mark: str | None = None, ours: Collection[str] = ()) -> bool:
    """Make sure that a command may write to a directory: it is new, empty or has our own output.

    Args:
        path: the directory.
        mark: the file by which our own output is known; None if there may be none.
        ours: names of files and directories that may be there without the mark.

    Returns:
        Whether our own output is there.

    Raises:
        UsageError: the path is a file, the directory holds other files or cannot be read.
    """
    output, remedy = f"Output {str(path)!r}", "name a directory that is empty or does not exist yet"
    try:
        if not os.path.lexists(path):
            return False
        if not path.is_dir():
            raise UsageError(f"{output} is a file; {remedy}.")
        if mark is not None and (path / mark).is_file():
            return True
        others = sorted(entry.name for entry in path.iterdir() if entry.name not in ours)
    except OSError as error:
        raise UsageError(f"{output} cannot be used: {error.strerror or error}.") from None
    if others:
        raise UsageError(f"{output} holds other files ({others[0]!r}); {remedy}.")
    return False
