"""The looped Transformer: the same blocks applied round after round.

    h_0 = 0;   h_r = B(h_(r-1) + E)      for the rounds r = 1 .. R

E are the embeddings of the tokens, B are blocks of attention and MLP with one set of weights.
In training each h_r is read by the model's head, and the loss is the mean over the rounds (deep
supervision). Evaluation reads the last round, and may have more rounds than training.

Sources: Yang et al., Looped Transformers are Better at Learning Learning Algorithms (ICLR 2024),
for the input in every round. Jolicoeur-Martineau, Tiny Recursive Model (2025), for supervision in
every round and for the norms, RMSNorm after each sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from synthbench.training.backbones.states import States
from synthbench.training.backbones.transformer import Transformer
from synthbench.training.options import check_sizes

if TYPE_CHECKING:
    from synthbench.training.models.output import Record


class LoopedTransformer(Transformer):
    """Blocks of attention and MLP, applied several times with the same weights.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of a state.
        num_heads: number of heads. It divides `d_model`.
        num_layers: number of blocks of a round.
        rounds: number of rounds in training.
        test_rounds: number of rounds in evaluation. Default: `rounds`.
        causal: whether a place sees only itself and places before it.
        position: see `Transformer`.
        max_length: number of positions that learned positions are made for, and that random
            positions are drawn from.
        random_positions: see `Transformer`.
        order: `pre`, `post` or `sandwich`. See `block`.
        norm: `layer` or `rms`.
        mlp: size of each MLP's hidden layer. Default: 4 · d_model.
        activation: `relu`, `gelu` or `gated-gelu`.
        dropout: chance that a unit of an embedding, or of the output of attention or MLP, is
            dropped.

    Raises:
        UsageError: a name that does not exist, or numbers that do not fit.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.looped import LoopedTransformer
        >>> model = LoopedTransformer(6, d_model=32, rounds=3)
        >>> given = model(torch.zeros(2, 16, dtype=torch.int64), torch.tensor([16, 16]))
        >>> given.states.shape, len(given.earlier)
        (torch.Size([2, 16, 32]), 2)
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 64,
        num_heads: int = 4,
        num_layers: int = 1,
        rounds: int = 8,
        test_rounds: int | None = None,
        causal: bool = False,
        position: str = "learned",
        max_length: int = 512,
        random_positions: bool = False,
        order: str = "post",
        norm: str = "rms",
        mlp: int | None = None,
        activation: str = "gelu",
        dropout: float = 0.0,
    ) -> None:
        test_rounds = rounds if test_rounds is None else test_rounds
        check_sizes(rounds=rounds, test_rounds=test_rounds)
        super().__init__(
            vocabulary,
            d_model=d_model,
            num_heads=num_heads,
            num_layers=num_layers,
            causal=causal,
            position=position,
            max_length=max_length,
            random_positions=random_positions,
            order=order,
            norm=norm,
            mlp=mlp,
            activation=activation,
            dropout=dropout,
        )
        self.rounds, self.test_rounds = rounds, test_rounds

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> States:
        """States after the last round. In training also those after each round before it.

        Records `hidden`, `(rows, width, d_model)`, after each block of each round.

        Args:
            inputs: int64 `(rows, width)`, padded with 0.
            lengths: tokens of each row, int64 `(rows,)`.
            record: gets what is recorded.
            positions: the task's own positions, int64 `(rows, width)`.
        """
        positions = self.positions(inputs, lengths, positions)
        embedded = self.embedding(inputs, lengths, positions)
        states, after = torch.zeros_like(embedded), []
        for _ in range(self.rounds if self.training else self.test_rounds):
            states = states + embedded
            for block in self.blocks:
                states = block(states, inputs=inputs, lengths=lengths, positions=positions)
                if record is not None:
                    record.add("hidden", states)
            after.append(self.norm(states))
        return States(after[-1], earlier=tuple(after[:-1]) if self.training else ())
