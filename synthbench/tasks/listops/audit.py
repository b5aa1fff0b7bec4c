"""What `audit` looks for in listops."""

from __future__ import annotations

from synthbench.tasks.audit_spec import AuditSpec
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees import audit as trees_audit


def audit_spec(task: ListOps) -> AuditSpec:
    """As for all trees, with strict ties: of equal arguments the first may be needlessly deep."""
    parameters = {**task.parameters.to_dict(), "ties": "strict"}
    return trees_audit.audit_spec(ListOps(task.variant, parameters, task.seed))
