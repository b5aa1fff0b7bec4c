"""The reference solver, compared with the labels as they are written, without reading answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.addition.solver import answer, read_numbers
from synthbench.tasks.addition.task import Addition
from synthbench.tasks.base import Block


def prove_rows(task: Addition, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    parameters = task.parameters
    names = "text", "label", "digits_a", "digits_b"
    right = []
    for text, label, *digits in zip(*(rows[name].to_pylist() for name in names), strict=True):
        a, b = read_numbers(task.variant, parameters.zero_padding, text)
        expected = " ".join(answer(task.variant, parameters.order, parameters.zero_padding, a, b))
        right.append(label == expected and digits == [len(str(int(number))) for number in (a, b)])
    return np.array(right)
