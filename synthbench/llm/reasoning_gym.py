"""Our tasks in the registry of reasoning-gym, which other frameworks read, too.

    import reasoning_gym
    from synthbench.llm.reasoning_gym import register

    register()
    dataset = reasoning_gym.create_dataset("listops", size=100, seed=1, level="hard")

A dataset has the first rows of a stream (`synthbench.stream`): other seeds give other rows, and no
row of train is held out.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, register_dataset

from synthbench.checks import check_whole_number
from synthbench.errors import SynthbenchError, UsageError
from synthbench.llm.conversations import TEXT, shown
from synthbench.llm.mixtures import carried, carried_row
from synthbench.llm.prompts import check_askable, why_not_text
from synthbench.llm.scoring import reward_of
from synthbench.streaming.rows import StreamRows
from synthbench.tasks import registry
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import list_tasks, task_class


def register(tasks: Sequence[str] | None = None) -> list[str]:
    """Register tasks in reasoning-gym. Each process needs this call once.

    Args:
        tasks: names of tasks of text. Default: all that there are.

    Returns:
        The names of the datasets: those of the tasks, with `synthbench_` before a name that
        another dataset of reasoning-gym has, such as `synthbench_countdown`.

    Raises:
        UsageError: an unknown name, or a task whose rows are not texts with right answers.
    """
    if tasks is None:
        tasks = [*_tasks_of_text()]
    names = {}
    for name in tasks:
        if (reason := why_not_text(registry.task(name))) is not None:
            raise UsageError(f"Task {name!r} is not for reasoning-gym: {reason}.")
        known = DATASETS.get(name, (SynthbenchDataset, None))[0]
        names[name] = name if issubclass(known, SynthbenchDataset) else f"synthbench_{name}"
    for task, name in names.items():
        if name not in DATASETS:
            register_dataset(name, SynthbenchDataset, _config_of(task))
    return list(names.values())


def _tasks_of_text() -> Iterator[str]:
    """The names of all tasks of text. A task of another package that fails is warned of."""
    for name in list_tasks():
        try:
            reason = why_not_text(registry.task(name))
        except SynthbenchError as error:
            warnings.warn(f"Left out: {error}", stacklevel=3)
            continue
        if reason is None:
            yield name


@dataclasses.dataclass
class RowsConfig:
    """The choice of a task. Each task's own class adds its parameters.

    A parameter with the name of an attribute has the task's name before it: `maze_size`.

    Attributes:
        seed: of the rows. None: a random seed.
        size: the number of rows.
        split: as in `synthbench.stream`.
        variant: one of the task's variants.
        level: one of the task's levels.
    """

    task: ClassVar[str]
    parameters: ClassVar[Mapping[str, str]]
    seed: int | None = None
    size: int = 500
    split: str = "train"
    variant: str | None = None
    level: str | None = None

    def validate(self) -> None:
        """Raise a UsageError or a ParameterError for an impossible choice."""
        check_whole_number("Size", self.size, least=1)
        self.make_task().split(self.split)

    def make_task(self) -> Task:
        """The task that is chosen."""
        values = {name: getattr(self, field) for field, name in self.parameters.items()}
        parameters = {name: value for name, value in values.items() if value is not None}
        return registry.task(self.task, self.variant, level=self.level, **parameters)


def _config_of(name: str) -> type[RowsConfig]:
    """The configuration of a task, with its parameters; None stands for their defaults."""
    taken = {field.name for field in dataclasses.fields(RowsConfig)}
    parameters = {
        f"{name}_{field.name}" if field.name in taken else field.name: field.name
        for field in dataclasses.fields(task_class(name).parameters_type)
    }
    fields = [(field, Any, dataclasses.field(default=None)) for field in parameters]
    return dataclasses.make_dataclass(
        f"{task_class(name).__name__}Config",
        fields,
        bases=(RowsConfig,),
        namespace={"task": name, "parameters": parameters},
    )


class SynthbenchDataset(ProceduralDataset):
    """Rows of a task as reasoning-gym has them.

    Args:
        config: the choice of task and rows.
    """

    def __init__(self, config: RowsConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._task = config.make_task()
        check_askable(self._task)
        self._rows = StreamRows(Mixture.of(self._task), config.split, self.seed)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """The row of this number, from 0.

        Returns:
            `question` (the rule and the row's text), `answer` as text, and `metadata`, with the
            columns by which the row's difficulty is stated, and all that `score_answer` needs.
        """
        if not 0 <= idx < self.size:
            raise IndexError(f"row {idx} of {self.size}")
        task, row = self._rows[idx]
        difficulty = {
            breakdown.column: row[breakdown.column]
            for breakdown in task.group_by
            if breakdown.column != LABEL
        }
        return {
            "question": f"{task.instruction}\n\n{shown(task, row[TEXT])}",
            "answer": task.answer.format_answer(row[LABEL]),
            "metadata": {
                "source_dataset": task.name,
                "source_index": idx,
                "difficulty": difficulty,
                "id": row["id"],
                **carried(task, row),
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1.0 if an answer, or the text that holds it, is right for an entry, else 0.0.

        Any dataset of this class scores the entries of any other.

        Raises:
            UsageError: the entry is not one of ours.
        """
        record = entry.get("metadata") if isinstance(entry, Mapping) else entry
        return reward_of(*carried_row(record), answer)
