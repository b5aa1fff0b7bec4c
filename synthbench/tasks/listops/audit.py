"""What `audit` looks for in listops: see `trees.audit`."""

from __future__ import annotations

import functools

from synthbench.tasks.audit_spec import AuditSpec
from synthbench.tasks.listops.solver import apply, deciding, read_tree
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees.audit import Reader, tree_audit_spec


def audit_spec(task: ListOps) -> AuditSpec:
    """Shortcuts through parts of the tree, and depths that are not needed; ties are strict."""
    return tree_audit_spec(task, tree_reader(task))


def tree_reader(task: ListOps) -> Reader:
    """How an audit reads the task's trees: by the reference solver."""
    return Reader(
        read=functools.partial(read_tree, strict=True),
        apply=apply,
        deciding=functools.partial(deciding, strict=True),
        operators=task.parameters.operators,
    )
