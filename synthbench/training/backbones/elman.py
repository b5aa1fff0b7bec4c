"""The simple recurrent network of Elman (Finding structure in time, 1990), with ReLU.

    h_t = relu(W x_t + U h_(t-1) + b),   h_0 = 0

It is the RNN of the Chomsky hierarchy (Delétang et al., ICLR 2023, section A.2): one layer of 256.
"""

from __future__ import annotations

from torch import Tensor, nn

from synthbench.training.options import check_sizes


class Elman(nn.Module):
    """One layer of h_t = relu(W x_t + U h_(t-1) + b), a mixer.

    b is the sum of two vectors, as in `nn.RNN`. Initial parameters are PyTorch's.

    Args:
        d_model: size of h_t.
        d_input: size of x_t, by default `d_model`.

    Raises:
        UsageError: a size is not a whole number from 1.

    Example:
        >>> from synthbench.training.backbones.block import Mixers
        >>> from synthbench.training.backbones.elman import Elman
        >>> rnn = Mixers(5, Elman, d_model=256, num_layers=1, order="bare")
    """

    def __init__(self, d_model: int, d_input: int | None = None) -> None:
        super().__init__()
        d_input = d_model if d_input is None else d_input
        check_sizes(d_model=d_model, d_input=d_input)
        self.cells = nn.RNN(d_input, d_model, nonlinearity="relu", batch_first=True)

    def forward(self, states: Tensor) -> Tensor:
        """All h_t, `(rows, width, d_model)`, from all x_t, `(rows, width, d_input)`."""
        outputs: Tensor = self.cells(states)[0]
        return outputs
