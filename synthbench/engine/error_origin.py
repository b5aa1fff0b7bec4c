"""Find the code that raised an unexpected error, so that the message names the right place."""

from __future__ import annotations

import os
import pickle
import traceback
from pathlib import Path
from types import FrameType

from synthbench.tasks.base import Parameters, Task

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
#: The attribute of an exception that carries `where_raised` from a worker to the main process.
_NOTE = "_synthbench_where_raised"


def where_raised(error: BaseException) -> str | None:
    """Name the code outside this package in which an error was raised.

    Args:
        error: an exception that was caught.

    Returns:
        The innermost method in the traceback that belongs to another package's task or parameters
        class. Otherwise the innermost function, or None if this package defines that function.
    """
    noted = getattr(error, _NOTE, None)
    if isinstance(noted, str):
        return noted or None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        owner = _owner(frame)
        if owner is not None and not _is_ours(frame):
            method, name = frame.f_code.co_name, owner.__qualname__
            return f"method {method} of class {name} ({owner.__module__})"
    if not frames or _is_ours(frames[-1]):
        return None
    module = frames[-1].f_globals.get("__name__", frames[-1].f_code.co_filename)
    return f"function {frames[-1].f_code.co_qualname} of module {module}"


def for_another_process(error: Exception) -> Exception:
    """Prepare an error to be sent to another process, which drops its traceback.

    Returns:
        The error, with `where_raised` noted on it, or a RuntimeError with the same text, if the
        error cannot be pickled or loses the note.
    """
    origin = where_raised(error)
    try:
        setattr(error, _NOTE, origin or "")
        arrives = where_raised(pickle.loads(pickle.dumps(error))) == origin
    except Exception:  # whatever the error's own class raises
        arrives = False
    if not arrives:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        setattr(error, _NOTE, origin or "")
    return error


def came_from_another_process(error: BaseException) -> bool:
    """True if `for_another_process` prepared the error: our function raised it, not its engine."""
    return isinstance(getattr(error, _NOTE, None), str)


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _owner(frame: FrameType) -> type | None:
    """The task or parameters class whose method runs in the frame, None for other frames."""
    code = frame.f_code
    if not code.co_argcount or code.co_name.startswith("<"):  # a comprehension or a lambda
        return None
    first = frame.f_locals.get(code.co_varnames[0])
    owner = first if isinstance(first, type) else type(first)
    return owner if issubclass(owner, Task | Parameters) else None
