"""The identity task (Counting III-C)."""

from synthbench.tasks.identity.task import Identity

__all__ = ["Identity"]
