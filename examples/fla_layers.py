"""Layers of flash-linear-attention on the suite of layers, on a GPU.

    pip install flash-linear-attention
    synthbench reproduce --suite layers --device cuda --layer examples/fla_layers.py:DeltaNet

Printed, when it is run: the names that may follow the colon.
"""

import inspect
from functools import partial

import fla.layers
from torch import nn

HEADS = 4


class States(nn.Module):
    """A layer of fla from states (rows, width, hidden_size) to states, without its cache."""

    def __init__(self, kind, width):
        super().__init__()
        sizes = {"hidden_size": width, "num_heads": HEADS, "head_dim": width // HEADS}
        known = inspect.signature(kind).parameters
        self.layer = kind(**{name: size for name, size in sizes.items() if name in known})

    def forward(self, states):
        return self.layer(states)[0]


def __getattr__(name):
    return partial(States, getattr(fla.layers, name))


if __name__ == "__main__":
    print(", ".join(fla.layers.__all__))
