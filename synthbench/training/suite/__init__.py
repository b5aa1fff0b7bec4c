"""A suite: layers of your own on several settings, beside stored baselines."""

from synthbench.training.suite.run import reproduce_suite

__all__ = ["reproduce_suite"]
