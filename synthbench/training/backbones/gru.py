"""The gated recurrent unit (Cho et al., EMNLP 2014, section 2.3), as PyTorch has it.

    r_t = σ(W_r x_t + U_r h_(t-1) + b_r)
    z_t = σ(W_z x_t + U_z h_(t-1) + b_z)
    n_t = tanh(W_n x_t + b_n + r_t ⊙ (U_n h_(t-1) + c_n))
    h_t = (1 - z_t) ⊙ n_t + z_t ⊙ h_(t-1),   h_0 = 0

The paper has r_t ⊙ h_(t-1) inside U_n; `nn.GRU` multiplies after U_n, so that all products with
h_(t-1) are joined.
"""

from __future__ import annotations

from torch import Tensor, nn

from synthbench.training.options import check_sizes


class GRU(nn.Module):
    """One layer of gated recurrent units, a mixer.

    Args:
        d_model: size of h_t.
        d_input: size of x_t, by default `d_model`.

    Raises:
        UsageError: a size is not a whole number from 1.
    """

    def __init__(self, d_model: int, d_input: int | None = None) -> None:
        super().__init__()
        d_input = d_model if d_input is None else d_input
        check_sizes(d_model=d_model, d_input=d_input)
        self.cells = nn.GRU(d_input, d_model, batch_first=True)

    def forward(self, states: Tensor) -> Tensor:
        """All h_t, `(rows, width, d_model)`, from all x_t, `(rows, width, d_input)`."""
        outputs: Tensor = self.cells(states)[0]
        return outputs
