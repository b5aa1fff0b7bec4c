"""Optional modules beside a task's, loaded only when they are needed.

    my_package/ones.py       class Ones(Task)
    my_package/audit.py      audit_spec(task)                 for `synthbench audit`
    my_package/drawing.py    draw_row(task, row)              for `synthbench preview`
                             draw_sheet(task, rows, path)     for previews and cards of images
    my_package/worked.py     write_steps(task, question) and
                             replay_steps(task, question, steps)    for worked solutions
    my_package/recipes.py    studies(task)                    for `synthbench train` and `reproduce`
    my_package/card.md       the prose of the card            for `synthbench generate`

All modules and functions are optional: a task without them is drawn column by column, audited only
for what can go wrong in every task, and has neither worked solutions nor recipes. No task imports
them.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from importlib import resources
from typing import Any

from synthbench.tasks.base import Task


def optional_function(
    task: Task | type[Task], module: str, function: str
) -> Callable[..., Any] | None:
    """A function of a module in the package of the task's class, or None.

    The packages of its base classes are searched next, so that a task that only changes another
    task is audited and drawn like its base class.

    Args:
        task: the task, or its class.
        module: `audit`, `drawing`, `worked` or `recipes`.
        function: the function's name.

    Raises:
        ImportError: the module exists but cannot be imported.
    """
    for cls in (task if isinstance(task, type) else type(task)).__mro__:
        package = cls.__module__.rpartition(".")[0]
        path = f"{package}.{module}"
        if not package or importlib.util.find_spec(path) is None:
            continue
        loaded: Callable[..., Any] | None = getattr(importlib.import_module(path), function, None)
        if loaded is not None:
            return loaded
    return None


def text_beside(task: Task, file: str) -> str | None:
    """A text file in the package of the task's class, or None.

    Packages of its base classes do not count: their prose is about another task.

    Args:
        task: the task.
        file: the file's name, such as `card.md`. Its encoding is UTF-8.
    """
    package = type(task).__module__.rpartition(".")[0]
    path = resources.files(package) / file if package else None
    return path.read_text(encoding="utf-8") if path is not None and path.is_file() else None
