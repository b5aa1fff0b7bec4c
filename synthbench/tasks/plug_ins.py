"""Tasks of other packages, found by their entry points, which may be broken in any way."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

#: Third-party packages name their `Task` classes under this entry point group.
ENTRY_POINTS = "synthbench.tasks"
#: Seconds that a plug-in may take to describe its task.
_PATIENCE = 60.0
_REACHED = "the end is reached"
_TRIAL = f"""
import sys
from synthbench.tasks.describe import task_facts
try:
    task_facts(sys.argv[1])
except KeyboardInterrupt:
    raise
except BaseException:
    pass
print({_REACHED!r}, flush=True)
"""


def entry_points() -> Mapping[str, EntryPoint]:
    """The entry points of tasks by name, from all packages whose entry points can be read."""
    return _found()[0]


def broken_packages() -> Mapping[str, str]:
    """Installed packages whose entry points cannot be read, each with the reason."""
    return _found()[1]


@functools.cache
def _found() -> tuple[dict[str, EntryPoint], dict[str, str]]:
    import importlib.metadata  # late: only names that are not ours are looked up here

    broken: dict[str, str] = {}
    try:
        points = list(importlib.metadata.entry_points(group=ENTRY_POINTS))
    except Exception:  # one damaged file fails the search of all packages
        points = []
        for package in importlib.metadata.distributions():
            try:
                points += package.entry_points.select(group=ENTRY_POINTS)
            except Exception as error:  # whatever a damaged file raises
                broken[_name_of(package)] = f"entry_points.txt cannot be read: {error}"
    named: dict[str, EntryPoint] = {}
    for point in points:
        named.setdefault(point.name, point)  # the first on the path, as Python imports it
    return named, broken


def _name_of(package: Distribution) -> str:
    try:
        return package.metadata["Name"] or "a package without a name"
    except Exception:  # its metadata may be damaged, too
        return "a package without a name"


def why_fatal(name: str) -> str | None:
    """The reason why this process would not survive a task of another package, or None.

    A module that calls `os._exit`, crashes or never ends cannot be caught, so another process
    describes the task first.
    """
    import subprocess  # late, as `importlib.metadata`

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _TRIAL, name]
    try:
        ended = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not describe itself within {_PATIENCE:g} seconds"
    if _REACHED.encode() in ended.stdout:
        return None
    return f"it ends the process that loads it (exit status {ended.returncode})"
