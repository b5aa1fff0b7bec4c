"""The kinds of attention against softmax: `python -m benchmarks attention [--rows 32]`.

Milliseconds forward and backward of one layer, the lower quartile of many passes, and how many
times softmax's that is. The sizes are those of NDR on ListOps, but for the rows.
"""

import argparse
import time

import numpy as np
import torch

from synthbench.text.tables import Table, render
from synthbench.training.layers.attention import NORMALISATIONS, Attention
from synthbench.training.options import PRECISIONS, Setting


def main(words):
    """Measure all kinds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks attention", description=__doc__)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--d-model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="float32", choices=PRECISIONS)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args(words)
    setting = Setting(arguments.device, arguments.precision, arguments.compile)
    layers = {kind: _Layer(kind, arguments, setting) for kind in NORMALISATIONS}
    # In turns, so that what else the machine does is shared by all.
    seconds = [[layer.pass_through() for layer in layers.values()] for _ in range(arguments.times)]
    taken = np.quantile(seconds, 0.25, axis=0)
    against = taken[list(layers).index("softmax")]
    lines = [
        (kind, f"{1e3 * duration:.2f}", f"{duration / against:.2f}")
        for kind, duration in zip(layers, taken, strict=True)
    ]
    print(render(Table(("attention", "ms", "times softmax"), lines, right=(1, 2))))


class _Layer:
    """A layer of attention of one kind, and what goes through it."""

    def __init__(self, kind, arguments, setting):
        self._setting = setting
        device, shape = setting.device, (arguments.rows, arguments.length)
        layer = Attention(arguments.d_model, arguments.heads, normalisation=kind).to(device)
        self._forward = torch.compile(layer) if setting.compiled else layer
        self._states = torch.randn(*shape, arguments.d_model, device=device, requires_grad=True)
        self._mask = torch.ones(shape, dtype=torch.bool, device=device)

    def pass_through(self):
        """Seconds forward and backward."""
        _wait(self._setting.device)
        started = time.perf_counter()
        with self._setting.autocast():
            mixed = self._forward(self._states, self._mask)
        mixed.float().sum().backward()
        _wait(self._setting.device)
        return time.perf_counter() - started


def _wait(device):
    """Until the device has done what it was asked to."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
