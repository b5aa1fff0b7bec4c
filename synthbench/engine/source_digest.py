"""Digests of the source code that decides which rows a task has."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.resources
import sys
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable
from typing import Any

from synthbench.tasks.base import Task


def source_packages(tasks: Iterable[Task]) -> list[str]:
    """The packages whose code makes the rows of tasks: synthbench, and those of other authors.

    A class of `__main__` is not part of them: it travels to other processes with its code.
    """
    modules = {owner.__module__ for task in tasks for owner in type(task).__mro__}
    packages = {
        _outermost_package(module) for module in modules if not _travels_or_is_python(module)
    }
    return sorted(packages | {"synthbench"}, key=lambda name: (name != "synthbench", name))


@functools.cache
def source_digest(package: str) -> str:
    """The SHA-256 of the Python files of a package or of a module, in hexadecimal.

    A process reads them once, when it first needs them: files that change later are not what it
    has loaded. Line ends do not count.

    Raises:
        ImportError: the package is missing.
    """
    module = importlib.import_module(package)
    digest = hashlib.sha256()
    if hasattr(module, "__path__"):
        files = dict(_python_files(importlib.resources.files(package), ""))
    else:
        loader: Any = module.__spec__.loader if module.__spec__ is not None else None
        source = loader.get_source(package) if hasattr(loader, "get_source") else None
        files = {package: (source or "").encode()}
    for name, content in sorted(files.items()):
        lines = content.replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(lines)}\n".encode() + lines)
    return digest.hexdigest()


def _python_files(directory: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """The Python files below a directory or in a zip archive, by their paths."""
    for entry in directory.iterdir():
        if entry.is_dir():
            yield from _python_files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry.read_bytes()


def _travels_or_is_python(module: str) -> bool:
    first = module.partition(".")[0]
    return first in ("__main__", "__mp_main__") or first in sys.stdlib_module_names


def _outermost_package(module: str) -> str:
    """The first of `a`, `a.b`, `a.b.c` that has a file: a namespace package lacks a file."""
    parts = module.split(".")
    for length in range(1, len(parts)):
        name = ".".join(parts[:length])
        if getattr(importlib.import_module(name), "__file__", None):
            return name
    return module
