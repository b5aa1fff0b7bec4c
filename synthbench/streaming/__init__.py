"""Fresh rows without end, for NumPy, PyTorch and `datasets`."""

from synthbench.streaming.batches import Batches
from synthbench.streaming.columns import datasets_stream, stream

__all__ = ["Batches", "datasets_stream", "stream"]
