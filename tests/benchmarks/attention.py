"""The kinds of attention against softmax: `python -m tests.benchmarks attention [--rows 32]`.

Milliseconds forward and backward of one layer, the fastest quarter of many, and as a multiple of
softmax's. The sizes are those of NDR on ListOps, but for the rows.
"""

from __future__ import annotations

import argparse
import time

import torch

from synthbench.tables import text_table
from synthbench.train.attention import NORMALISATIONS, Attention
from synthbench.train.setting import PRECISIONS, Setting


def main(words: list[str]) -> None:
    """Measure all kinds."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks attention", description=__doc__
    )
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--d-model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="float32", choices=PRECISIONS)
    parser.add_argument("--compile", action="store_true")
    chosen = parser.parse_args(words)
    setting = Setting.make(chosen.device, chosen.precision, chosen.compile)
    taken = {kind: _milliseconds(kind, chosen, setting) for kind in NORMALISATIONS}
    lines = [
        (kind, f"{time:.2f}", f"{time / taken['softmax']:.2f}") for kind, time in taken.items()
    ]
    print(text_table(("attention", "ms", "times softmax"), lines, right=(1, 2)))


def _milliseconds(kind: str, chosen: argparse.Namespace, setting: Setting) -> float:
    device = setting.device
    layer = Attention(chosen.d_model, chosen.heads, normalisation=kind).to(device)
    forward = torch.compile(layer) if setting.compiled else layer
    states = torch.randn(chosen.rows, chosen.length, chosen.d_model, device=device)
    states.requires_grad_()
    mask = torch.ones(chosen.rows, chosen.length, dtype=torch.bool, device=device)
    taken = []
    for _ in range(chosen.times):
        _wait(device)
        started = time.perf_counter()
        with setting.autocast():
            mixed = forward(states, mask)
        mixed.float().sum().backward()
        _wait(device)
        taken.append(time.perf_counter() - started)
    return 1e3 * sorted(taken)[chosen.times // 4]


def _wait(device: torch.device) -> None:
    """Until the device has done what it was asked to."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
