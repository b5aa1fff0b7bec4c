"""The reference solver over whole columns: each product is the one before it times an element."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.state_tracking import solver
from synthbench.tasks.state_tracking.task import StateTracking


def prove_rows(
    task: StateTracking, block: Block, rows: Mapping[str, pa.Array]
) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    elements, label = block["tokens"], task.vocabulary.encode(rows["label"])
    if label.shape != elements.shape:
        raise ValueError("a label does not have as many elements as its row")
    before = np.pad(label, ((0, 0), (1, 0)))[:, :-1]
    products = _products(task.rule, task.tokens)[before, elements]
    lengths = (elements > 0).sum(axis=1)
    right: NDArray[np.bool_] = (label == products).all(axis=1)
    right &= numpy_array(rows["length"]) == lengths
    return right


@functools.lru_cache(maxsize=8)
def _products(group: solver.Group, names: tuple[str, ...]) -> NDArray[np.int16]:
    """The id of each product by the ids of its factors, as the solver multiplies names.

    Id 0 is the empty product on the left, and padding on the right and in the table. Elements that
    rows do not have are padding, too.
    """
    if not all(solver.is_element(group, name) for name in names):
        raise ValueError(f"a token is not an element of {group}")
    ids = {name: number for number, name in enumerate(names, 1)}
    table = np.zeros((1 + len(names), 1 + len(names)), np.int16)
    symbols = [name for name in names if solver.is_symbol(group, name)]
    columns = [ids[name] for name in symbols]
    table[0, columns] = columns
    for x in names:
        table[ids[x], columns] = [ids[solver.product(group, x, y)] for y in symbols]
    return table
