"""The tasks by name: ours, and those of other packages, by `register` or by entry point."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from synthbench.checks import check_name
from synthbench.errors import SynthbenchError, TaskError, UsageError, unknown_name
from synthbench.tasks.base import Parameters, Task
from synthbench.tasks.plug_ins import entry_points
from synthbench.text.lines import error_text, short

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from synthbench.tasks.images.source_dirs import SourceDir, SourceDirs

#: The class of each of our tasks. Its package has the task's name, with _ for -.
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
    "automaton": "Automaton",
    "mqar": "AssociativeRecall",
    "chomsky": "Chomsky",
    "addition": "Addition",
    "countdown": "Countdown",
    "copying": "Copying",
    "maze": "MazeTask",
    "lists": "Lists",
    "dyck": "Dyck",
    "sudoku": "Sudoku",
}

_registered: dict[str, type[Task]] = {}


def register(task: type[Task]) -> type[Task]:
    """Make a task of another package known under its `name`. Usable as a class decorator.

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
    from synthbench.tasks.declared import check_class  # late: our tasks are not checked

    check_class(task)
    for parameters in ({}, *task.levels.values()):
        for variant in task.variants:
            _make(task, variant, parameters)
    if task.name in _OWN or _registered.get(task.name, task) is not task:
        raise UsageError(f"A task named {task.name!r} exists already. Choose another name.")
    _registered[task.name] = task
    return task


