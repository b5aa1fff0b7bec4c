"""The Stack-RNN of the Chomsky hierarchy (Delétang et al., ICLR 2023, section A.2).

    h_t = relu(W x_t + U h_(t-1) + R top_(t-1) + b)
    push, pop, keep = softmax(A h_t + a)
    stack_t[0] = push · (V h_t + c) + pop · stack_(t-1)[1]   + keep · stack_(t-1)[0]
    stack_t[i] = push · stack_(t-1)[i-1] + pop · stack_(t-1)[i+1] + keep · stack_(t-1)[i],   i > 0

A cell is a vector. Cell 0 is the top, cells that were never pushed are 0. The idea is of Joulin &
Mikolov, Inferring algorithmic patterns with stack-augmented recurrent nets, NeurIPS 2015.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from synthbench.training.backbones.memory import Controller
from synthbench.training.options import check_sizes


class StackRNN(nn.Module):
    """An Elman network with stacks, a mixer.

    Args:
        d_model: size of h_t; 256 in the paper.
        cell_size: size of a cell.
        d_input: size of x_t, by default `d_model`.
        num_stacks: number of stacks, each with actions and values of its own.
        stack_size: cells of a stack. Values pushed beyond are lost at the bottom. None: no limit.
            It does not change parameters: the paper has 128 in training and more in the test.

    Raises:
        UsageError: a size is not a whole number from 1.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.stack import StackRNN
        >>> StackRNN(16)(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        cell_size: int = 8,
        *,
        d_input: int | None = None,
        num_stacks: int = 1,
        stack_size: int | None = None,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, cell_size=cell_size, num_stacks=num_stacks)
        if stack_size is not None:
            check_sizes(stack_size=stack_size)
        self.num_stacks, self.cell_size, self.stack_size = num_stacks, cell_size, stack_size
        self.controller = Controller(d_model, num_stacks * cell_size, d_input)
        self.actions = nn.Linear(d_model, num_stacks * 3)
        self.values = nn.Linear(d_model, num_stacks * cell_size)

    def forward(self, states: Tensor) -> Tensor:
        """All h_t, `(rows, width, d_model)`, from all x_t, `(rows, width, d_input)`."""
        empty = states.new_zeros(len(states), self.num_stacks, 1, self.cell_size)
        outputs: Tensor = self.controller(states, empty, self._step)
        return outputs

    def _step(self, stacks: Tensor, _: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        shape = (len(hidden), self.num_stacks)
        actions = torch.softmax(self.actions(hidden).view(*shape, 3), dim=-1)
        stacks = moved(stacks, actions, self.values(hidden).view(*shape, -1), self.stack_size)
        return stacks, stacks[:, :, 0].flatten(1)


def moved(stacks: Tensor, actions: Tensor, values: Tensor, most: int | None = None) -> Tensor:
    """The stacks after a step, with one cell more than before but no more than `most`.

    Args:
        stacks: `(rows, stacks, cells, cell_size)`.
        actions: weights of push, pop and keep, `(rows, stacks, 3)`.
        values: the pushed values, `(rows, stacks, cell_size)`.
        most: how many cells a stack may have; None: no limit.

    Returns:
        `(rows, stacks, cells + 1, cell_size)`, or `most` cells.
    """
    cells = min(stacks.shape[2] + 1, most or stacks.shape[2] + 1)
    below = torch.zeros_like(stacks[:, :, :1])
    pushed = torch.cat([values[:, :, None], stacks, below, below], dim=2)
    push, pop, keep = actions[..., None, None].unbind(2)
    kept, popped = pushed[:, :, 1 : cells + 1], pushed[:, :, 2 : cells + 2]
    return push * pushed[:, :, :cells] + pop * popped + keep * kept
