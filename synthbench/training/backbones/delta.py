"""The delta rule as a recurrence: DeltaNet, and DeltaProduct of several steps a token.

    S_t = S_(t-1) (I - β_t k_t k_tᵀ) + β_t v_t k_tᵀ,   S_0 = 0
    y_t = W_o rmsnorm(S_t q_t)

in each head, where q_t and k_t are silu(W x_t) of length 1, v_t = silu(W_v x_t) and
β_t = σ(w_β·x_t), so that the transition has the eigenvalues 1 and 1 - β_t in (0, 1). Signed: 2 β_t
instead of β_t, with 1 - 2 β_t in (-1, 1). If wanted, a short causal convolution comes before each
silu. DeltaProduct takes n such steps a token, each with its own k, v and β, then reads with q_t.

Source: Yang et al., Parallelizing linear transformers with the delta rule over sequence length,
NeurIPS 2024, sections 2.2 and 3. Signed: Grazzi et al., Unlocking state-tracking in
linear RNNs through negative eigenvalues, ICLR 2025. Products: Siems et al., DeltaProduct, 2025.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.backbones.convolution import Convolution
from synthbench.training.backbones.diagonal import EIGENVALUES
from synthbench.training.options import check_heads, check_names, check_sizes

#: Steps that `delta_rule` takes at once; 16 to 64 are about as fast.
_CHUNK = 32


class Delta(nn.Module):
    """DeltaNet (`steps=1`) and DeltaProduct, a mixer.

    Args:
        d_model: size of a state.
        num_heads: number of heads. It divides `d_model`. S has (d_model / num_heads)² numbers.
        eigenvalues: `unit`, from 0 to 1, or `signed`, from -1 to 1.
        steps: n, the number of steps a token.
        kernel: places that the short convolution sees, 4 in DeltaNet; 0: no convolution.

    Raises:
        UsageError: a name that does not exist, or numbers that do not fit.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.delta import Delta
        >>> Delta(16, eigenvalues="signed", steps=2)(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int = 4,
        *,
        eigenvalues: str = "unit",
        steps: int = 1,
        kernel: int = 0,
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_sizes(steps=steps)
        check_sizes(0, kernel=kernel)
        check_names(eigenvalues=(eigenvalues, EIGENVALUES))
        self.num_heads, self.steps = num_heads, steps
        self.strongest = 2.0 if eigenvalues == "signed" else 1.0
        channels = (1 + 2 * steps) * d_model
        self.project = nn.Linear(d_model, channels, bias=False)
        self.convolution = Convolution(channels, kernel) if kernel else nn.Identity()
        self.beta = nn.Linear(d_model, steps * num_heads, bias=False)
        self.norm = nn.RMSNorm(d_model // num_heads)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        """`(rows, width, d_model)` to the same."""
        rows, width, d_model = states.shape
        projected = functional.silu(self.convolution(self.project(states)))
        sizes = [d_model, self.steps * d_model, self.steps * d_model]
        parts = torch.split(projected, sizes, dim=-1)
        queries = functional.normalize(self._heads(parts[0], 1), dim=-1)
        keys = functional.normalize(self._heads(parts[1], self.steps), dim=-1)
        values = self._heads(parts[2], self.steps)
        betas = self.strongest * torch.sigmoid(self._heads(self.beta(states), self.steps))
        read = delta_rule(queries, keys, values, betas)
        read = read.view(rows, self.num_heads, width, -1).transpose(1, 2)
        output: Tensor = self.output(self.norm(read).flatten(-2))
        return output

    def _heads(self, projected: Tensor, steps: int) -> Tensor:
        """`(rows, width, steps · heads · n)` as `(rows · heads, width · steps, n)`."""
        rows, width, _ = projected.shape
        split = projected.view(rows, width, steps, self.num_heads, -1).permute(0, 3, 1, 2, 4)
        return split.reshape(rows * self.num_heads, width * steps, -1)


def delta_rule(queries: Tensor, keys: Tensor, values: Tensor, betas: Tensor) -> Tensor:
    """The values S_t q_t that the queries read, chunk by chunk (Yang et al., section 3).

    With step j's update u_j = β_j (v_j - S_(j-1) k_j), S_j is S_(j-1) + u_j k_jᵀ. So within a chunk
    that starts from S, the rows u_j of U solve a triangular system,

        (I + strictly lower part of diag(β) K Kᵀ) U = diag(β) (V - K Sᵀ)

    On a CPU this takes a third to a tenth of the time of single steps.

    Args:
        queries: `(n, width, d_key)`.
        keys: `(n, width · steps, d_key)`.
        values: `(n, width · steps, d_value)`.
        betas: `(n, width · steps, 1)`.

    Returns:
        `(n, width, d_value)`, at least float32.
    """
    steps = keys.shape[1] // queries.shape[1]
    places = max(1, _CHUNK // steps)
    exact = torch.promote_types(values.dtype, torch.float32)  # bfloat16 lacks a solver
    with torch.autocast(values.device.type, enabled=False):
        chunks = zip(
            torch.split(queries.to(exact), places, dim=1),
            *(torch.split(each.to(exact), places * steps, dim=1) for each in (keys, values, betas)),
            strict=True,
        )
        memory = values.new_zeros(len(keys), keys.shape[-1], values.shape[-1], dtype=exact)  # Sᵀ
        read = []
        for query, key, value, beta in chunks:
            system = beta * (key @ key.mT)  # of which the solver reads the strictly lower part
            update = torch.linalg.solve_triangular(
                system, beta * (value - key @ memory), upper=False, unitriangular=True
            )
            scores = query @ key.mT * _done(query.shape[1], steps, query.device)
            read.append(query @ memory + scores @ update)
            memory = memory + key.mT @ update
    return torch.cat(read, dim=1)


def _done(places: int, steps: int, device: torch.device) -> Tensor:
    """A mask: step j is done when place t is read, bool `(places, places · steps)`."""
    place = torch.arange(places, device=device)
    return place.repeat_interleave(steps) <= place[:, None]
