"""Fresh rows without end, by number: for NumPy, PyTorch and language models."""

from synthbench.streaming.batches import Batches
from synthbench.streaming.columns import stream

__all__ = ["Batches", "stream"]
