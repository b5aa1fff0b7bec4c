"""Counting the colours of a grid (Counting III-A): the task, its grids and its audit."""

from synthbench.tasks.grid_count.task import GridCount

__all__ = ["GridCount"]
