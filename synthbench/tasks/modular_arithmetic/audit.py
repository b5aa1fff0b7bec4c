"""Audit of modular arithmetic: exchanged numbers, and answers from one of them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import (
    AuditSpec,
    Columns,
    Predictor,
    Shortcut,
    by_key,
    codes,
    numbers,
)
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic

#: How an equation's numbers may be rewritten so that the answer stays, is negated, or is inverted:
#: the signs of a and b, whether they are exchanged, and what happens to the answer.
_SAME, _NEGATED, _INVERTED, _BOTH = 0, 1, 2, 3
_REWRITTEN: dict[str, tuple[tuple[int, int, bool, int], ...]] = {
    "add": (
        (1, 1, True, _SAME),
        (-1, -1, False, _NEGATED),
        (-1, -1, True, _NEGATED),
    ),
    "subtract": (
        (-1, -1, True, _SAME),
        (1, 1, True, _NEGATED),
        (-1, -1, False, _NEGATED),
    ),
    "multiply": (
        (1, 1, True, _SAME),
        (-1, -1, False, _SAME),
        (-1, -1, True, _SAME),
        *((sign, -sign, exchanged, _NEGATED) for sign in (1, -1) for exchanged in (False, True)),
    ),
    "divide": (
        (-1, -1, False, _SAME),
        (1, -1, False, _NEGATED),
        (-1, 1, False, _NEGATED),
        (1, 1, True, _INVERTED),
        (-1, -1, True, _INVERTED),
        (1, -1, True, _BOTH),
        (-1, 1, True, _BOTH),
    ),
    "sum-of-squares": tuple(
        (first, second, exchanged, _SAME)
        for first in (1, -1)
        for second in (1, -1)
        for exchanged in (False, True)
    ),
}


def audit_spec(task: ModularArithmetic) -> AuditSpec:
    """Shortcuts through one number or equal answers, and equations with a and b exchanged."""
    shortcuts = [
        by_key("a alone", "The most frequent label for a.", lambda rows: numbers(rows["a"])),
        by_key("b alone", "The most frequent label for b.", lambda rows: numbers(rows["b"])),
    ]
    if task.variant != "add":  # only the order keeps a sum, and both orders are held out together
        shortcuts.append(_same_answer(task))
    if task.variant != "sum-of-squares":
        shortcuts.append(_known_answer(task))
    return AuditSpec(
        shortcuts=tuple(shortcuts),
        near_duplicate_keys=(
            {"the same with a and b exchanged": _without_order} if task.commutes else {}
        ),
    )


def _without_order(columns: Columns) -> NDArray[np.uint64]:
    return codes(np.sort(_pairs(columns), axis=1) + 1)


def _pairs(columns: Columns) -> NDArray[np.int64]:
    """The numbers a and b, int64 `(rows, 2)`."""
    return np.column_stack([numbers(columns["a"]), numbers(columns["b"])])


def _same_answer(task: ModularArithmetic) -> Shortcut:
    """The label of an equation of train that differs in order and signs, and has the same answer.

    Modulo p, -a is p - a: (-a) * (-b) = a * b, (-a) / (-b) = a / b, (-b) - (-a) = a - b, and a and
    -a have the same square.
    """
    return by_key(
        "a and b up to sign and order",
        "The label of a row with the same answer, as -a and p - a are equal modulo p.",
        lambda columns: _least_form(task, columns, (_SAME,))[0],
    )


def _known_answer(task: ModularArithmetic) -> Shortcut:
    """The same through equations whose answer is the negative or the inverse of this one's, too.

    So b - a is -(a - b), and b / a is the inverse of a / b. Labels of train are rewritten to those
    of the least form of their equation, and predictions back from it.
    """
    changes = (_SAME, _NEGATED, _INVERTED, _BOTH)

    def fit(train: Columns) -> Predictor:
        form, change = _least_form(task, train, changes)
        label = _changed(task, numbers(train["label"]), change)
        of_form = by_key("", "", lambda rows: numbers(rows["form"]))
        predict = of_form.fit({"form": pa.array(form), "label": pa.array(label)})

        def answer(columns: Columns) -> NDArray[np.int64]:
            form, change = _least_form(task, columns, changes)
            return _changed(task, np.asarray(predict({"form": pa.array(form)})), change)

        return answer

    return Shortcut(
        "a and b up to sign and order, answer negated or inverted",
        "The label of a row with the same answer, or the negative or inverse of that of another.",
        fit,
    )


def _least_form(
    task: ModularArithmetic, columns: Columns, changes: Collection[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least code of an equation among its rewritten forms, and its effect on the answer.

    Args:
        task: the task.
        columns: the rows.
        changes: which forms count, by what happens to the answer.

    Returns:
        Codes and changes, int64 `(rows,)` each.
    """
    modulus = task.parameters.modulus
    pairs = _pairs(columns)
    least, change = pairs @ [modulus, 1], np.full(len(pairs), _SAME)
    for first, second, exchanged, changed in _REWRITTEN[task.variant]:
        if changed not in changes:
            continue
        form = pairs * [first, second] % modulus
        form = form[:, ::-1] if exchanged else form
        code = form @ [modulus, 1]
        smaller = code < least
        if task.variant == "divide":
            smaller &= form[:, 1] > 0  # 0 is never the divisor
        least, change = np.where(smaller, code, least), np.where(smaller, changed, change)
    return least, change


def _changed(
    task: ModularArithmetic, answers: NDArray[np.int64], change: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Answers that are negated or inverted, as `change` says. 0, which lacks an inverse, stays."""
    modulus = task.parameters.modulus
    if task.variant == "divide":
        inverses = np.array(
            [pow(number, -1, modulus) if number else 0 for number in range(modulus)]
        )
        answers = np.where((change & _INVERTED) > 0, inverses[answers], answers)
    return np.where((change & _NEGATED) > 0, -answers % modulus, answers)
