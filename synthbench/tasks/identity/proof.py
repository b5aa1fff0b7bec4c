"""The reference solver over whole columns: the label is the vector itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.base import Block
from synthbench.tasks.identity.task import Identity
from synthbench.tasks.numeric import unnest


def prove_rows(task: Identity, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    x, label = (unnest(rows[name], (task.parameters.dims,), name) for name in ("x", "label"))
    right: NDArray[np.bool_] = (x == label).all(axis=1)
    return right
