"""Audit of addition: answers without carries, and answers from one number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from synthbench.tasks.addition import digits
from synthbench.tasks.addition.digits import Digits
from synthbench.tasks.addition.ids import numbers
from synthbench.tasks.addition.task import Addition
from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, Shortcut, Values, fixed
from synthbench.tasks.audit_spec import numbers as values

#: From the digits of a and b, the least significant first, to those of an answer.
Guess = Callable[[Digits, Digits], Digits]


def audit_spec(task: Addition) -> AuditSpec:
    """Shortcuts that leave out carries or a number, rows with a and b exchanged, and balances."""
    is_sum = task.variant == "addition"

    def guess(name: str, text: str, answer: Guess) -> Shortcut:
        def answers(columns: Columns) -> list[str]:
            a, b = numbers(task.parse(columns)["tokens"])
            ids = task.answers(answer(a, b), digits.lengths(a), digits.lengths(b))
            texts: list[str] = task.answer.cast(ids.astype(np.int64)).to_pylist()
            return texts

        return fixed(name, text, answers)

    def last_digit(a: Digits, b: Digits) -> Digits:
        longer = _longer(a, b).copy()
        longer[:, 0] = (a[:, 0] + b[:, 0] if is_sum else a[:, 0] * b[:, 0]) % 10
        return longer

    no_carries = guess(
        "no carries", "Every digit is the last one of the sum of two.", lambda a, b: (a + b) % 10
    )
    distributions: dict[str, Callable[[Columns], Values]] = {
        "last digit of the answer": lambda columns: _last_digits(task, columns)
    }
    if is_sum:
        distributions["number of carries"] = lambda columns: digits.carries(
            *numbers(task.parse(columns)["tokens"])
        )
    return AuditSpec(
        shortcuts=(
            guess("copy of the longer number", "a if it is not shorter than b, else b.", _longer),
            guess("last digit", "The longer number, with the right digit at its end.", last_digit),
            *([no_carries] if is_sum else []),
        ),
        near_duplicate_keys={
            "the same with a and b exchanged": lambda columns: task.problem(task.parse(columns))
        },
        distributions=distributions,
        levels=Levels(
            "digits of the longer number",
            lambda columns: np.maximum(values(columns["digits_a"]), values(columns["digits_b"])),
            each_must_be_hard=False,  # without carries, half of all one-digit sums are right
        ),
    )


def _longer(a: Digits, b: Digits) -> Digits:
    return np.where((digits.lengths(a) >= digits.lengths(b))[:, None], a, b)


def _last_digits(task: Addition, columns: Columns) -> list[str]:
    """The least significant digit of each answer."""
    place = 0 if task.parameters.order == "reversed" else -1
    return [label[place] for label in columns["label"].to_pylist()]
