"""The tasks by name: ours, and those of other packages, by `register` or by entry point."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synthbench.errors import SynthbenchError, TaskError, UsageError, check_name, unknown_name
from synthbench.tasks.base import Parameters, Task
from synthbench.tasks.declared import check_class, check_task

if TYPE_CHECKING:
    import importlib.metadata

#: The class of each of our tasks; its package has the task's name, with _ for -.
_OWN = {
    "listops": "ListOps",
    "arithmetic": "Arithmetic",
    "ctl": "CompositionalTableLookup",
    "parity": "Parity",
    "composites": "Composites",
    "grid-count": "GridCount",
    "identity": "Identity",
    "clusters": "Clusters",
    "modular-arithmetic": "ModularArithmetic",
    "state-tracking": "StateTracking",
}

#: Third-party packages name their `Task` classes under this entry point group.
ENTRY_POINTS = "synthbench.tasks"

_registered: dict[str, type[Task]] = {}


def register(task: type[Task]) -> type[Task]:
    """Make a task of another package known under its `name`; usable as a class decorator.

    Args:
        task: a concrete subclass of `synthbench.Task`.

    Returns:
        The same class.

    Raises:
        UsageError: `task` is not a subclass of `Task`, lacks a method, names a column that it does
            not have, or has the name of another task.
        TaskError: an attribute or property is not what it should be.

    Example:
        >>> import synthbench
        >>> from synthbench.tasks.parity.task import Parity
        >>> @synthbench.register
        ... class MyParity(Parity):
        ...     name = "my-parity"
        >>> synthbench.solve("my-parity", "3 4 7 2 =")
        7
    """
    if not (isinstance(task, type) and issubclass(task, Task)):
        raise UsageError(f"{task!r} is not a task: expected a subclass of synthbench.Task.")
    missing = sorted(task.__abstractmethods__)
    missing += [name for name in ("name", "title", "summary", "source") if not hasattr(task, name)]
    if task.capacity is not Task.capacity and task.enumerate_rows is Task.enumerate_rows:
        missing.append("enumerate_rows")  # rows that can be counted must be listed, too
    if missing:
        raise UsageError(f"{task.__name__} is an incomplete task: it lacks {', '.join(missing)}.")
    check_class(task)
    for chosen in ({}, *task.levels.values()):
        for variant in task.variants:
            check_task(_made(task, variant, chosen))
    if task.name in _OWN or _registered.get(task.name, task) is not task:
        raise UsageError(f"A task named {task.name!r} exists already; choose another name.")
    _registered[task.name] = task
    return task


def _made(cls: type[Task], variant: str | None, parameters: Any, seed: int = 0) -> Task:
    """A task of another package that can be told from others."""
    task = cls(variant, parameters, seed)
    try:
        hash(task)
        json.dumps(task.parameters.to_dict(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TaskError(
            f"parameters_type of {cls.name} must be a frozen dataclass of numbers, texts and "
            f"tuples of these: {error}."
        ) from error
    return task


@functools.cache
def _entry_points() -> Mapping[str, importlib.metadata.EntryPoint]:
    import importlib.metadata

    found = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return {point.name: point for point in found if point.name not in _OWN}


def list_tasks() -> list[str]:
    """The names of all tasks, as `generate`, `load_dataset` and `stream` take them.

    Returns:
        Names: ours first, then registered ones, then those of other packages' entry points.

    Example:
        >>> import synthbench
        >>> synthbench.list_tasks()[:3]
        ['listops', 'arithmetic', 'ctl']
    """
    return list(dict.fromkeys([*_OWN, *_registered, *_entry_points()]))


def task_class(name: str) -> type[Task]:
    """The class of the task of this name.

    Raises:
        UsageError: no task has this name; the nearest is offered.
        SynthbenchError: it is the task of another package and cannot be loaded.
    """
    if not isinstance(name, str):
        raise unknown_name("task", name, list_tasks())
    if name in _OWN:
        module = importlib.import_module(f"synthbench.tasks.{name.replace('-', '_')}.task")
        found: type[Task] = getattr(module, _OWN[name])
        return found
    if name in _registered:
        return _registered[name]
    if name in _entry_points():
        return _load(_entry_points()[name])
    raise unknown_name("task", name, list_tasks())


def _load(point: importlib.metadata.EntryPoint) -> type[Task]:
    """Load and register the task of an entry point."""
    place = f"Task {point.name!r} of entry point {point.value!r}"
    try:
        found: type[Task] = point.load()
    except SynthbenchError:  # from `register`, used as a decorator
        raise
    except (Exception, SystemExit) as error:  # whatever the module of another package raises
        reason = f"{type(error).__name__}: {error}"
        raise SynthbenchError(f"{place} cannot be loaded: {reason}.") from error
    if (name := getattr(found, "name", None)) != point.name:
        raise SynthbenchError(f"{place} has the name {name!r}: expected a task of the same name.")
    try:
        return register(found)
    except SynthbenchError:
        raise
    except Exception as error:  # whatever its parameters raise
        reason = f"{type(error).__name__}: {error}"
        raise SynthbenchError(f"{place} cannot be made: {reason}.") from error


def level_parameters(name: str, level: str | None) -> Mapping[str, Any]:
    """The parameters that a level of a task stands for; none without a level.

    Raises:
        UsageError: unknown task or level, or a task without levels.

    Example:
        >>> from synthbench.tasks.registry import level_parameters
        >>> level_parameters("parity", "easy")
        {'n_values': 6}
    """
    levels = task_class(name).levels
    if level is None:
        return {}
    if not isinstance(level, str):
        raise unknown_name(f"level of {name}", level, levels)
    if not levels:
        raise UsageError(f"Level {level!r}: task {name!r} has no levels; leave it out.")
    check_name(f"level of {name}", level, levels)
    return levels[level]


def make_task(
    name: str,
    variant: str | None = None,
    parameters: Mapping[str, Any] | Parameters | None = None,
    seed: int = 0,
) -> Task:
    """The task of this name with a variant (default: its first), parameters and a seed.

    Raises:
        UsageError: unknown task or variant, or a seed that is not a whole number from 0.
        ParameterError: unknown or impossible parameters.
        TaskError: a task of another package is not whole with these parameters.

    Example:
        >>> from synthbench.tasks.registry import make_task
        >>> task = make_task("ctl", "backward", {"symbols": 4})
        >>> task.variant, task.symbols
        ('backward', ('00', '01', '10', '11'))
    """
    cls = task_class(name)
    if name in _OWN:
        return cls(variant, parameters, seed)
    task = _made(cls, variant, parameters, seed)
    check_task(task)
    return task
