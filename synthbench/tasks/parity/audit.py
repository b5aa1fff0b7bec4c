"""Audit of parity: guesses of the label from some of the four numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, by_key, codes, numbers
from synthbench.tasks.parity.solver import asks_for_c
from synthbench.tasks.parity.task import Parity


def audit_spec(task: Parity) -> AuditSpec:
    """Shortcuts through some of the numbers, and equations with a and b exchanged."""
    return AuditSpec(
        shortcuts=(
            by_key("c alone", "The most frequent label for c.", _key("c")),
            by_key("d alone", "The most frequent label for d.", _key("d")),
            by_key(
                "c and d, neither a nor b",
                "Both possible answers, but nothing that says which of them is right.",
                _key("c", "d"),
            ),
            by_key("c, d and a", "The same, and whether a is odd.", _key("c", "d", "a")),
            by_key("c, d and b", "The same, and whether b is odd.", _key("c", "d", "b")),
        ),
        near_duplicate_keys={"the same with a and b exchanged": _without_order},
        distributions={
            "what is asked for": _asked_for,
            "c and d": lambda columns: np.where(
                numbers(columns["c"]) == numbers(columns["d"]), "equal", "different"
            ),
            "a and b": _parities,
        },
    )


def _asked_for(columns: Columns) -> list[str]:
    pairs = zip(columns["a"].to_pylist(), columns["b"].to_pylist(), strict=True)
    return ["c" if asks_for_c(a, b) else "d" for a, b in pairs]


def _parities(columns: Columns) -> NDArray[np.str_]:
    kinds = np.array(["both even", "a odd", "b odd", "both odd"])
    return kinds.take((numbers(columns["a"]) & 1) + 2 * (numbers(columns["b"]) & 1))


def _key(*names: str) -> Callable[[Columns], NDArray[np.int64]]:
    """These numbers, but of `a` and `b` only whether they are odd."""
    return lambda columns: np.column_stack(
        [numbers(columns[name]) & (1 if name in "ab" else -1) for name in names]
    )


def _without_order(columns: Columns) -> NDArray[np.uint64]:
    four = np.column_stack([numbers(columns[name]) for name in "abcd"])
    four[:, :2].sort(axis=1)
    return codes(four + 1)
