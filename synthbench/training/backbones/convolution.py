"""Causal convolutions of each channel for itself, and gated convolution as a mixer.

    convolution   c_t = b + Σ_(s = 0 .. kernel - 1) w_s ⊙ x_(t-s),   x before the row is 0
    BaseConv      y_t = (W x_t + a) ⊙ c_t       Arora et al. (Zoology), ICLR 2024

Zoology's model for MQAR has a layer of BaseConv for each of two kernels.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.backbones.block import Mixers
from synthbench.training.options import check_sizes

#: Up to this kernel, a sum of shifted rows is faster than Fourier transforms.
_SHORT = 16


class Convolution(nn.Module):
    """A causal convolution of each channel with its own kernel.

    Long kernels are multiplied as Fourier transforms, in time O(width log width). Rounding errors
    of about 1e-7 then depend on later places, too.

    Args:
        channels: number of channels.
        kernel: how many places a place sees, itself included. It may be longer than a row.
    """

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        check_sizes(channels=channels, kernel=kernel)
        self.weight = nn.Parameter(torch.empty(kernel, channels))
        self.bias = nn.Parameter(torch.empty(channels))
        for parameter in (self.weight, self.bias):  # as nn.Conv1d with groups=channels
            nn.init.uniform_(parameter, -(kernel**-0.5), kernel**-0.5)

    def forward(self, states: Tensor) -> Tensor:
        """`(rows, width, channels)` to the same."""
        convolve = by_shifts if len(self.weight) <= _SHORT else by_fourier
        return convolve(states, self.weight) + self.bias


def by_shifts(states: Tensor, weight: Tensor) -> Tensor:
    """Σ_s weight[s] ⊙ states[t - s], from states `(rows, width, channels)` and `weight`."""
    width, before = states.shape[1], len(weight) - 1
    padded = functional.pad(states, (0, 0, before, 0))
    total = weight[0] * states
    for shift in range(1, before + 1):
        total = total + weight[shift] * padded[:, before - shift :][:, :width]
    return total


def by_fourier(states: Tensor, weight: Tensor) -> Tensor:
    """The same through Fourier transforms of twice the width, so that nothing wraps around."""
    width = states.shape[1]
    exact = torch.promote_types(states.dtype, torch.float32)  # no transforms of bfloat16
    signal = torch.fft.rfft(states.mT.to(exact), n=2 * width)
    kernel = torch.fft.rfft(weight[:width].mT.to(exact), n=2 * width)
    product: Tensor = torch.fft.irfft(signal * kernel, n=2 * width)
    return product[..., :width].mT.to(states.dtype)


class BaseConv(nn.Module):
    """y_t = (W x_t + a) ⊙ c_t, a mixer. C is the causal convolution of x.

    Args:
        d_model: size of a state.
        kernel: how many places a place sees, itself included.

    Raises:
        UsageError: a size is not a whole number from 1.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.convolution import BaseConv
        >>> BaseConv(16, kernel=512)(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(self, d_model: int, kernel: int = 3) -> None:
        super().__init__()
        check_sizes(d_model=d_model, kernel=kernel)
        self.gate = nn.Linear(d_model, d_model)
        self.convolution = Convolution(d_model, kernel)

    def forward(self, states: Tensor) -> Tensor:
        """`(rows, width, d_model)` to the same."""
        mixed: Tensor = self.gate(states) * self.convolution(states)
        return mixed


class BaseConvolutions(Mixers):
    """Zoology's model for MQAR: a layer of BaseConv for each kernel, without MLP.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of a state.
        kernels: how many places each layer sees. In the paper 3, and all places of the row.
        dropout: chance that a unit of an embedding or of a layer's output is dropped.

    Raises:
        UsageError: a size or a chance that is not allowed.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.convolution import BaseConvolutions
        >>> backbone = BaseConvolutions(15, d_model=16, kernels=(3, 7))
        >>> tokens = torch.ones(2, 7, dtype=torch.int64)
        >>> backbone(tokens, torch.tensor([7, 7])).states.shape
        torch.Size([2, 7, 16])
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 64,
        kernels: tuple[int, ...] = (3, 512),
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            vocabulary,
            [functools.partial(BaseConv, kernel=kernel) for kernel in kernels],
            d_model=d_model,
            num_layers=len(kernels),
            mlp=0,
            dropout=dropout,
        )
