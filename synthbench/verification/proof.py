"""Proof of many rows at once, by a task's module `proof`.

    synthbench/tasks/mqar/proof.py      prove_rows(task, block, rows)

`prove_rows` gets rows as `Task.parse` reads them, and their columns without nulls. It returns which
rows are right, by the rule of the reference solver over whole columns. It must not accept a row
that the solver refutes. It may reject a right row or raise ValueError, because the reference solver
then solves the rows without proof, and reports the first wrong row.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.base import Block, Task

Prover = Callable[[Any, Block, Mapping[str, pa.Array]], NDArray[np.bool_]]


def proved(task: Task, block: Block | None, rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """The rows that the task's module `proof` proves, bool `(rows,)`. All False without a module.

    Args:
        task: the task.
        block: the rows as `Task.parse` reads them; None if it cannot.
        rows: the rows, with all columns of a shard.
    """
    prove, columns = prover(type(task)), {name: rows.column(name) for name in task.columns}
    if prove is None or block is None or any(map(_has_nulls, columns.values())):
        return np.zeros(rows.num_rows, np.bool_)
    try:
        return prove(task, block, columns)
    except Exception:  # it may raise anything on an invalid row
        return np.zeros(rows.num_rows, np.bool_)


@functools.cache
def prover(task: type[Task]) -> Prover | None:
    """The function `prove_rows` in the package of a task, or None.

    Packages of base classes do not count, because a derived task may have another rule.
    """
    package = task.__module__.rpartition(".")[0]
    path = f"{package}.proof"
    if not package or importlib.util.find_spec(path) is None:
        return None
    prove_rows: Prover | None = getattr(importlib.import_module(path), "prove_rows", None)
    return prove_rows


def _has_nulls(values: pa.Array) -> bool:
    if values.null_count:
        return True
    return pa.types.is_list(values.type) and _has_nulls(values.flatten())
