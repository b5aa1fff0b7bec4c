"""Audit of ctl: labels that follow from a single function or symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, by_key, codes
from synthbench.tasks.ctl.task import CompositionalTableLookup


def audit_spec(task: CompositionalTableLookup) -> AuditSpec:
    """Shortcuts by symbol or last function, and rows that differ only in the symbol."""
    names = np.array(["", *task.functions])

    def functions(columns: Columns) -> NDArray[np.int64]:
        """Numbers from 1 in the order of computation, padded with 0."""
        return task.symbols_and_functions(task.parse(columns))[1].astype(np.int64)

    def last(columns: Columns) -> NDArray[np.int64]:
        applied = functions(columns)
        ids: NDArray[np.int64] = applied[np.arange(len(applied)), (applied > 0).sum(axis=1) - 1]
        return ids

    def start(columns: Columns) -> NDArray[np.int64]:
        return task.symbols_and_functions(task.parse(columns))[0].astype(np.int64)

    def every(columns: Columns) -> NDArray[np.str_]:
        applied = functions(columns)
        return names.take(applied[applied > 0])

    return AuditSpec(
        shortcuts=(
            by_key(
                "last function alone",
                "The most frequent label after the function that is applied last.",
                last,
            ),
            by_key(
                "start symbol alone",
                "The most frequent label from the symbol that the functions are applied to.",
                start,
            ),
        ),
        near_duplicate_keys={
            "the same functions from another symbol": lambda columns: codes(functions(columns))
        },
        distributions={
            "start symbol": lambda columns: np.array(task.symbols)[start(columns)],
            "functions": every,
            "last function": lambda columns: names[last(columns)],
        },
    )
