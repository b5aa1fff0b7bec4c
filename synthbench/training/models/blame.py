"""Locates errors in user code."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The most characters of an error's text, and of a model's output.
_LONGEST = 200
#: The most parts of a dict, list or tuple whose shapes are named.
_MOST_PARTS = 4
_HERE = __file__.rpartition("synthbench")[0]


def blamed(error: BaseException, what: str, file: str | None = None, otherwise: str = "") -> str:
    """An error as one line: the place, the activity, and the error's own text.

    Args:
        error: the error.
        what: the activity.
        file: the user's file. Default: the last place outside this package and installed packages.
        otherwise: the place if the error comes from no such file, as `line_of` gives it.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}, {what}: {error.msg}."
    place = line_in(error, file) or otherwise
    return f"{place}{what}: {type(error).__name__}: {_one_line(str(error))}"


def line_in(error: BaseException, file: str | None = None) -> str:
    """The last line of the user's code that an error passed, or of one file. Empty without any."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if (frame.filename == file if file else _is_theirs(frame.filename))
    ]
    return f"{frames[-1].filename}, line {frames[-1].lineno}, " if frames else ""


def line_of(module: Any, method: str = "forward", otherwise: Any = None) -> str:
    """The file and line of a module's method, or of a class or function of the user.

    Args:
        module: the module, class or function.
        method: the method of a module.
        otherwise: a class or function whose line is named if `module` is from a library.

    Returns:
        The place as it begins an error. Empty if neither is the user's.
    """
    for source in (getattr(type(module), method, module), otherwise):
        if place := _place_of(source):
            return place
    return ""


@functools.lru_cache(maxsize=256)  # a class that is loaded again is another object
def _place_of(source: Any) -> str:
    try:
        file, (_, line) = inspect.getsourcefile(source), inspect.getsourcelines(source)
    except (OSError, TypeError):
        return ""
    return f"{file}, line {line}, " if file is not None and _is_theirs(file) else ""


def shape_of(value: Any) -> str:
    """The type of a value and the shapes in it, never the values of tensors."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    name = type(value).__name__
    if isinstance(value, Mapping):
        parts = [f"{key}: {_type_of(element)}" for key, element in value.items()]
    elif isinstance(value, list | tuple):
        parts = [_type_of(element) for element in value]
    elif dataclasses.is_dataclass(value):
        fields = (field.name for field in dataclasses.fields(value))
        parts = [f"{field}: {_type_of(getattr(value, field, None))}" for field in fields]
    elif value is None or isinstance(value, bool | int | float | str):
        return f"{name} {_one_line(repr(value))}"
    else:
        return f"a value of type {name}"
    return f"{name} ({', '.join(parts[:_MOST_PARTS])}{', ...' * (len(parts) > _MOST_PARTS)})"


def _type_of(value: Any) -> str:
    return shape_of(value) if hasattr(value, "shape") else type(value).__name__


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _is_theirs(file: str) -> bool:
    """True for a file of the user: neither ours nor installed."""
    installed = (sysconfig.get_path("stdlib"), f"{_HERE}synthbench{os.sep}", "<")
    is_library = {"site-packages", "dist-packages"} & {*Path(file).parts}
    return not (is_library or file.startswith(installed))
