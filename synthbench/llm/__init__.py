"""Language models: prompts, scores, and tasks for evaluation and training frameworks.

    >>> from synthbench import llm
    >>> row = {"text": "[SM 8 [MIN 5 3 ] ]", "label": 1}
    >>> llm.score("listops", row, "3 and 8 are 11, so the answer is 1.")
    1.0

Each library is imported when its function is called: httpx (extra `ask`), Inspect (`inspect`), TRL
(`trl`) and verifiers (`verifiers`). The extra `llm` has the first three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.checks import needs
from synthbench.llm.asking import ask
from synthbench.llm.curriculum import Curriculum
from synthbench.llm.fine_tuning import sft_examples
from synthbench.llm.prompts import prompts
from synthbench.llm.rewards import trl_reward
from synthbench.llm.scoring import evaluate, score
from synthbench.llm.solutions import worked_solution
from synthbench.llm.trl_environments import trl_environment
from synthbench.tasks import registry
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import DEFAULT_DIRS
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.mixture import Mixture, Sources
from synthbench.tasks.registry import as_task
from synthbench.tasks.spec import task_spec

if TYPE_CHECKING:
    import inspect_ai
    import verifiers.v1 as vf

__all__ = [
    "Curriculum",
    "ask",
    "evaluate",
    "inspect_task",
    "load_environment",
    "prompts",
    "score",
    "sft_examples",
    "trl_environment",
    "trl_reward",
    "verifiers_taskset",
    "worked_solution",
]


@checked
def inspect_task(
    task: Sources,
    split: str = "test",
    *,
    limit: int | None = None,
    offset: int = 0,
    preset: str = "paper",
    shots: int = 0,
    system: str | None = None,
) -> inspect_ai.Task:
    """A task for Inspect: every row is a sample, answered right or wrong.

    On the command line: `inspect eval synthbench/listops --model MODEL -T limit=100`. With `-T`
    also the other arguments, and all that `synthbench.task` takes, such as `-T level=easy`.

    Args:
        task: a task, its name, or a dataset directory, or several of them, as in `prompts`. Of
            several the scores of each are shown, too.
        split: the split.
        limit: take only so many rows. Default: all.
        offset: leave out so many rows before the first.
        preset: "paper" or "small". Not allowed with a directory.
        shots: worked examples before each question, as in `prompts`.
        system: a system message.

    Returns:
        The task. Its samples have the row's `id`, the prompt, the right answer as target, and the
        row's columns as metadata. Scores say why a reply could not be read, in `explanation` and as
        `unread` in their metadata.

    Raises:
        UsageError: an unknown name, a task without a single right answer, or an option that
            `prompts` refuses.
        SynthbenchError: Inspect is not installed.
    """
    with needs("inspect_task", "inspect_ai", "inspect"):
        from synthbench.llm.inspect_tasks import inspect_task as make
    options: dict[str, Any] = {"limit": limit, "offset": offset, "preset": preset}
    return make(task, split, shots=shots, system=system, **options)


@checked
def verifiers_taskset(
    task: str | Task | Sequence[str | Task] | Mapping[str | Task, int],
    *,
    split: str = "train",
    seed: int | None = None,
    offset: int = 0,
    shots: int = 0,
    system: str | None = None,
) -> vf.Taskset[Any, Any]:
    """An endless taskset for verifiers, over the fresh rows of `stream`.

    Args:
        task: the task, or its name for the task with its defaults, or several of them, as in
            `prompts`.
        split: as in `stream`.
        seed: of the draws, as in `stream`.
        offset: leave out so many rows of the stream before the first.
        shots: worked examples before each question: rows of train, which are never asked.
        system: a system message.

    Returns:
        The taskset. Its tasks have the row's `id`, a prompt, and a reward of 1.0 or 0.0.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.
        SynthbenchError: verifiers is not installed.
    """
    with needs("verifiers_taskset", "verifiers", "verifiers"):
        from synthbench.llm.taskset import SynthbenchConfig, SynthbenchTaskset
    tasks = Mixture.of(task).map(as_task)
    common: dict[str, Any] = {"split": split, "stream_seed": seed, "offset": offset}
    common |= {"shots": shots, "system": system}
    if not tasks.is_single:
        mixture = dict(zip(map(task_spec, tasks.parts), tasks.weights, strict=True))
        return SynthbenchTaskset(SynthbenchConfig(mixture=mixture, **common))
    (task,) = tasks.parts
    return SynthbenchTaskset(
        SynthbenchConfig(
            dataset=task.name,
            variant=task.variant,
            seed=task.seed,
            parameters=task.parameters.to_dict(),
            source_dirs=task.source_dirs if isinstance(task, ImageTask) else DEFAULT_DIRS,
            **common,
        )
    )


def load_environment(task: str = "listops", **options: Any) -> vf.Env[Any]:
    """An environment for verifiers, where a model answers a row in one turn.

    On the command line: `vf-eval synthbench-taskset --env.taskset.dataset listops -m MODEL -n 20`.

    Args:
        task: name of the task.
        options: `split`, `offset`, `shots` and `system`, as in `verifiers_taskset`, and all that
            `synthbench.task` takes: `variant`, `seed`, `level` and parameters of the task.
            verifiers passes them as JSON values.

    Returns:
        The environment, over the rows of `verifiers_taskset`.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.
        SynthbenchError: verifiers is not installed.
    """
    names = ("split", "offset", "shots", "system")
    row_options = {name: options.pop(name) for name in names if name in options}
    taskset = verifiers_taskset(registry.task(task, **options), **row_options)
    from synthbench.llm.taskset import OneTurnConfig, OneTurnEnv

    return OneTurnEnv(OneTurnConfig(taskset=taskset.config))
