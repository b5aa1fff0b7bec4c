"""A dataset directory: its manifest, shards and card, how it is read and how it is published."""

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import Manifest

__all__ = ["DatasetDirectory", "Manifest"]
