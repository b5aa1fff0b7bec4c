"""`synthbench.torch_stream`: fresh rows for PyTorch's `DataLoader`."""

from synthbench.streaming.torch import TorchStream

__all__ = ["TorchStream"]
