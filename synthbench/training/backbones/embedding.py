"""Tokens as vectors, with positions added where a model wants them.

    x_t = E[token t] (· √d if scaled) + P(position t)

P is nothing, a learned vector for each position, or sines and cosines (Vaswani et al., Attention is
all you need, NeurIPS 2017, sections 3.4 and 3.5). Position t is t, counted from 0, unless the task
gives positions of its own, as position coupling does (Cho et al., NeurIPS 2024).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from synthbench.errors import ParameterError
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.positions import sinusoidal
from synthbench.training.options import check_names, check_sizes

ADDED_POSITIONS = ("none", "learned", "sinusoidal")


class OneHot(nn.Module):
    """Tokens as one-hot vectors of size `vocabulary - 1`. Padding, the token 0, is zeros.

    Args:
        vocabulary: number of tokens, padding included.
    """

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        check_sizes(2, vocabulary=vocabulary)
        self.size = vocabulary - 1

    def forward(self, inputs: Tensor, *_: Tensor | None) -> Tensor:
        """Float `(rows, width, size)` from tokens, int64 `(rows, width)`."""
        return one_hot(inputs, self.size + 1)[..., 1:].float()


class Embedding(nn.Module):
    """An embedding of tokens, added positions and dropout.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of an embedding.
        position: one of `ADDED_POSITIONS`.
        max_length: number of positions that learned positions are made for.
        count_down: whether positions count down to 1 at a row's last token, as in the program of
            the Chomsky hierarchy. Then a token's position counts the tokens that follow it. A
            task's own positions are taken as they are.
        std: standard deviation of the initial embeddings of tokens and learned positions, drawn
            from a normal distribution cut off at two deviations.
        scaled: whether embeddings of tokens are multiplied by √d_model.
        dropout: chance that a unit is dropped.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        position: str = "none",
        max_length: int = 512,
        count_down: bool = False,
        std: float = 1.0,
        scaled: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(vocabulary=vocabulary, d_model=d_model, max_length=max_length)
        check_names(position=(position, ADDED_POSITIONS))
        if not 0 < std < float("inf"):
            raise ParameterError(f"std {std!r}: allowed are numbers above 0.")
        self.position, self.max_length, self.count_down = position, max_length, count_down
        self.factor = d_model**0.5 if scaled else 1.0
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(max_length, d_model) if position == "learned" else None
        for embedding in filter(None, (self.tokens, self.places)):
            nn.init.trunc_normal_(embedding.weight, std=std, a=-2 * std, b=2 * std)
        self.dropout = Dropout(dropout)

    def forward(self, inputs: Tensor, lengths: Tensor, positions: Tensor | None = None) -> Tensor:
        """Embed tokens `(rows, width)` as float `(rows, width, d_model)`.

        Args:
            inputs: int64 `(rows, width)`.
            lengths: tokens of each row, int64 `(rows,)`.
            positions: the task's own positions, int64 `(rows, width)`.

        Raises:
            ParameterError: a position that learned positions are not made for.
        """
        states: Tensor = self.tokens(inputs) * self.factor
        if self.places is not None:
            self._check(inputs.shape[1], positions)
        if positions is None:
            positions = self._counted(inputs.shape[1], lengths)
        if self.places is not None:
            states = states + self.places(positions)
        if self.position == "sinusoidal":
            waves = sinusoidal(positions.flatten(), states.shape[-1])
            states = states + waves.view(*positions.shape, -1).to(states.dtype)
        dropped: Tensor = self.dropout(states)
        return dropped

    def _counted(self, width: int, lengths: Tensor) -> Tensor:
        """Positions that count the tokens, int64 `(1, width)`, or `(rows, width)` if down."""
        places = torch.arange(width, device=lengths.device)[None]
        return (lengths[:, None] - places).clamp_min(0) if self.count_down else places

    def _check(self, width: int, positions: Tensor | None) -> None:
        """Check that learned positions are made for all that are needed."""
        # Positions that are counted are known without waiting for a GPU.
        lowest, highest = 0, width - 1 + int(self.count_down)
        if positions is not None:
            lowest, highest = int(positions.min()), int(positions.max())
        most = self.max_length - 1
        for position in (lowest, highest):
            if not 0 <= position <= most:
                raise ParameterError(
                    f"Position {position}: learned positions are made for 0 to {most} (max_length)."
                )