def _make(cls: type[Task], variant: str | None, parameters: Any, seed: int = 0) -> Task:
    """A task of a class. Another package's task is checked."""
    task = cls(variant, parameters, seed)
    if cls.name in _OWN:
        return task
    try:
        hash(task)
        json.dumps(task.parameters.to_dict(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TaskError(
            f"parameters_type of {cls.name} must be a frozen dataclass of numbers, texts and "
            f"tuples of these: {error}."
        ) from error
    from synthbench.tasks.declared import check_task

    check_task(task)
    return task


def plug_ins() -> list[str]:
    """The names of tasks that other packages bring by entry points."""
    return [name for name in entry_points() if name not in _OWN and name not in _registered]


def list_tasks() -> list[str]:
    """The names of all tasks, as `generate`, `load_dataset` and `stream` take them.

    Returns:
        Names: ours first, then registered names, then those of other packages' entry points.

    Example:
        >>> import synthbench
        >>> synthbench.list_tasks()[:3]
        ['listops', 'arithmetic', 'ctl']
    """
    return [*_OWN, *_registered, *plug_ins()]


def loadable_tasks() -> Iterator[tuple[str, type[Task]]]:
    """The names and classes of all tasks. A broken task of another package is warned of."""
    for name in list_tasks():
        try:
            task_type = task_class(name)
        except SynthbenchError as error:
            warnings.warn(f"Left out: {error}", stacklevel=3)
        else:
            yield name, task_type


def is_own(name: str) -> bool:
    """True if the package itself has the task of this name."""
    return name in _OWN


def task_class(name: str) -> type[Task]:
    """The class of the task of this name.

    Raises:
        UsageError: no task has this name. The nearest is offered.
        SynthbenchError: it is the task of another package and cannot be loaded.
    """
    if not isinstance(name, str):
        raise unknown_name("task", name, list_tasks())
    if name in _OWN:
        module = importlib.import_module(f"synthbench.tasks.{name.replace('-', '_')}.task")
        task_type: type[Task] = getattr(module, _OWN[name])
        return task_type
    if name in _registered:
        return _registered[name]
    if name in entry_points():
        return _load(entry_points()[name])
    raise unknown_name("task", name, list_tasks())


def _load(point: EntryPoint) -> type[Task]:
    """Load and register the task of an entry point."""
    try:
        with contextlib.redirect_stdout(sys.stderr):  # our output may be JSON
            task_type: type[Task] = point.load()
            if (name := getattr(task_type, "name", None)) != point.name:
                raise TaskError(f"it has the name {short(name)}: expected a task of the same name.")
            return register(task_type)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the module of another package raises
        reason = str(error) if isinstance(error, SynthbenchError) else f"{error_text(error)}."
        raise SynthbenchError(
            f"Task {point.name!r} of entry point {point.value!r} cannot be loaded: {reason}"
        ) from error


def task(
    name: str,
    variant: str | None = None,
    *,
    seed: int = 0,
    level: str | None = None,
    source_dir: SourceDir | None = None,
    **parameters: Any,
) -> Task:
    """A task with everything chosen that decides what its rows are.

    Every function that takes a task takes this value, or a name for the task with its defaults.

    Args:
        name: the task's name; `list_tasks` has all of them.
        variant: one of its variants. Default: the first.
        seed: whole number from 0. It decides which rows a dataset has, and for `ctl` what the
            functions do.
        level: a named set of parameters, such as "easy"; `synthbench info NAME` lists them.
        source_dir: for tasks made from images, where the source images are: a directory, several,
            or a mapping from sources (`mnist`, `fashion`, `cifar`, `folder:PATH`) to directories.
        parameters: parameters that differ from the defaults, or from the level's.

    Returns:
        The task, a small value that can be compared, hashed and pickled.

    Raises:
        UsageError: an unknown task, variant, level or parameter, a seed that is not a whole number
            from 0, or a `source_dir` for a task without images.
        ParameterError: a parameter with an impossible value.
        MissingPathError: a source directory does not exist.
        TaskError: a task of another package is not whole with these parameters.

    Example:
        >>> import synthbench
        >>> ctl = synthbench.task("ctl", "backward", symbols=4)
        >>> ctl
        synthbench.task('ctl', 'backward', symbols=4)
        >>> ctl.solve("a 01") == synthbench.solve(ctl, "a 01")
        True
    """
    task_type = task_class(name)
    if source_dir is not None and not _has_images(task_type):
        raise UsageError(f"source_dir={source_dir!r}: {name} has no images. Leave it out.")
    with _searching(source_dir):
        return _make(task_type, variant, {**level_parameters(task_type, level), **parameters}, seed)


def _has_images(task_type: type[Task]) -> bool:
    """True for an `ImageTask`. The module of this class is not loaded for other tasks."""
    module = sys.modules.get("synthbench.tasks.images.task")
    return module is not None and issubclass(task_type, module.ImageTask)


def _searching(source_dir: SourceDir | SourceDirs | None) -> AbstractContextManager[None]:
    """`use_source_dir`, whose module is not loaded for None."""
    if source_dir is None:
        return contextlib.nullcontext()
    from synthbench.tasks.images.source_dirs import use_source_dir

    return use_source_dir(source_dir)


def task_from(
    name: str,
    variant: str | None,
    parameters: Mapping[str, Any] | Parameters | None = None,
    seed: int = 0,
) -> Task:
    """The task of choices that are data, as a manifest or a study has them. Raises as `task`."""
    return _make(task_class(name), variant, parameters, seed)


def level_parameters(task_type: type[Task], level: str | None) -> Mapping[str, Any]:
    """The parameters of a level. Empty without a level.

    Raises:
        UsageError: an unknown level, or a task without levels.
    """
    if level is None:
        return {}
    if not task_type.levels:
        raise UsageError(f"Level {level!r}: task {task_type.name!r} has no levels. Leave it out.")
    check_name(f"level of {task_type.name}", level, task_type.levels)
    return task_type.levels[level]


def changed(
    task: Task, *, level: str | None = None, parameters: Mapping[str, Any] | None = None
) -> Task:
    """The same task at one of its levels, or with other parameters. These win over the level's.

    Raises:
        UsageError: an unknown level or parameter.
        ParameterError: a parameter with an impossible value.
    """
    settings = {
        **task.parameters.to_dict(),
        **level_parameters(type(task), level),
        **(parameters or {}),
    }
    # Source images are searched for where they were.
    with _searching(getattr(task, "source_dirs", None)):
        return _make(type(task), task.variant, settings, task.seed)


def as_task(task_or_name: str | Task) -> Task:
    """The task itself, or the task of this name with its defaults.

    Raises:
        UsageError: no task has this name, or it is neither a name nor a task.
    """
    if isinstance(task_or_name, Task):
        return task_or_name
    if not isinstance(task_or_name, str):
        raise UsageError(
            f"Task {short(task_or_name)}: expected a name or what synthbench.task(...) returns."
        )
    task_type = task_class(task_or_name)
    # Tasks of images depend on where source images are, which may change between calls.
    return task(task_or_name) if _has_images(task_type) else _with_defaults(task_type)


@functools.lru_cache(maxsize=64)
def _with_defaults(task_type: type[Task]) -> Task:
    return task(task_type.name)


def variants_of(name: str) -> list[Task]:
    """The task of this name with its defaults, in each of its variants."""
    return [task(name, variant) for variant in task_class(name).variants]


def as_tasks(task_or_tasks: str | Task | Sequence[Task]) -> tuple[Task, ...]:
    """The tasks of one dataset: a single task, or one task in several of its variants.

    Raises:
        UsageError: no task has this name, a variant is there twice, or the tasks differ in more
            than their variants.
    """
    if isinstance(task_or_tasks, str | Task) or not isinstance(task_or_tasks, Sequence):
        return (as_task(task_or_tasks),)
    tasks = tuple(map(as_task, task_or_tasks))
    if not tasks:
        raise UsageError("No task is given.")
    first, names = tasks[0], [task.variant for task in tasks]
    if len(set(names)) < len(names):
        raise UsageError(f"Variants {', '.join(names)!r}: a name is repeated.")
    for task in tasks[1:]:
        if _make(type(first), task.variant, first.parameters, first.seed) != task:
            raise UsageError(
                f"{task!r} cannot be in one dataset with {first!r}: only variants may differ."
            )
    return tasks
