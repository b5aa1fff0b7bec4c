"""Nested + and * modulo 10 (NDR 3.2): the task and its solver."""

from synthbench.tasks.arithmetic.task import Arithmetic

__all__ = ["Arithmetic"]
