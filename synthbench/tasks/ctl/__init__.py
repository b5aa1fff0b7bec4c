"""Compositional table lookup (NDR 3.1): the task, its solver and its audit."""

from synthbench.tasks.ctl.task import CompositionalTableLookup

__all__ = ["CompositionalTableLookup"]
