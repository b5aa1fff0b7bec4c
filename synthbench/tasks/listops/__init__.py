"""ListOps by dependency depth (NDR 3.3): the task, its solver and its distribution."""

from synthbench.tasks.listops.task import ListOps

__all__ = ["ListOps"]
