"""LSTM, in one direction or both.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.1-3.3 and tables 7-9.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from synthbench.train.models.output import Output
from synthbench.train.record import Record


class LSTM(nn.Module):
    """Embedding, layers of LSTM, and a classifier of the last layer's final states.

    Each direction ends at its own last token, so padding is never read. With `bidirectional` the
    final states of both directions stand side by side, each of size `d_model / 2`: NDR's tables
    give 400 (or 1024) where one direction has 200 (or 512).

    Args:
        vocabulary: number of tokens, padding included.
        classes: number of classes.
        d_model: size of the embedding and of every layer's output.
        num_layers: number of layers.
        dropout: chance that a unit of the embedding or of a layer's output is dropped.
        recurrent_dropout: chance that a unit of the hidden state is dropped between two steps.
        bidirectional: whether each layer also reads from the end.

    Example:
        >>> import torch
        >>> from synthbench.train.models.recurrent import LSTM
        >>> LSTM(vocabulary=15, classes=10)(torch.ones(2, 7, dtype=torch.int64)).scores.shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        vocabulary: int,
        classes: int,
        *,
        d_model: int = 200,
        num_layers: int = 1,
        dropout: float = 0.5,
        recurrent_dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        hidden = d_model // 2 if bidirectional else d_model
        self.layers = nn.ModuleList(
            _Layer(d_model, hidden, bidirectional, recurrent_dropout) for _ in range(num_layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(d_model, classes)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Classify rows of tokens.

        Args:
            inputs: int64 `(rows, length)`.
            lengths: int64 `(rows,)`, tokens of each row; without it all rows are full.
            record: gets `hidden` `(rows, length, d_model)` after each layer.

        Returns:
            Scores `(rows, classes)`.
        """
        if lengths is None:
            lengths = inputs.new_full((len(inputs),), inputs.shape[1])
        packed = pack_padded_sequence(
            self.dropout(self.embedding(inputs)),
            lengths.cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        for layer in self.layers:
            packed, final = layer(packed)
            packed = packed._replace(data=self.dropout(packed.data))
            if record is not None:
                hidden, _ = pad_packed_sequence(packed, batch_first=True)
                record.add("hidden", hidden)
        both = torch.cat(final.unbind(), dim=-1)
        return Output(self.classifier(self.dropout(both)))


class _Layer(nn.LSTM):
    """One layer, with dropout between its steps, which `nn.LSTM` does not offer."""

    def __init__(
        self, d_model: int, hidden: int, bidirectional: bool, recurrent_dropout: float
    ) -> None:
        super().__init__(d_model, hidden, batch_first=True, bidirectional=bidirectional)
        self.between_steps = nn.Dropout(recurrent_dropout)

    def forward(  # type: ignore[override]
        self, packed: PackedSequence
    ) -> tuple[PackedSequence, Tensor]:
        """The states of all steps, and the last of each direction `(directions, rows, hidden)`."""
        if not (self.training and self.between_steps.p):
            packed, (final, _) = super().forward(packed)
            return packed, final
        directions = [
            self._direction(packed, backwards == 1, *weights)
            for backwards, weights in enumerate(self.all_weights)
        ]
        final = torch.stack([final for _, final in directions])
        if packed.unsorted_indices is not None:
            final = final[:, packed.unsorted_indices]
        return packed._replace(data=torch.cat([states for states, _ in directions], dim=-1)), final

    def _direction(
        self, packed: PackedSequence, backwards: bool, *weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        order = -1 if backwards else 1
        hidden = cell = packed.data.new_zeros(int(packed.batch_sizes[0]), self.hidden_size)
        states = []
        for inputs in packed.data.split_with_sizes(packed.batch_sizes.tolist())[::order]:
            # Longest rows stand first: those that have a token at this step are the first few.
            rows = len(inputs)
            before = self.between_steps(hidden[:rows]), cell[:rows]
            after = torch.lstm_cell(inputs, before, *weights)
            states.append(after[0])
            hidden, cell = torch.cat([after[0], hidden[rows:]]), torch.cat([after[1], cell[rows:]])
        return torch.cat(states[::order]), hidden
