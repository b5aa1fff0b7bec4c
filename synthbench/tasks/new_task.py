"""A new package with a small task, written from templates. It passes `synthbench check-task`."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
import sys
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from synthbench.checks import claim_output
from synthbench.errors import UsageError
from synthbench.tasks.base import Task
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
#: The template of a checked task (`Task.check`) in place of another.
_CHECKED = {name: f"checked_{name}" for name in ("task.py", "card.md", "test_task.py")}


def write_package(
    name: str, directory: str | Path | None = None, *, checked: bool = False
) -> list[Path]:
    """Write a package with a small working task, which its author then changes.

    Args:
        name: the task's name: lower-case letters, digits and single hyphens.
        directory: where to write the package. It must be new or empty. Default: `./name`.
        checked: write a task whose questions have several right answers (`Task.check`).

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
    _check_name(name)
    target = Path(name if directory is None else directory)
    claim_output(target)
    written = []
    existed = target.exists()
    try:
        for template, file in _FILES.items():
            path = target / Template(file).substitute(_words(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            text = template_text(template, name, checked=checked)
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    except OSError:
        if not existed:
            shutil.rmtree(target, ignore_errors=True)
        raise
    return written


def template_text(file: str, name: str = "template", *, checked: bool = False) -> str:
    """A file of the package as `write_package` writes it for a task of this name."""
    file = _CHECKED.get(file, file) if checked else file
    text = (resources.files("synthbench.tasks") / "templates" / f"{file}.template").read_text(
        encoding="utf-8"
    )
    rules = "the rules in `solve` and `check`" if checked else "the rule in `solve`"
    return Template(text).substitute(_words(name), rules=rules)


def template_task(*, checked: bool = False) -> Task:
    """The task that `write_package` writes."""
    namespace: dict[str, Any] = {}
    exec(template_text("task.py", checked=checked), namespace)  # our own template
    task: Task = namespace["Template"]()
    return task


def _words(name: str) -> dict[str, str]:
    """The words for the names in templates."""
    return {
        "name": name,
        "module": name.replace("-", "_"),
        "title": name.replace("-", " ").capitalize(),
        "class_name": "".join(word.capitalize() for word in name.split("-")),
    }


def _check_name(name: str) -> None:
    """Make sure that a task and a module may have the name; UsageError if it is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > _LONGEST:
        nearest = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")[:_LONGEST]
        hint = f" Did you mean {nearest!r}?" if nearest and nearest != name else ""
        raise UsageError(
            f"Name {name!r}: allowed are lower-case letters, digits and single hyphens, a letter "
            f"first, {_LONGEST} characters at most.{hint}"
        )
    if name in list_tasks():
        raise UsageError(f"A task named {name!r} exists already. Choose another name.")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _is_installed(module):
        raise UsageError(
            f"Name {name!r}: a Python module {module!r} exists already. Choose another name."
        )


def _is_installed(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.origin is not None  # a directory lacks an origin
