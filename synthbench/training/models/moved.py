"""Parameters that are moved a little, so that weights that begin with 0 hide nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

#: The standard deviation of the noise that is added to each parameter.
MOVED = 0.1


@contextlib.contextmanager
def moved(parameters: list[nn.Parameter], far: float) -> Iterator[None]:
    """Add noise to all parameters for a while, without a change of random state."""
    before = [parameter.detach().clone() for parameter in parameters]
    draws = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in parameters:
            if parameter.is_floating_point() or parameter.is_complex():
                noise = torch.randn(parameter.shape, generator=draws).to(parameter)
                parameter.add_(noise, alpha=far)
    try:
        yield
    finally:
        with torch.no_grad():
            for parameter, old in zip(parameters, before, strict=True):
                parameter.copy_(old)
