"""Calls of functions in another process, whose `PYTHONHASHSEED` the caller chooses."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthbench.errors import SynthbenchError

#: A path comes first: this module may be on this process's path only.
_CODE = (
    "import pickle, sys\nsys.path[:] = pickle.load(sys.stdin.buffer)\n"
    f"from {__name__} import answer_parent\nanswer_parent()"
)


class ElsewhereError(SynthbenchError):
    """The other process failed, or took too long."""


class Elsewhere:
    """A call that runs in another process, from its construction on.

    Args:
        function: a function of a module. Its output is discarded.
        request: its argument, which can be pickled.
        hash_seed: the process's `PYTHONHASHSEED`.
    """

    def __init__(self, function: Callable[[Any], Any], request: Any, hash_seed: str = "0") -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="synthbench-")
        self._result = Path(self._directory.name) / "result"
        self._errors = Path(self._directory.name) / "errors"
        named = (function.__module__, function.__qualname__, str(self._result))
        payload = pickle.dumps(sys.path) + pickle.dumps(named) + pickle.dumps(request)
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
            )
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(payload)
            self._process.stdin.close()
        except OSError:  # it has ended; `result` says why
            pass

    def result(self, seconds: float) -> Any:
        """The function's value.

        Raises:
            ElsewhereError: the process failed, or did not end within so many seconds.
            SynthbenchError: the function raised it.
        """
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ElsewhereError(f"it did not end within {seconds:g} seconds") from None
        if status or not self._result.is_file():
            lines = self._errors.read_text(encoding="utf-8", errors="replace").strip()
            last = lines.splitlines()[-1:] or [f"it ended with status {status}"]
            raise ElsewhereError(last[0])
        value = pickle.loads(self._result.read_bytes())
        if isinstance(value, SynthbenchError):
            raise value
        return value

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *exception: object) -> None:
        """End the process and remove its files."""
        self._process.kill()
        self._process.wait()
        self._directory.cleanup()


def answer_parent() -> None:
    """Call the function that `Elsewhere` names on standard input, and write its value."""
    module, name, out = pickle.load(sys.stdin.buffer)
    request = pickle.load(sys.stdin.buffer)
    try:
        value = getattr(importlib.import_module(module), name)(request)
    except SynthbenchError as error:
        value = error
    beside = Path(f"{out}.new")
    beside.write_bytes(pickle.dumps(value))
    beside.replace(out)
