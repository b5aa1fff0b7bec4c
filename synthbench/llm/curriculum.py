"""A curriculum: prompts whose level follows the rewards so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.checks import check_name, check_whole_number, real_number
from synthbench.errors import UsageError
from synthbench.llm.conversations import TEXT, Conversation
from synthbench.llm.mixtures import ROW, TASK, carried, carried_row, check_mixable
from synthbench.llm.prompts import check_askable
from synthbench.llm.rewards import rows_of, truncations
from synthbench.llm.scoring import reward_of
from synthbench.streaming.rows import StreamRows
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Mixture, Source, Sources
from synthbench.tasks.numeric import is_number
from synthbench.tasks.registry import as_task, changed
from synthbench.text.lines import short

if TYPE_CHECKING:
    import datasets


class Curriculum:
    """Endless fresh prompts of a text task, which get harder as rewards allow.

    It begins at the first level. After every `window` rewards for rows of the current level, it
    moves up if their mean is at least `up`, and down if their mean is at most `down`. The
    rows of a level are those of `synthbench.stream`, so no row of train is held out. The rows are
    a pure function of the arguments and the rewards.

    A curriculum lives in one process. Each process needs its own.

    Args:
        task: the task, or its name for the task with its defaults, or several of them with weights,
            which take turns at every level, as in `synthbench.llm.prompts`.
        levels: names of the task's levels, or tasks by names of your own, the easiest first.
            Default: all levels that the tasks have. A level keeps the task's variant, its seed, and
            those of its parameters that the level does not set.
        split: as in `synthbench.stream`.
        seed: of the draws, as in `synthbench.stream`.
        up: the lowest mean reward at which it moves up a level.
        down: the highest mean reward at which it moves down a level. A negative number for never.
        window: how many rewards are averaged.
        end_tokens: ids of tokens that end a completion, as in `synthbench.llm.trl_reward`.

    Attributes:
        level: the name of the current level.

    Raises:
        UsageError: an unknown name, no levels, or a task whose rows are not texts.
        ParameterError: impossible parameters.

    Example:
        >>> from synthbench import llm
        >>> curriculum = llm.Curriculum("parity", window=2)
        >>> row = next(iter(curriculum))
        >>> right, wrong = f"Answer: {row['answer']}", "I cannot say."
        >>> curriculum.reward([right, wrong], label=[row["label"]] * 2, level=["easy"] * 2)
        [1.0, 0.0]
        >>> curriculum.reward([right, right], label=[row["label"]] * 2, level=["easy"] * 2)
        [1.0, 1.0]
        >>> curriculum.level
        'medium'
    """

    def __init__(
        self,
        task: Sources,
        *,
        levels: Sequence[str] | Mapping[str, Sources] | None = None,
        split: str = "train",
        seed: int | None = None,
        up: float = 0.8,
        down: float = 0.2,
        window: int = 64,
        end_tokens: int | Sequence[int] = (),
    ) -> None:
        mixture = Mixture.of(task).map(as_task)
        first, *others = mixture.parts
        if levels is None:
            levels = [
                level for level in first.levels if all(level in other.levels for other in others)
            ]
        if isinstance(levels, str | bytes) or not isinstance(levels, Mapping | Sequence):
            raise UsageError(f"Levels {short(levels)}: expected a list of levels of the task.")
        if not isinstance(levels, Mapping):
            levels = {level: _at(mixture, level) for level in levels}
        if not levels:
            names = " and ".join(repr(part.name) for part in mixture.parts)
            raise UsageError(
                f"A curriculum needs levels, which are missing for {names}. Give levels=."
            )
        check_whole_number("Window", window, least=1)
        upper, lower = real_number(up), real_number(down)
        if upper is None or lower is None or not lower < upper:
            raise UsageError(
                f"down={short(down)} and up={short(up)}: expected two numbers, down less than up."
            )
        self._up, self._down, self._window = upper, lower, window
        self._end_tokens = {end_tokens} if isinstance(end_tokens, int) else {*end_tokens}
        self._rows: dict[str, StreamRows] = {}
        for level, source in levels.items():
            several = isinstance(source, Mapping | list | tuple) and len(source) > 0
            if not (several or isinstance(source, Task)):
                raise UsageError(f"Level {level!r} is {short(source)}: expected a task.")
            tasks = Mixture.of(source).map(as_task)
            _check_texts(tasks)
            self._rows[level] = StreamRows(tasks, split, seed)
        self._names = list(levels)
        self._given = dict.fromkeys(self._names, 0)  # how many rows of each level were given
        self._rewards: list[float] = []
        self.level = self._names[0]

    def __repr__(self) -> str:
        return f"<curriculum of levels {', '.join(self._names)}, now {self.level}>"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as `prompts` has them, with the column `level`, each of the level at hand."""
        while True:
            level = self.level
            rows, number = self._rows[level], self._given[level]
            self._given[level] += 1
            yield {**_prompt(rows.tasks, *rows[number]), "level": level}

    def dataset(self) -> datasets.IterableDataset:
        """The same rows as an `IterableDataset`, for trainers. It must not be shuffled.

        A trainer may read a few rows ahead. The reward of a row counts only while the row's level
        is the current level.
        """
        import datasets

        return datasets.IterableDataset.from_generator(self.__iter__)

    def reward(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """Score completions, and let the level follow. A reward function for TRL's GRPOTrainer.

        Args:
            completions: texts or lists of chat messages.
            columns: the columns of their rows, with `level`, as lists as long as `completions`. A
                column `finish_reason` marks truncated completions, as in `trl_reward`.

        Returns:
            1.0 or 0.0 for each completion.

        Raises:
            UsageError: a column is missing, or a level is not in this curriculum.
        """
        if columns.get("level") is None:
            raise UsageError("The rewards of a curriculum need the column 'level' of its rows.")
        # Of all levels, since a trainer reads ahead.
        names = [
            "level",
            *dict.fromkeys(name for rows in self._rows.values() for name in _columns(rows.tasks)),
        ]
        levels, rewards = [], []
        rows = rows_of(completions, names, columns)
        truncated = truncations(completions, columns, self._end_tokens)
        for completion, row, is_cut in zip(completions, rows, truncated, strict=True):
            levels.append(level := row.pop("level"))
            check_name("level of this curriculum", level, self._names)
            tasks = self._rows[level].tasks
            task, columns = (tasks.parts[0], row) if tasks.is_single else carried_row(row)
            rewards.append(reward_of(task, columns, completion, truncated=is_cut))
        for level, reward in zip(levels, rewards, strict=True):
            if level == self.level:
                self._record(reward)
        return rewards

    def _record(self, reward: float) -> None:
        """Count a reward of the level at hand. A full window decides about the level."""
        self._rewards.append(reward)
        if len(self._rewards) < self._window:
            return
        mean, index = sum(self._rewards) / self._window, self._names.index(self.level)
        index += (mean >= self._up) - (mean <= self._down)
        self._rewards = []
        self.level = self._names[min(max(index, 0), len(self._names) - 1)]

    def state_dict(self) -> dict[str, Any]:
        """Everything that `load_state_dict` needs to continue, as JSON values."""
        return {"level": self.level, "rewards": [*self._rewards], "given": {**self._given}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where `state_dict` was called, without repeating earlier rows.

        Args:
            state: what `state_dict` returned, in a curriculum with the same arguments.

        Raises:
            UsageError: `state` is something else.
        """
        shape = {"level": str, "rewards": list, "given": dict}
        if not (
            isinstance(state, Mapping)
            and state.keys() == shape.keys()
            and all(isinstance(state[name], kind) for name, kind in shape.items())
            and all(map(is_number, state["rewards"]))
        ):
            raise UsageError(f"State {short(state)}: expected what state_dict returns.")
        if list(state["given"]) != self._names or state["level"] not in self._names:
            raise UsageError(
                f"State of the levels {', '.join(map(str, state['given']))}: this curriculum has "
                f"{', '.join(self._names)}."
            )
        for count in state["given"].values():
            check_whole_number("Rows given", count, least=0)
        self.level, self._rewards = state["level"], list(state["rewards"])
        self._given = dict(state["given"])


def _at(tasks: Mixture[Task], level: str) -> dict[Source, int]:
    """The tasks at one of their levels, with their weights."""
    parts = [changed(task, level=level) for task in tasks.parts]
    return dict(zip(parts, tasks.weights, strict=True))


def _check_texts(tasks: Mixture[Task]) -> None:
    """Raise a UsageError if the rows of a level cannot be prompts of text."""
    for task in tasks.parts:
        check_askable(task)
        if TEXT not in task.columns:
            raise UsageError(f"A curriculum needs rows of text, which {task.name!r} does not have.")
    check_mixable(tasks)


def _prompt(tasks: Mixture[Task], task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a level as `prompts` has it."""
    answer = task.answer.format_answer(row[LABEL])
    prompt = {"id": row["id"], "prompt": Conversation(task).messages(row), "answer": answer}
    columns = {name: row[name] for name in task.columns}
    return {**prompt, **(columns if tasks.is_single else carried(task, row))}


def _columns(tasks: Mixture[Task]) -> tuple[str, ...]:
    """The columns by which answers to a level's rows are judged."""
    return tuple(tasks.parts[0].columns) if tasks.is_single else (TASK, ROW)
