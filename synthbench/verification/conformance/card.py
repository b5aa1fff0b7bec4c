"""The prose of a task's card: what `synthbench new-task` wrote of its own task must not stay."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from synthbench.tasks.base import Task
from synthbench.tasks.new_task import template_task, template_text
from synthbench.tasks.optional_modules import text_beside
from synthbench.text.lines import short
from synthbench.verification.conformance.rows import Problems

_SCORING = "Scoring"
#: For each heading of the template's card, the facts that the task must share.
_RIGHT: dict[str, Callable[[Task, Task], bool]] = {
    "Columns": lambda task, its: str(task.columns) == str(its.columns),
    "How rows are drawn": lambda task, its: (
        [(split.name, split.buckets) for split in task.splits]
        == [(split.name, split.buckets) for split in its.splits]
    ),
    _SCORING: lambda task, its: not task.is_checked and task.labels == its.labels,
}


def check_card(task: Task, questions: list[object]) -> Problems:
    """Nothing in `card.md` or `summary` is about the task of a template, unless it is this task.

    Args:
        task: the task.
        questions: the first inputs of some of its rows.
    """
    either = (_compare_card(task, questions, checked=checked) for checked in (False, True))
    return list(itertools.chain.from_iterable(either))


def _compare_card(task: Task, questions: list[object], *, checked: bool) -> Problems:
    card, its = text_beside(task, "card.md"), template_task(checked=checked)
    problems, ruled = [], _same_rule(task, its, questions)
    if not ruled and task.summary == its.summary:
        problems.append(f"summary is still that of the task that new-task wrote: {its.summary!r}.")
    there = set(_sections(card or "").values())
    for heading, text in _sections(template_text("card.md", checked=checked)).items():
        right = _RIGHT.get(heading)
        if heading == _SCORING and checked:  # it states the rule
            right = None
        same = ruled if right is None else right(task, its)
        if text in there and not same:
            problems.append(
                f"card.md still says of the task that new-task wrote: {short(text)}. Every dataset "
                "shows it: describe your rows."
            )
    return problems


def _sections(card: str) -> dict[str, str]:
    """The text below each heading, on one line. That above the first heading by ""."""
    parts = re.split(r"^#+ +(.*)$", card, flags=re.MULTILINE)
    pairs = zip(["", *parts[1::2]], parts[0::2], strict=True)
    return {heading.strip(): " ".join(text.split()) for heading, text in pairs}


def _same_rule(task: Task, its: Task, questions: list[object]) -> bool:
    """True if the template's task answers questions of this task alike."""
    try:
        return all(its.solve(question) == task.solve(question) for question in questions)
    except Exception:  # a solver may raise anything on another task's questions
        return False
