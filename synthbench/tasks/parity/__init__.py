"""Parity reasoning (Eureka, section 4)."""

from synthbench.tasks.parity.task import Parity

__all__ = ["Parity"]
