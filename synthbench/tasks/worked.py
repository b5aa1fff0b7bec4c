"""Worked solutions: the steps that lead to the answer of a row, in words, checked by replay.

A task whose rows can be worked out in words has a module `worked.py` beside its own
(`synthbench.tasks.optional_modules`), with two functions that share no calculation:

    write_steps(task, question)            the steps, a line each, from the reference solver
    replay_steps(task, question, steps)    the answer to which the steps lead. A ValueError for a
                                           step that does not follow from the question and the
                                           steps before it

Steps are written and read by the same sentences:

    >>> from synthbench.tasks.worked import Sentence
    >>> takes = Sentence("{} takes {} to {}.")
    >>> takes("d", 101, 100)
    'd takes 101 to 100.'
    >>> takes.read("d takes 101 to 100.")
    ('d', '101', '100')
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from synthbench.errors import TaskError, UsageError
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.optional_modules import optional_function
from synthbench.text.lines import short

Write = Callable[[Any, Any], Iterable[str]]
Replay = Callable[[Any, Any, Sequence[str]], Any]


class Sentence:
    """A sentence with gaps, to be filled and to be read.

    Args:
        form: the sentence, with `{}` for each gap. Between two gaps is a text that does not occur
            in what fills the first of them.
    """

    def __init__(self, form: str) -> None:
        self._form = form
        parts = map(re.escape, form.split("{}"))
        self._match = re.compile("(.+?)".join(parts)).fullmatch

    def __call__(self, *values: object) -> str:
        """The sentence with these values."""
        return self._form.format(*values)

    def read(self, step: str) -> tuple[str, ...]:
        """The values in a step.

        Raises:
            ValueError: the step is another sentence.
        """
        if (match := self._match(step)) is None:
            raise ValueError(f"the step {step!r} is not of the form {self._form!r}")
        return match.groups()


def expect(step: str, *pairs: tuple[object, object]) -> None:
    """Raise a ValueError unless the two values of each pair are equal as text."""
    for said, true in pairs:
        if str(said) != str(true):
            raise ValueError(f"the step {step!r} says {said} where it is {true}")


def ended(steps: Iterator[str]) -> None:
    """Raise a ValueError if there are more steps."""
    if (step := next(steps, None)) is not None:
        raise ValueError(f"the step {step!r} comes after the answer is known")


def following(steps: Iterator[str]) -> str:
    """The next step, or a ValueError."""
    if (step := next(steps, None)) is None:
        raise ValueError("the steps end before the answer is known")
    return step


def worked_steps(task: Task, row: Mapping[str, Any]) -> list[str]:
    """The steps that lead to a row's answer, each a line.

    Args:
        task: the row's task.
        row: the row, with its label.

    Raises:
        UsageError: the task lacks worked solutions, the row is not one of its rows, or its label
            is not the answer.
        TaskError: the steps of the task's own `worked.py` do not hold.
    """
    return _worked(task, row)[0]


def _worked(task: Task, row: Mapping[str, Any]) -> tuple[list[str], Any]:
    """The steps and the answer to which they lead, any right answer if the task is checked."""
    functions = worked_functions(type(task))
    if functions is None:
        raise UsageError(
            f"Task {task.name!r} has no worked solutions: a module worked.py beside the task's own "
            "would give them."
        )
    write, replay = functions
    question = row.get(task.inputs[0])
    try:
        steps = list(write(task, question))
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{short(question)} is not a question of {task.name}: {error}.") from None
    try:
        answer = replay(task, question, steps)
    except ValueError as error:
        raise TaskError(f"write_steps of {task.name}: {error}.") from error
    if task.is_checked and not _is_right(task, row, row[LABEL]):
        raise UsageError(
            f"The label of {short(question)} is {short(row[LABEL])}, which check of {task.name} "
            "refuses."
        )
    if not _is_right(task, row, answer):
        kind = TaskError if task.is_checked else UsageError
        raise kind(
            f"The label of {short(question)} is {short(row[LABEL])}, but its steps lead to "
            f"{short(answer)}."
        )
    return steps, answer


def _is_right(task: Task, row: Mapping[str, Any], answer: Any) -> bool:
    """True if an answer is right by the row's label, which may be anything."""
    try:
        return task.score(row, answer) == 1
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return False


@functools.cache
def worked_functions(cls: type[Task]) -> tuple[Write, Replay] | None:
    """The functions of the module `worked.py` beside a class of tasks, or None."""
    write = optional_function(cls, "worked", "write_steps")
    replay = optional_function(cls, "worked", "replay_steps")
    return None if write is None or replay is None else (write, replay)


def answer_line(answer: str) -> str:
    """The last line of a worked solution, in the form that prompts ask for."""
    return f"Answer: {answer}"


def solution(task: Task, row: Mapping[str, Any]) -> str:
    """The steps of `worked_steps` and the line with the answer, as one text.

    The steps of a checked task may lead to another right answer than the label.
    """
    steps, answer = _worked(task, row)
    value = task.answer.from_solver(answer)
    return "\n".join([*steps, answer_line(task.answer.format_answer(value))])
