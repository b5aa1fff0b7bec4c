"""Audit of listops."""

from __future__ import annotations

from synthbench.tasks.audit_spec import AuditSpec
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees import audit as trees_audit


def audit_spec(task: ListOps) -> AuditSpec:
    """The shortcuts of all trees. Strict ties show depth that the first of equal arguments adds."""
    parameters = {**task.parameters.to_dict(), "ties": "strict"}
    return trees_audit.audit_spec(ListOps(task.variant, parameters, task.seed))
