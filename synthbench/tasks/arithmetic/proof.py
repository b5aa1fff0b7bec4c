"""The reference solver over whole columns: the innermost brackets of all rows come first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arithmetic.task import IDS, OPERATORS, Arithmetic
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.trees.nesting import Nesting


def prove_rows(task: Arithmetic, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    nesting, modulus = Nesting.read(block["tokens"], task.tokens), task.parameters.modulus
    is_operator = np.isin(nesting.tokens, [IDS[operator] for operator in OPERATORS])
    if is_operator[nesting.roots].any():
        raise ValueError("a row is an operator")
    value = (nesting.tokens.astype(np.int32) - IDS["0"]) % modulus
    depth, needed = np.zeros_like(value), np.zeros_like(value)
    for operations, parts in nesting.from_inside():
        if (is_operator[parts] != [False, True, False]).any():
            raise ValueError("brackets without an operation of two operands")
        operands, is_product = parts[:, ::2], nesting.tokens[parts[:, 1]] == IDS["*"]
        values, depths = value[operands], needed[operands]
        # A factor of 0 decides alone, the shallower of two.
        decides = is_product[:, None] & (values == 0)
        shallowest = np.where(decides, depths, np.iinfo(np.int32).max).min(axis=1)
        deciding = np.where(decides.any(axis=1), shallowest, depths.max(axis=1))
        result = np.where(is_product, values.prod(axis=1), values.sum(axis=1))
        value[operations], needed[operations] = result % modulus, 1 + deciding
        depth[operations] = 1 + depth[operands].max(axis=1)
    lengths = (block["tokens"] > 0).sum(axis=1)
    right: NDArray[np.bool_] = numpy_array(rows["length"]) == lengths
    for name, computed in (("label", value), ("depth", depth), ("dependency_depth", needed)):
        right &= numpy_array(rows[name]) == computed[nesting.roots]
    return right
