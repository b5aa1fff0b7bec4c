"""The reference solver over whole columns: the parity of a + b chooses between c and d."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.parity.task import Parity


def prove_rows(task: Parity, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    n_values, tokens = task.parameters.n_values, block["tokens"].astype(np.int64)
    numbers = tokens[:, :4] - 1  # the id of the number n is n + 1, that of = is the last
    a, b, c, d = numbers.T
    right: NDArray[np.bool_] = ((numbers >= 0) & (numbers < n_values)).all(axis=1)
    right &= (tokens[:, 4:] == n_values + 1).all(axis=1) & (tokens.shape[1] == 5)
    right &= numpy_array(rows["label"]) == np.where((a + b) % 2 == 1, c, d)
    for name, number in zip("abcd", numbers.T, strict=True):
        right &= numpy_array(rows[name]) == number
    return right
