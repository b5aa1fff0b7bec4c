"""Two Gaussian clusters (DNAS, appendix E)."""

from synthbench.tasks.clusters.task import Clusters

__all__ = ["Clusters"]
