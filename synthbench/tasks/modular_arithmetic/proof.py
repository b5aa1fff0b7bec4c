"""The reference solver over whole columns: labels are put into the equations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.modular_arithmetic import solver
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic


def prove_rows(
    task: ModularArithmetic, block: Block, rows: Mapping[str, pa.Array]
) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    form, modulus = solver.FORMS[task.variant].split(), task.parameters.modulus
    a, b, label = (numpy_array(rows[name]).astype(np.int64) for name in ("a", "b", "label"))
    ids: dict[str, object] = {token: number for number, token in enumerate(task.tokens, 1)}
    ids |= {"a": 1 + a, "b": 1 + b}  # the tokens of numbers come first
    tokens = block["tokens"].T
    right: NDArray[np.bool_] = (label >= 0) & (label < modulus)
    for name, column in zip(form, tokens, strict=True):
        right &= column == ids[name]
    for number in (a, b):
        right &= (number >= 0) & (number < modulus)
    match task.variant:
        case "add":
            difference = a + b - label
        case "subtract":
            difference = a - b - label
        case "multiply":
            difference = a * b - label
        case "divide":
            difference = b * label - a
            right &= b != 0
        case _:
            difference = a**2 + b**2 - label
    right &= difference % modulus == 0
    return right
