"""Fresh rows without end, for NumPy, PyTorch and `datasets`."""

from synthbench.streaming.rounds import datasets_stream, stream

__all__ = ["datasets_stream", "stream"]
