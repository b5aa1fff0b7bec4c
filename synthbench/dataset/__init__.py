"""A dataset directory: its manifest, shards and card, how it is read and how it is published."""

from synthbench.dataset.dataset import Dataset, Manifest

__all__ = ["Dataset", "Manifest"]
