"""Where in code from elsewhere something went wrong."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from typing import Any

#: The most characters of an error's text, and of what a model gave.
_LONGEST = 200
_HERE = __file__.rpartition("synthbench")[0]


def blamed(error: BaseException, what: str, file: str | None = None, otherwise: str = "") -> str:
    """An error as one line: the place, what was going on, and the error's own text.

    Args:
        error: the error.
        what: what was going on.
        file: the user's file; default: the last place outside this package and what is installed.
        otherwise: the place if the error comes from no such file, as `line_of` gives it.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}, {what}: {error.msg}."
    frames = [
        one
        for one in traceback.extract_tb(error.__traceback__)
        if (one.filename == file if file else _is_theirs(one.filename))
    ]
    place = f"{frames[-1].filename}, line {frames[-1].lineno}, " if frames else otherwise
    return f"{place}{what}: {type(error).__name__}: {_one_line(str(error))}"


def line_of(given: Any, method: str = "forward") -> str:
    """The file and line of a module's method, or of a class or function; empty if unknown."""
    found = getattr(type(given), method, given)
    try:
        _, line = inspect.getsourcelines(found)
        return f"{inspect.getsourcefile(found)}, line {line}, "
    except (OSError, TypeError):
        return ""


def shape_of(given: Any) -> str:
    """What a model gave, in words."""
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return f"{str(given.dtype).removeprefix('torch.')} {tuple(given.shape)}"
    return f"{type(given).__name__} {_one_line(repr(given))}"


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _is_theirs(file: str) -> bool:
    installed = sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")
    return not file.startswith((*installed, f"{_HERE}synthbench", "<"))
