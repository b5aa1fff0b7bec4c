"""What `audit` looks for in arithmetic: see `trees.audit`."""

from __future__ import annotations

import functools

from synthbench.tasks.arithmetic.solver import apply, deciding, read_expression
from synthbench.tasks.arithmetic.task import Arithmetic
from synthbench.tasks.audit_spec import AuditSpec
from synthbench.tasks.trees.audit import Reader, tree_audit_spec


def audit_spec(task: Arithmetic) -> AuditSpec:
    """Shortcuts through parts of the tree, and depths that are not needed."""
    return tree_audit_spec(task, tree_reader(task))


def tree_reader(task: Arithmetic) -> Reader:
    """How an audit reads the task's trees: by the reference solver."""
    modulus = task.parameters.modulus
    return Reader(
        read=functools.partial(read_expression, modulus=modulus),
        apply=functools.partial(apply, modulus=modulus),
        deciding=deciding,
        operators=task.parameters.operators,
    )
