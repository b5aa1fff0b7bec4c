"""What `audit` looks for in modular arithmetic: exchanged numbers, and answers from one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Shortcut, by_key, codes, numbers
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic


def audit_spec(task: ModularArithmetic) -> AuditSpec:
    """Shortcuts through one number or equal answers, and equations with a and b exchanged."""
    shortcuts = [
        by_key("a alone", "The most frequent label for a.", lambda rows: numbers(rows["a"])),
        by_key("b alone", "The most frequent label for b.", lambda rows: numbers(rows["b"])),
    ]
    if task.variant in ("multiply", "sum-of-squares"):
        shortcuts.append(_negated(task))
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


def _negated(task: ModularArithmetic) -> Shortcut:
    """The label of an equation of train that differs in order and signs, and has the same answer.

    Modulo p, -a is p - a: (-a) * (-b) = a * b, and a and -a have the same square.
    """
    modulus = task.parameters.modulus

    def key(columns: Columns) -> NDArray[np.int64]:
        pairs = _pairs(columns)
        negative = (modulus - pairs) % modulus
        if task.variant == "sum-of-squares":
            return np.sort(np.minimum(pairs, negative), axis=1)
        either = [np.sort(one, axis=1) @ [modulus, 1] for one in (pairs, negative)]
        smaller: NDArray[np.int64] = np.minimum(*either)
        return smaller

    return by_key(
        "a and b up to sign and order",
        "The label of a row with the same answer, as -a and p - a are equal modulo p.",
        key,
    )
