"""Adaptive computation time: every column has its own number of steps.

Source: NDR, appendix A (eqs. 11-15), after Graves (2016) and Dehghani et al. (2019). As there,
halting decides only what is read of a column. Other columns still attend to its later states.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from synthbench.errors import unknown_name

FORMS = ("none", "graves", "universal")


class Halted(NamedTuple):
    """The read-out of all columns.

    Attributes:
        output: o of each column, `(rows, length, d_model)`.
        remainder: R of each column, `(rows, length)`. The loss grows with its mean.
        steps: T of each column, int64 `(rows, length)`, at least 1.
    """

    output: Tensor
    remainder: Tensor
    steps: Tensor


class Halting(nn.Module):
    """The halting unit (eq. 11) and the two ways to read out a column that has halted.

    The weight of the state after a step is computed from the state before it, as in the published
    program. In the paper's eq. 11 it is computed from the state after it.

    - `graves`: the mean of the states, weighted by the halting probabilities, which sum to 1
      (eqs. 12-15).
    - `universal`: the running mixture o_t = p_t h_t + (1 - p_t) o_(t-1) of the Universal
      Transformer, which starts from the embedding. A column that has not halted by the last step
      keeps its plain probability there without a remainder.

    Args:
        d_model: size of a state.
        form: `graves` or `universal`.
        epsilon: a column halts when its probabilities sum to 1 - epsilon.

    Raises:
        UsageError: an unknown form.
    """

    def __init__(self, d_model: int, form: str = "graves", epsilon: float = 0.01) -> None:
        super().__init__()
        if form not in FORMS[1:]:
            raise unknown_name("form of halting", form, FORMS)
        self.form, self.epsilon = form, epsilon
        self.unit = nn.Linear(d_model, 1)

    def forward(self, start: Tensor, states: list[Tensor]) -> Halted:
        """Read out every column, from the embeddings and the states after each step.

        All are `(rows, length, d_model)`.
        """
        before = torch.stack([start, *states[:-1]])
        probability = torch.sigmoid(self.unit(before)).squeeze(-1)  # eq. 11
        weights, remainder, count = self.weigh(probability)
        if self.form == "graves":
            mixed = (weights[..., None] * torch.stack(states)).sum(dim=0)  # eq. 15
            return Halted(mixed, remainder, count)
        output = start
        for weight, state in zip(weights[..., None], states, strict=True):
            output = weight * state + (1 - weight) * output
        return Halted(output, remainder, count)

    def weigh(self, probability: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Eqs. 12-14: the weight of each step, the remainder and the number of steps.

        Args:
            probability: p̂ of eq. 11, `(steps, rows, length)`.

        Returns:
            Weights `(steps, rows, length)`, remainder and number of steps `(rows, length)`.
        """
        reached = probability.detach().cumsum(dim=0) >= 1 - self.epsilon
        count = 1 + (~reached[:-1]).sum(dim=0)  # eq. 12. All columns halt at the last step
        step = torch.arange(1, len(probability) + 1, device=probability.device)[:, None, None]
        before = step < count
        remainder = 1 - (probability * before).sum(dim=0)  # eq. 14
        last = remainder
        if self.form == "universal":
            remainder = torch.where(reached[-1], remainder, 0.0)
            last = torch.where(reached[-1], last, probability[-1])
        weights = torch.where(step == count, last, probability * before)  # eq. 13
        return weights, remainder, count
