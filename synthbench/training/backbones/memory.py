"""The recurrent network that writes and reads a differentiable memory: Stack-RNN and Tape-RNN.

    h_t = relu(W x_t + U h_(t-1) + R r_(t-1) + b),   h_0 = 0, r_0 = 0
    m_t, r_t = step(m_(t-1), h_t)

r is read from the memory m. The states are the h_t.

Source: Delétang et al., Neural networks and the Chomsky hierarchy, ICLR 2023, section A.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.options import check_sizes

Memory = TypeVar("Memory")


class Controller(nn.Module):
    """The network around a memory.

    Args:
        d_model: size of h_t.
        read_size: how many numbers are read in a step.
        d_input: size of x_t, by default `d_model`.
    """

    def __init__(self, d_model: int, read_size: int, d_input: int | None = None) -> None:
        super().__init__()
        d_input = d_model if d_input is None else d_input
        check_sizes(d_model=d_model, read_size=read_size, d_input=d_input)
        self.read_size = read_size
        self.input = nn.Linear(d_input, d_model)
        self.recurrent = nn.Linear(d_model + read_size, d_model, bias=False)

    def forward(
        self,
        states: Tensor,
        memory: Memory,
        step: Callable[[Memory, Tensor, Tensor], tuple[Memory, Tensor]],
    ) -> Tensor:
        """All h_t, `(rows, width, d_model)`.

        Args:
            states: all x_t, `(rows, width, d_input)`.
            memory: m_0.
            step: from m_(t-1), r_(t-1) `(rows, read_size)` and h_t `(rows, d_model)` to m_t, r_t.
        """
        hidden = states.new_zeros(len(states), self.input.out_features)
        read = states.new_zeros(len(states), self.read_size)
        outputs = []
        for projection in self.input(states).unbind(1):
            hidden = functional.relu(projection + self.recurrent(torch.cat([hidden, read], dim=-1)))
            memory, read = step(memory, read, hidden)
            outputs.append(hidden)
        return torch.stack(outputs, dim=1)
