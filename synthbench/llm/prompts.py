"""Prompts for language models: rows as chat messages."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, usable_path
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError, unknown_name
from synthbench.generation.cache import cached_dataset
from synthbench.generation.load_dataset import open_with_datasets
from synthbench.llm.conversations import TEXT, Conversation
from synthbench.llm.mixtures import mixed_prompts
from synthbench.sampling.first_rows import first_rows
from synthbench.sampling.plan import Plan, divide, plan_rows
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Mixture, Source, Sources
from synthbench.tasks.registry import as_task, list_tasks
from synthbench.tasks.row_ids import rows_table

if TYPE_CHECKING:
    import datasets

#: The most worked examples in a prompt.
MOST_SHOTS = 10_000


@checked
def prompts(
    task: Sources,
    split: str = "test",
    *,
    limit: int | None = None,
    offset: int = 0,
    rows: Mapping[str, int] | None = None,
    preset: str = "paper",
    shots: int = 0,
    system: str | None = None,
    solutions: bool = False,
) -> datasets.Dataset:
    """Rows as prompts for language models.

    Args:
        task: a task, or its name for the task with its defaults, whose dataset comes from the cache
            as in `load_dataset`, or a dataset directory, whose first variant counts. Write
            `./listops` for a directory that has the name of a task. Or several of these: a list,
            or a mapping to whole numbers, such as `{"listops": 2, "parity": 1}` for two rows of
            listops to each of parity.
        split: the split.
        limit: take only so many rows, in the split's balance. Fewer rows are the first of more.
            Default: all rows, from the dataset.
        offset: leave out so many rows before the first.
        rows: numbers of rows of splits that differ from the preset's. Not allowed with a directory.
        preset: "paper" or "small". Not allowed with a directory.
        shots: worked examples before each question, as turns of the conversation: rows of train,
            the same in every prompt.
        system: a system message, the first of every prompt.
        solutions: whether the worked examples show the steps to their answers, as
            `worked_solution` gives them.

    Returns:
        `id`, `prompt` (chat messages; without `shots` and `system` one of the user), `answer` (the
        right answer as text) and the row's columns. If rows have an image, the message's content is
        a list of a placeholder (`{"type": "image"}`; the image itself is in the row's column) and
        the text, as the processors of Transformers and the trainers of TRL expect. Of several
        tasks, which take turns: `id`, `prompt`, `answer`, `task` (the name, with JSON behind it for
        what differs from the defaults) and `row`, the row's columns as JSON. Without `limit` as
        many rows as give the weights exactly.

    Raises:
        UsageError: an unknown name, a task without a single right answer, an offset beyond the last
            row, worked examples for images or for rows of train, or more of them than train has.

    Example:
        >>> from synthbench import llm
        >>> rows = llm.prompts("parity", limit=2, preset="small")
        >>> rows[0]["prompt"][0]["content"].splitlines()[2]
        '1 8 0 1 ='
        >>> rows[0]["answer"]
        '0'
    """
    sources = Mixture.of(task).map(askable)

    def open_part(part: int, limit: int | None, offset: int = 0) -> datasets.Dataset:
        source = sources.parts[part]
        opened = open_rows(source, split, limit, offset=offset, preset=preset, rows=rows)
        return _with_prompts(opened, opened.conversation(shots, system, solutions))

    if sources.is_single:
        return open_part(0, limit, offset)
    return mixed_prompts(sources.map(lambda source: source.task), limit, offset, open_part)


def _with_prompts(asked_rows: AskedRows, conversation: Conversation) -> datasets.Dataset:
    """Rows of a task with their prompts and answers."""
    task, opened = asked_rows.task, asked_rows.with_datasets()
    columns = opened.column_names
    texts = opened[TEXT] if TEXT in columns else [None] * len(opened)
    image = None if task.image_column is None else {"type": "image", "text": None}
    messages = [conversation.ask(text, image) for text in texts]
    answers = [task.answer.format_answer(label) for label in opened[LABEL]]
    opened = opened.add_column("prompt", messages).add_column("answer", answers)
    return opened.select_columns(["id", "prompt", "answer", *columns[1:]])


class Askable(NamedTuple):
    """A task whose rows can be prompts, and the dataset whose directory was given, if any."""

    task: Task
    dataset: DatasetDirectory | None


@dataclasses.dataclass(frozen=True)
class AskedRows:
    """Rows that can be prompts: of a dataset directory, or drawn for a task.

    Raises a UsageError for a limit or an offset that is not allowed.

    Attributes:
        task: their task.
        split: their split.
        limit: how many of them; None for all.
        offset: how many rows before them are left out.
        dataset: the directory; None if only `limit` rows are drawn.
        plan: of a task, how many rows its splits have.
    """

    task: Task
    split: str
    limit: int | None
    offset: int
    dataset: DatasetDirectory | None
    plan: Plan | None

    def __post_init__(self) -> None:
        if self.limit is not None:
            check_whole_number("Limit", self.limit, least=1, most=sys.maxsize)
        check_whole_number("Offset", self.offset, least=0, most=sys.maxsize)
        if self.offset >= (rows := self._stored):
            raise UsageError(f"Offset {self.offset:,}: split {self.split!r} has {rows:,} rows.")

    @property
    def _stored(self) -> int:
        """The number of rows of the whole split."""
        if self.plan is not None:
            return self.plan.rows(self.split)
        assert self.dataset is not None
        return self.dataset.split(self.task.variant, self.split).rows

    @property
    def _end(self) -> int | None:
        return None if self.limit is None else self.offset + self.limit

    @property
    def count(self) -> int:
        """The number of rows."""
        return min(self._stored, self._end or self._stored) - self.offset

    def with_datasets(self) -> Any:
        """The rows as a `datasets.Dataset`."""
        if self.dataset is None:
            import datasets

            return datasets.Dataset(self._asked())
        opened: Any = open_with_datasets(self.dataset, self.task.variant, self.split)
        end = len(opened) if self._end is None else min(self._end, len(opened))
        return opened.select(range(self.offset, end))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as plain Python values."""
        if self.dataset is None:
            return iter(self._asked().to_pylist())
        rows = self.dataset.rows(self.task.variant, self.split)
        return itertools.islice(rows, self.offset, self._end)

    def conversation(self, shots: int, system: str | None, solutions: bool = False) -> Conversation:
        """The prompts of the rows, with worked examples of train and a system message.

        Raises:
            UsageError: worked examples for images or for rows of train, or more than there are.
        """
        check_whole_number("Shots", shots, least=0, most=MOST_SHOTS)
        if not shots:
            return Conversation(self.task, system, (), solutions)
        split = _split_of_examples(self.task, shots)
        if self.split == split:
            raise UsageError(
                f"Shots {shots}: worked examples are rows of {split}, which would be their own "
                "questions. Allowed with this split is 0."
            )
        return Conversation(self.task, system, self._examples(split, shots), solutions)

    @property
    def metadata(self) -> dict[str, Any]:
        """Notes of an evaluation on the rows: the digest of their split, if they are stored."""
        if self.dataset is None:
            return {"limit": self.limit, "offset": self.offset}
        return {"digest": self.dataset.split(self.task.variant, self.split).digest}

    def _examples(self, split: str, count: int) -> list[dict[str, Any]]:
        """The first rows of another split."""
        if self.plan is not None:
            return _first_examples(self.task, self.plan, split, count)
        assert self.dataset is not None
        rows = self.dataset.rows(self.task.variant, split)
        return _enough(list(itertools.islice(rows, count)), split, count)

    def _asked(self) -> pa.Table:
        """The rows that are drawn for a task, of which there is a limit."""
        assert self.plan is not None
        return _first_rows(self.task, self.plan, self.split, self._end or 1).slice(self.offset)


def _first_rows(task: Task, plan: Plan, split: str, count: int) -> pa.Table:
    drawn = first_rows(task, task.split(split), plan.quotas[split], count)
    return rows_table(task, drawn.block, drawn.fingerprints)


def stream_conversation(task: Task, split: str, shots: int, system: str | None) -> Conversation:
    """The prompts of a stream's rows. Worked examples are rows of train in the task's dataset.

    A stream of train may have these rows, too. Whoever asks it leaves them out.

    Args:
        task: the task.
        split: the stream's split.
        shots: worked examples before each question.
        system: a system message.

    Raises:
        UsageError: worked examples for images, or a number that is not allowed.
    """
    check_whole_number("Shots", shots, least=0, most=MOST_SHOTS)
    if not shots:
        return Conversation(task, system)
    trained = _split_of_examples(task, shots)
    examples = _first_examples(task, plan_rows(task, "paper", None), trained, shots)
    if split == trained and sum(divide(task, task.split(trained), shots + 1).values()) <= shots:
        raise UsageError(
            f"Shots {shots:,}: {trained} has no other rows, and worked examples are never asked; "
            f"allowed with this split are whole numbers from 0 to {shots - 1}."
        )
    return Conversation(task, system, examples)


def _first_examples(task: Task, plan: Plan, split: str, count: int) -> list[dict[str, Any]]:
    return _enough(_first_rows(task, plan, split, count).to_pylist(), split, count)


def _enough(examples: list[dict[str, Any]], split: str, count: int) -> list[dict[str, Any]]:
    """The examples. A UsageError if the split has fewer than were asked for."""
    if len(examples) < count:
        allowed = f"Allowed are whole numbers from 0 to {len(examples)}."
        raise UsageError(f"Shots {count:,}: {split} has {len(examples):,} rows. {allowed}")
    return examples


def _split_of_examples(task: Task, shots: int) -> str:
    """The split that worked examples are taken from."""
    trained = next((split.name for split in task.splits if not split.evaluation), None)
    if trained is None or task.image_column is not None:
        raise UsageError(f"Shots {shots}: {task.name!r} has no texts in train. Allowed is 0.")
    return trained


def open_rows(
    source: Askable,
    split: str,
    limit: int | None,
    *,
    offset: int = 0,
    preset: str = "paper",
    rows: Mapping[str, int] | None = None,
) -> AskedRows:
    """The rows of a task or directory that can be prompts. Arguments as in `prompts`.

    Raises:
        UsageError: an unknown split, a number that is not allowed, or sizes beside a directory.
    """
    task, dataset = source
    if dataset is not None:
        if rows or preset != "paper":
            raise UsageError(
                f"rows={rows!r}, preset={preset!r}: {str(dataset.path)!r} is a dataset directory "
                "and has its own sizes. Leave them out."
            )
        return AskedRows(task, split, limit, offset, dataset, None)
    task.split(split)
    plan = plan_rows(task, preset, rows)
    if limit is None:
        dataset = cached_dataset(task, preset, rows, split)
    return AskedRows(task, split, limit, offset, dataset, plan)


def askable(task: Source) -> Askable:
    """The task of a name or a dataset directory, whose rows can be prompts.

    Raises:
        UsageError: neither a task nor a dataset, or a task without a single right answer.
    """
    dataset = None
    if not isinstance(task, str | Task | PathLike):
        raise unknown_name("task or dataset directory", task, list_tasks())
    if isinstance(task, Task) or task in list_tasks():
        task = as_task(task)
    else:
        if not usable_path("Dataset", task).exists():
            raise unknown_name("task or dataset directory", str(task), list_tasks())
        dataset = DatasetDirectory.open(Path(task))
        task = dataset.make_task()
    check_askable(task)
    return Askable(task, dataset)


def check_askable(task: Task) -> None:
    """Raise a UsageError if a task's rows cannot be prompts."""
    if (reason := why_not_askable(task)) is not None:
        raise UsageError(f"Task {task.name!r} is not for language models: {reason}.")


def why_not_askable(task: Task) -> str | None:
    """The reason why a task's rows cannot be prompts. None if they can."""
    return _why_not_askable(task)


@functools.lru_cache(maxsize=64)  # a task is a value, and rewards ask this of every completion
def _why_not_askable(task: Task) -> str | None:
    columns = task.columns
    if TEXT not in columns and task.image_column is None:
        return "its rows have neither a text nor an image"
    if LABEL not in columns or task.metrics[0] not in task.binary_metrics:
        return "its answers are not right or wrong as a whole"
    if pa.types.is_floating(task.answer.arrow):
        return "its labels have decimals, which are not read in replies"
    return None


def why_not_text(task: Task) -> str | None:
    """The reason why a task's rows cannot be prompts of text alone. None if they can."""
    return "its rows are images" if task.image_column is not None else why_not_askable(task)
