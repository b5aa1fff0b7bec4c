"""A gated diagonal recurrence, the simplest of the family of S6 and Mamba.

    x'_t = silu(convolution(x)_t)                    short and causal, if wanted
    a_t = σ(W_a x'_t + b_a)                          in (0, 1). Signed: 2σ(W_a x'_t + b_a) - 1
    h_t = a_t ⊙ h_(t-1) + W_u x'_t,   h_0 = 0
    y_t = W_o (h_t ⊙ silu(W_g x_t))

Each channel keeps its own state and takes its own a_t, the eigenvalue of its transition. Without
negative eigenvalues no finite precision lets it count modulo 2.

Source: Gu & Dao, Mamba, 2023, section 3.2 (selection, without the discretisation) and
figure 3 (gate and convolution). Eigenvalues in (-1, 1): Grazzi et al., Unlocking state-tracking in
linear RNNs through negative eigenvalues, ICLR 2025.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.backbones.convolution import Convolution
from synthbench.training.options import check_names, check_sizes

#: Ranges of eigenvalues: (0, 1) and (-1, 1).
EIGENVALUES = ("unit", "signed")


class Diagonal(nn.Module):
    """The gated diagonal recurrence, a mixer.

    Args:
        d_model: size of a state.
        eigenvalues: `unit`, between 0 and 1, or `signed`, between -1 and 1.
        kernel: places that the short convolution sees, 4 in Mamba; 0: no convolution.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.diagonal import Diagonal
        >>> Diagonal(16, eigenvalues="signed")(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(self, d_model: int, *, eigenvalues: str = "unit", kernel: int = 0) -> None:
        super().__init__()
        check_sizes(d_model=d_model)
        check_sizes(0, kernel=kernel)
        check_names(eigenvalues=(eigenvalues, EIGENVALUES))
        self.signed = eigenvalues == "signed"
        self.convolution = Convolution(d_model, kernel) if kernel else None
        self.eigenvalue = nn.Linear(d_model, d_model)
        self.input = nn.Linear(d_model, d_model, bias=False)
        self.gate = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        """`(rows, width, d_model)` to the same."""
        mixed = states
        if self.convolution is not None:
            mixed = functional.silu(self.convolution(states))
        eigenvalues = torch.sigmoid(self.eigenvalue(mixed))
        if self.signed:
            eigenvalues = 2 * eigenvalues - 1
        exact = torch.promote_types(states.dtype, torch.float32)  # sums need it under autocast
        hidden = scan(eigenvalues.to(exact), self.input(mixed).to(exact))
        output: Tensor = self.output(hidden * functional.silu(self.gate(states)))
        return output


def scan(factors: Tensor, inputs: Tensor) -> Tensor:
    """h_t = factors_t ⊙ h_(t-1) + inputs_t from h_0 = 0.

    Place after place: on a CPU it takes an eighth of the time of a scan of logarithmic depth.

    Args:
        factors: `(rows, width, channels)`.
        inputs: `(rows, width, channels)`.

    Returns:
        All h_t, `(rows, width, channels)`.
    """
    hidden = torch.zeros_like(inputs[:, 0])
    steps = []
    for factor, added in zip(factors.unbind(1), inputs.unbind(1), strict=True):
        hidden = torch.addcmul(added, factor, hidden)
        steps.append(hidden)
    return torch.stack(steps, dim=1)
