"""Language models: prompts, scores, and tasks for evaluation and training frameworks.

    >>> from synthbench import llm
    >>> row = {"text": "[SM 8 [MIN 5 3 ] ]", "label": 1}
    >>> llm.score("listops", "3 and 8 are 11, so the answer is 1.", row)
    1.0

Each framework is imported when its function is called: Inspect (extra `inspect`), TRL (`trl`) and
verifiers (`verifiers`); the extra `llm` has all three.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from synthbench.errors import needs
from synthbench.llm.curriculum import Curriculum
from synthbench.llm.prompts import demonstrations, prompts
from synthbench.llm.scoring import evaluate, score, trl_reward

if TYPE_CHECKING:
    import inspect_ai
    import verifiers.v1 as vf

__all__ = [
    "Curriculum",
    "demonstrations",
    "evaluate",
    "inspect_task",
    "load_environment",
    "prompts",
    "score",
    "trl_reward",
    "verifiers_taskset",
]


def inspect_task(
    task: str | PathLike[str], split: str = "test", *, limit: int | None = None, **options: Any
) -> inspect_ai.Task:
    """A task for Inspect: every row is a sample, answered right or wrong.

    On the command line: `inspect eval synthbench/listops --model MODEL -T limit=100`.

    Args:
        task: name of a task, or a dataset directory.
        split: the split.
        limit: take only the first rows; default: all.
        options: `variant`, `seed`, `rows`, `preset`, `level` and parameters of the task, as in
            `prompts`.

    Returns:
        The task. Its samples have the row's `id`, the prompt, the right answer as target, and the
        row's columns as metadata.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.
        SynthbenchError: Inspect is not installed.
    """
    with needs("inspect_task", "inspect_ai", "inspect"):
        from synthbench.llm.inspect_tasks import inspect_task as make
    return make(task, split, limit=limit, **options)


def verifiers_taskset(
    task: str,
    *,
    split: str = "train",
    variant: str | None = None,
    seed: int = 0,
    level: str | None = None,
    **parameters: Any,
) -> vf.Taskset[Any, Any]:
    """An endless taskset for verifiers, over the fresh rows of `stream`.

    Args:
        task: name of the task.
        split: this and the arguments below are as in `stream`.
        variant: one of the task's variants.
        seed: whole number from 0.
        level: one of the task's levels, as in `prompts`.
        parameters: parameters of the task that differ from the defaults, or from the level's.

    Returns:
        The taskset; its tasks have the row's `id`, a prompt, and a reward of 1.0 or 0.0.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.
        SynthbenchError: verifiers is not installed.
    """
    with needs("verifiers_taskset", "verifiers", "verifiers"):
        from synthbench.llm.taskset import SynthbenchConfig, SynthbenchTaskset
    return SynthbenchTaskset(
        SynthbenchConfig(
            dataset=task,
            split=split,
            variant=variant,
            seed=seed,
            level=level,
            parameters=parameters,
        )
    )


def load_environment(task: str = "listops", **options: Any) -> vf.Env[Any]:
    """An environment for verifiers, where a model answers a row in one turn.

    On the command line: `vf-eval synthbench-taskset --env.taskset.dataset listops -m MODEL -n 20`.

    Args:
        task: name of the task.
        options: `split`, `variant`, `seed`, `level` and parameters of the task, as in
            `verifiers_taskset`.

    Returns:
        The environment, over the rows of `verifiers_taskset`.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.
        SynthbenchError: verifiers is not installed.
    """
    taskset = verifiers_taskset(task, **options)
    from synthbench.llm.taskset import OneTurnConfig, OneTurnEnv

    return OneTurnEnv(OneTurnConfig(taskset=taskset.config))
