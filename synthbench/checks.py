"""Checks of arguments: names, whole numbers, paths, libraries. Each raises or returns."""

from __future__ import annotations

import contextlib
import errno
import operator
import os
from collections.abc import Collection, Iterator
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING

from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.text.lines import short

if TYPE_CHECKING:
    from pathlib import Path


@contextlib.contextmanager
def needs(what: str, library: str, extra: str) -> Iterator[None]:
    """A `with` block that imports a library of an extra.

    Args:
        what: what needs the library. The error begins with it.
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


def check_name(kind: str, name: object, allowed: Collection[str]) -> None:
    """Make sure that a name exists. Only texts are names.

    Raises:
        UsageError: as `unknown_name` makes it.
    """
    if not (isinstance(name, str) and name in allowed):
        raise unknown_name(kind, name, allowed)


def whole_number(value: object) -> int | None:
    """A value as an `int` if it is a whole number, also one of NumPy; None if not, as for True."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def real_number(value: object) -> float | None:
    """A value as a `float` if it is a real number, also of NumPy; None if not, as for True.

    An array or tensor without dimensions is a number, too.
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    number = value if isinstance(value, Real | Decimal) else whole_number(value)
    if number is None or isinstance(number, bool):
        return None
    try:
        return float(number)
    except (OverflowError, ValueError):  # more than a float can hold, or a signalling NaN
        return None


def check_whole_number(what: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number, as an `int`, that is within its limits.

    Args:
        what: the option's name in an error.
        value: the value given, whatever `whole_number` takes.
        least: the smallest number that is allowed.
        most: the largest number that is allowed; None for 2**64 - 1, which nothing reaches.

    Raises:
        UsageError: the value is not allowed.
    """
    number = whole_number(value)
    if most is None and number is not None and number >= 2**64:
        most = 2**64 - 1
    if number is None or number < least or (most is not None and number > most):
        limits = f"from {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{what} {short(value)}: allowed are whole numbers {limits}.")
    return number


def usable_path(what: str, path_like: str | os.PathLike[str]) -> Path:
    """A path that the file system accepts, whether or not it exists.

    Args:
        what: the path's name in an error, such as "Output".
        path_like: the path. Its bytes need not be UTF-8; Python keeps other bytes as surrogates.

    Raises:
        UsageError: it is not text, is too long, has a character that no path can have, leads along
            links in a circle, or is relative while the working directory is gone.
    """
    from pathlib import Path  # late: a stream needs no paths

    try:
        path = Path(path_like)
    except TypeError:
        raise UsageError(f"{what} {short(path_like)}: expected a path.") from None
    try:
        path.absolute()
    except FileNotFoundError:
        raise UsageError(
            f"{what} {short(str(path))}: the working directory is gone. Name an absolute path."
        ) from None
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(
                f"{what} {short(str(path))} cannot be used: its links lead in a circle."
            ) from None
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
        mark: the file by which our own output is known. None if it may be missing.
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


def check_replaceable(output: Path) -> None:
    """Make sure that a directory which is replaced as a whole is not the working directory.

    Renaming would leave the caller's shell in a directory that has gone.

    Raises:
        UsageError: it is.
    """
    if output.exists() and output.samefile("."):
        raise UsageError(
            f"Output {str(output)!r} is the working directory, which cannot be replaced; "
            "name another directory."
        )
