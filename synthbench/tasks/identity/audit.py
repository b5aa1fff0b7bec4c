"""Audit of identity: an answer that ignores the row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Predictor, Shortcut
from synthbench.tasks.identity.task import Identity


def audit_spec(task: Identity) -> AuditSpec:
    """The mean of train as the answer, and how large the numbers are."""
    parameters = task.parameters

    def fit_mean(train: Columns) -> Predictor:
        mean = train["x"].flatten().to_numpy().mean()
        return lambda columns: np.full((len(columns["x"]), parameters.dims), mean)

    def magnitude(columns: Columns) -> NDArray[np.int64]:
        largest = max(parameters.train_range, parameters.test_range)
        tenths = np.abs(columns["x"].flatten().to_numpy()) * (10 / largest)
        magnitudes: NDArray[np.int64] = np.minimum(tenths, 9).astype(np.int64)
        return magnitudes

    return AuditSpec(
        shortcuts=(Shortcut("train's mean", "The mean number of train, always.", fit_mean),),
        distributions={"magnitude, in tenths of the largest": magnitude},
    )
