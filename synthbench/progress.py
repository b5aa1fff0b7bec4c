"""What is told on standard error beside errors: progress bars and notes.

Services and `pythonw` have no standard error. Then `sys.stderr` is None or closed; there are no
bars, and notes are lost.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, TextIO

from tqdm import tqdm


def progress_bar(shown: bool, **options: Any) -> tqdm[Any]:
    """A progress bar on standard error.

    Args:
        shown: whether to show it where standard error is a terminal; elsewhere it never is.
        options: what else `tqdm` is told.
    """
    return tqdm(disable=not (shown and on_terminal()), **options)


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    stream = _standard_error()
    return stream is not None and hasattr(stream, "isatty") and stream.isatty()


def note(text: str) -> None:
    """Write a line to standard error, if there is one."""
    if (stream := _standard_error()) is not None:
        with contextlib.suppress(OSError):  # whoever read it has gone
            print(text, file=stream, flush=True)


def _standard_error() -> TextIO | None:
    stream: TextIO | None = sys.stderr
    return None if getattr(stream, "closed", False) else stream
