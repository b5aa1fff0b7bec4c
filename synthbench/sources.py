"""Where source images lie, for the tasks that are made from images."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

#: The environment variable that names the directory; worker processes inherit it.
SOURCE_VARIABLE = "SYNTHBENCH_DATA"


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
