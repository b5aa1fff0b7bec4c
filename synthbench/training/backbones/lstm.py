"""LSTM, in one direction or both.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.1-3.3 and tables 7-9.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from synthbench.errors import ParameterError
from synthbench.training.backbones.embedding import OneHot
from synthbench.training.backbones.states import States
from synthbench.training.models.output import Record
from synthbench.training.options import check_chances, check_sizes

#: Size of the embedding of NDR's LSTMs and DNC in the published program, as the paper is silent.
EMBEDDING = 16


class LSTM(nn.Module):
    """A backbone: embedding and layers of LSTM. A class is read from the last final states.

    Padding is never read: each direction ends at the last token that it meets. With `bidirectional`
    the final states of both directions are concatenated, each of size `d_model / 2`. The published
    program reads the backward state twice and the forward state never. This one reads both.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of every layer's output.
        d_embedding: size of the embedding.
        one_hot: whether tokens are read as one-hot vectors, without an embedding.
        num_layers: number of layers.
        dropout: chance that a unit of a layer's input is dropped.
        bidirectional: whether each layer also reads from the end.

    Raises:
        UsageError: sizes or a chance that are not allowed.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.lstm import LSTM
        >>> tokens = torch.ones(2, 7, dtype=torch.int64)
        >>> LSTM(vocabulary=15)(tokens, torch.tensor([7, 5])).states.shape
        torch.Size([2, 7, 200])
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 200,
        d_embedding: int = EMBEDDING,
        one_hot: bool = False,
        num_layers: int = 1,
        dropout: float = 0.5,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, d_embedding=d_embedding, num_layers=num_layers)
        check_chances(dropout=dropout)
        if bidirectional and d_model % 2:
            raise ParameterError(
                f"d_model {d_model}: with two directions, allowed are even numbers."
            )
        self.embedding = (
            OneHot(vocabulary) if one_hot else nn.Embedding(vocabulary, d_embedding, padding_idx=0)
        )
        d_embedding = vocabulary - 1 if one_hot else d_embedding
        hidden = d_model // 2 if bidirectional else d_model
        self.layers = nn.ModuleList(
            nn.LSTM(size, hidden, batch_first=True, bidirectional=bidirectional)
            for size in (d_embedding, *(num_layers - 1) * [d_model])
        )
        self.dropout = nn.Dropout(dropout)
        self.d_model = d_model

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> States:
        """States `(rows, width, d_model)` of tokens. The summary has the final states.

        Args:
            inputs: int64 `(rows, width)`.
            lengths: tokens of each row, int64 `(rows,)`.
            record: gets `hidden` `(rows, width, d_model)` after each layer.
            positions: not read, as the LSTM knows only the order of tokens.
        """
        packed = pack_padded_sequence(
            self.embedding(inputs), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        for layer in self.layers:
            packed, (final, _) = layer(packed._replace(data=self.dropout(packed.data)))
            hidden, _ = pad_packed_sequence(packed, batch_first=True, total_length=inputs.shape[1])
            if record is not None:
                record.add("hidden", hidden)
        return States(hidden, torch.cat(final.unbind(), dim=-1))
