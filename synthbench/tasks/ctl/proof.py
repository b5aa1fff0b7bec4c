"""The reference solver over whole columns: each step is the function's value at the step before."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.ctl.task import STEPS, CompositionalTableLookup
from synthbench.tasks.numeric import unwrap
from synthbench.tasks.tokens import pad


def prove_rows(
    task: CompositionalTableLookup, block: Block, rows: Mapping[str, pa.Array]
) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    start, functions = block["tokens"][:, :1], block["tokens"][:, 1:]
    lengths, words = unwrap(rows["steps"], "steps")
    steps = pad(task.vocabulary.ids_of(words), lengths, least=functions.shape[1])
    if steps.shape != functions.shape or not lengths.all():
        raise ValueError("a row does not have as many steps as functions")
    before = np.hstack([start, steps[:, :-1]])
    last = np.take_along_axis(steps, lengths[:, None] - 1, axis=1)[:, 0]
    right: NDArray[np.bool_] = (steps == _values(task)[functions, before]).all(axis=1)
    if task.variant == STEPS:
        labels = task.vocabulary.encode(rows["label"])
        right &= labels.shape == steps.shape and (labels == steps).all(axis=1)
    else:
        right &= numpy_array(rows["label"]) == last - 1
    right &= numpy_array(rows["length"]) == lengths
    return right


@functools.lru_cache(maxsize=8)
def _values(task: CompositionalTableLookup) -> NDArray[np.int16]:
    """The id of a function's value by the ids of function and symbol; 0 for padding."""
    ids = {name: number for number, name in enumerate(task.tokens, 1)}
    values = np.zeros((1 + len(ids), 1 + len(ids)), np.int16)
    for function, table in task.solver.tables.items():
        for symbol, reached in table.items():
            values[ids[function], ids[symbol]] = ids[reached]
    return values
