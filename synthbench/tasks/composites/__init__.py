"""Quadrant composites of MNIST, Fashion-MNIST and CIFAR (Eureka, section 4 and A.8)."""

from synthbench.tasks.composites.task import Composites

__all__ = ["Composites"]
