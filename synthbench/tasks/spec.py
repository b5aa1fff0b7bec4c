"""Tasks as short texts, which rows carry into programs that know nothing of synthbench.

    listops
    listops {"level": "hard"}
    ctl {"variant": "backward", "seed": 1, "symbols": 4}

The name comes first. Differences from the task's defaults follow as JSON, by the names of the
arguments of `synthbench.task`.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from synthbench.errors import UsageError
from synthbench.tasks import registry
from synthbench.tasks.base import Task
from synthbench.text.lines import short


def task_spec(task: Task) -> str:
    """The text of a task; `task_of` makes the task from it.

    Example:
        >>> import synthbench
        >>> from synthbench.tasks.spec import task_spec
        >>> task_spec(synthbench.task("ctl", "backward", symbols=4))
        'ctl {"variant": "backward", "symbols": 4}'
    """
    arguments: dict[str, Any] = {}
    if task.variant != next(iter(task.variants)):
        arguments["variant"] = task.variant
    if task.seed:
        arguments["seed"] = task.seed
    if parameters := task.parameters.changed():
        levels = (name for name, changes in task.levels.items() if _are(task, changes))
        level = next(levels, None)
        arguments |= parameters if level is None else {"level": level}
    return f"{task.name} {json.dumps(arguments)}" if arguments else task.name


def _are(task: Task, parameters: Any) -> bool:
    """True if these are the task's parameters."""
    return bool(task.parameters == task.parameters_type.make(parameters))


@functools.lru_cache(maxsize=1 << 10)
def task_of(spec: str) -> Task:
    """The task of a text that `task_spec` has written. The same object for the same text.

    Raises:
        UsageError: the text is not of this form, or names something that does not exist.
        ParameterError: a parameter with an impossible value.
    """
    name, _, text = spec.partition(" ")
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    # A spec never names directories: those of another machine mean nothing here.
    if not isinstance(arguments, dict) or arguments.keys() & {"name", "source_dir"}:
        raise UsageError(
            f"Task {short(spec)}: expected a name, with JSON behind it for what differs from the "
            "defaults, such as 'ctl {\"symbols\": 4}'."
        )
    return registry.task(name, **arguments)
