"""The reference solver over whole columns: the innermost lists of all rows are worked out first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.listops.task import IDS, ListOps
from synthbench.tasks.trees.nesting import Nesting

#: The bits of a depth and of a place among arguments.
_BITS = 10
Numbers = NDArray[np.int32]


def prove_rows(task: ListOps, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    nesting = Nesting.read(block["tokens"], task.tokens)
    if block["tokens"].shape[1] >= 1 << _BITS:
        raise ValueError("a row is too long")
    value = nesting.tokens.astype(np.int32) - IDS["0"]
    depth, needed = np.zeros_like(value), np.zeros_like(value)
    for lists, arguments in nesting.from_inside():
        depth[lists] = 1 + depth[arguments].max(axis=1)
        for operator in filter(lambda token: token[0] == "[", IDS):
            own = nesting.tokens[lists] == IDS[operator]
            some, inside = lists[own], arguments[own]
            value[some], decides = _apply(
                operator[1:], value[inside], needed[inside], task.parameters.ties
            )
            needed[some] = 1 + decides
    lengths = (block["tokens"] > 0).sum(axis=1)
    right: NDArray[np.bool_] = numpy_array(rows["length"]) == lengths
    for name, computed in (("label", value), ("depth", depth), ("dependency_depth", needed)):
        right &= numpy_array(rows[name]) == computed[nesting.roots]
    return right


def _apply(operator: str, values: Numbers, needed: Numbers, ties: str) -> tuple[Numbers, Numbers]:
    """The values of lists, and the largest depth of the arguments that decide, `(lists,)` each.

    Args:
        operator: MIN, MAX, MED or SM.
        values: the values of the arguments, `(lists, arguments)`.
        needed: their dependency depths.
        ties: `strict` or `first`: which of several arguments with the same value decides.
    """
    if operator == "SM":
        return values.sum(axis=1) % 10, needed.max(axis=1)
    # In order of their values. Arguments with the same value in the order in which they decide.
    last = values.shape[1] - 1
    tie = needed if ties == "strict" else np.arange(last + 1, dtype=np.int32)
    order = np.sort(values << 2 * _BITS | tie << _BITS | needed, axis=1)
    values, needed = order >> 2 * _BITS, order & (1 << _BITS) - 1
    low, high = {"MIN": (0, 0), "MAX": (last, last), "MED": (last // 2, (last + 1) // 2)}[operator]
    first, second = ((values < values[:, [place]]).sum(axis=1) for place in (low, high))
    second += (low < high) & (values[:, low] == values[:, high])
    lists = np.arange(len(values))
    deepest = np.maximum(needed[lists, first], needed[lists, second])
    return (values[:, low] + values[:, high]) // 2, deepest
