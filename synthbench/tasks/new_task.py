"""A new package with a small task, written from templates; it passes `synthbench check`."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
import sys
from importlib import resources
from pathlib import Path
from string import Template

from synthbench.errors import UsageError, claim_output
from synthbench.tasks.registry import list_tasks

_LONGEST = 40
#: The file that each template becomes; `$module` is the name of the package's module.
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "__init__.py": "src/$module/__init__.py",
    "task.py": "src/$module/task.py",
    "card.md": "src/$module/card.md",
    "test_task.py": "tests/test_task.py",
}


def write_package(name: str, directory: str | Path | None = None) -> list[Path]:
    """Write a package with a small working task, which its author then changes.

    Args:
        name: the task's name: lower-case letters, digits and single hyphens.
        directory: where to write the package; it must be new or empty. Default: `./name`.

    Returns:
        The files, in the order in which to read them.

    Raises:
        UsageError: the name is not allowed or taken, or the directory is not empty.
        OSError: the files cannot be written.

    Example:
        >>> from synthbench.tasks.new_task import write_package
        >>> [str(path) for path in write_package("digit-sum")][3:5]
        ['digit-sum/src/digit_sum/task.py', 'digit-sum/src/digit_sum/card.md']
    """
    module = _module_of(name)
    target = Path(name if directory is None else directory)
    claim_output(target)
    words = {
        "name": name,
        "module": module,
        "title": name.replace("-", " ").capitalize(),
        "class_name": "".join(word.capitalize() for word in name.split("-")),
    }
    templates = resources.files("synthbench.tasks") / "templates"
    written = []
    existed = target.exists()
    try:
        for template, place in _FILES.items():
            text = (templates / f"{template}.template").read_text(encoding="utf-8")
            path = target / Template(place).substitute(words)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(words), encoding="utf-8", newline="\n")
            written.append(path)
    except OSError:
        if not existed:
            shutil.rmtree(target, ignore_errors=True)
        raise
    return written


def _module_of(name: str) -> str:
    """The name of the package's module; UsageError if the task's name is not allowed or taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > _LONGEST:
        nearest = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")[:_LONGEST]
        hint = f" Did you mean {nearest!r}?" if nearest and nearest != name else ""
        raise UsageError(
            f"Name {name!r}: allowed are lower-case letters, digits and single hyphens, a letter "
            f"first, {_LONGEST} characters at most.{hint}"
        )
    if name in list_tasks():
        raise UsageError(f"A task named {name!r} exists already; choose another name.")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _is_installed(module):
        raise UsageError(
            f"Name {name!r}: a Python module {module!r} exists already; choose another name."
        )
    return module


def _is_installed(module: str) -> bool:
    found = importlib.util.find_spec(module)
    return found is not None and found.origin is not None  # a directory has no origin
