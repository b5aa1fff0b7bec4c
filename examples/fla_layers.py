"""Layers of flash-linear-attention on the suite of layers, on a GPU.

    pip install flash-linear-attention
    synthbench reproduce --suite layers --device cuda --layer examples/fla_layers.py:DeltaNet

Any name in `fla.layers` may stand behind the colon, and `--layer` may be repeated.
"""

import inspect
from functools import partial

import fla.layers
from torch import nn

HEADS = 4


class Causal(nn.Module):
    """A layer of fla: states (rows, width, hidden_size) to the same, without its cache."""

    def __init__(self, kind, width):
        super().__init__()
        sizes = {
            "hidden_size": width,
            "num_heads": HEADS,
            "num_kv_heads": HEADS,
            "head_dim": width // HEADS,
            "expand_k": 1.0,
            "expand_v": 1.0,
        }
        known = inspect.signature(kind).parameters
        self.layer = kind(**{name: size for name, size in sizes.items() if name in known})

    def forward(self, states):
        return self.layer(states)[0]


def __getattr__(name):
    return partial(Causal, getattr(fla.layers, name))
