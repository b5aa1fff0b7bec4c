"""Audit of clusters: an answer in which all points are in one place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, fixed
from synthbench.tasks.clusters.task import Clusters


def audit_spec(task: Clusters) -> AuditSpec:
    """The answer that all points are in one place."""

    def collapse(columns: Columns) -> NDArray[np.float64]:
        points = task.parse(columns)["points"].astype(np.float64)
        return np.broadcast_to(points.mean(axis=1, keepdims=True), points.shape)

    return AuditSpec(shortcuts=(fixed("collapse", "All points at their mean.", collapse),))
