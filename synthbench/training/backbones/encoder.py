"""Transformer encoder that applies one layer several times. Its switches make it the NDR.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 2, 3 and appendices A to C.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn

from synthbench.errors import ParameterError
from synthbench.training.backbones.heads import RowHead
from synthbench.training.backbones.states import States
from synthbench.training.layers.attention import POSITIONS, Attention, states_at
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.halting import Halting
from synthbench.training.layers.layer import (
    EMBEDDINGS,
    Layer,
    draw_embedding,
    draw_weights,
    xavier_layer,
)
from synthbench.training.layers.normalisation import Nearest
from synthbench.training.layers.positions import RandomPositions, sinusoidal
from synthbench.training.layers.reader import Reader
from synthbench.training.models.output import Record
from synthbench.training.options import check_chances, check_names, check_sizes

READOUTS = ("last", "first", "attention")
ADDED_POSITIONS = ("none", "sinusoidal", "learned")


class Encoder(nn.Module):
    """A backbone: embeds the tokens and applies one layer `num_layers` times.

    By default a plain Transformer. The switches make it every encoder of NDR's tables: relative or
    gated positions, copy gate, geometric attention, both (the Neural Data Router), adaptive
    computation time. With one layer also the model of Eureka's reasoning task (A.12).

    Args:
        vocabulary: number of tokens, padding (id 0) included.
        d_model: size of a state.
        num_heads: number of heads.
        num_layers: how often the layer is applied.
        test_layers: how often it is applied in evaluation (NDR, section C.1). Default:
            `num_layers`.
        d_ff: size of the feed-forward part's hidden layer.
        dropout: see `Layer`.
        key_dropout: chance that a unit of a key is dropped. See `Attention`.
        input_dropout: chance that a unit of the first states is dropped: 0.1 in the plain
            Transformer of NDR's program, which the paper does not mention.
        attention: one of `attention.NORMALISATIONS`.
        spread: whose spread NormSoftmax takes, `query` or `map`. See `Attention`.
        temperature: see `Attention`.
        sinkhorn: see `Attention`.
        position: `none`, `sinusoidal` or `learned` (added to the embeddings), `relative` or
            `gated` (part of the scores).
        max_length: columns that learned positions are made for, and that random positions are
            drawn from.
        random_positions: whether the positions of each row are drawn. See `RandomPositions`.
        copy_gate: whether each column may keep its state.
        attention_bias: whether the attention's projections have biases.
        gate_drop: chance that a column keeps its state in training. See `Layer`.
        init: the layer's initial weights: `xavier` (see `xavier_layer`), `default` (PyTorch's), or
            `normal`: weights of the layer and the head from a normal distribution with
            variance 1 / d_model, biases 0 (Nanda et al., 2023).
        embedding_init: the variance of the embeddings of tokens and learned positions: `unit`,
            `normal` (1 / d_model), `kaiming` (2 / d_model) or `xavier` (2 / (rows + d_model)).
        attention_norm: whether LayerNorm follows the attention.
        feedforward_norm: `layer`, `tanh` or `none`.
        halting: `none`, `graves` or `universal` (adaptive computation time).
        readout: the column that a class is read from, `last` or `first`, or `attention`:
            cross-attention from a learned query to the columns of the last layer (NDR, appendix
            A, which gives no details).
        begin_end: whether rows get a begin and an end token, as in all of NDR's Transformers.

    Raises:
        UsageError: a name that does not exist, or sizes that do not fit.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 128,
        num_heads: int = 4,
        num_layers: int = 11,
        test_layers: int | None = None,
        d_ff: int = 256,
        dropout: float = 0.1,
        key_dropout: float = 0.0,
        input_dropout: float = 0.0,
        attention: str = "softmax",
        spread: str = "query",
        temperature: float | None = None,
        sinkhorn: int = 1,
        position: str = "none",
        max_length: int = 64,
        random_positions: bool = False,
        copy_gate: bool = False,
        attention_bias: bool = True,
        gate_drop: float = 0.0,
        init: str = "xavier",
        embedding_init: str = "unit",
        attention_norm: bool = True,
        feedforward_norm: str = "layer",
        halting: str = "none",
        readout: str = "last",
        begin_end: bool = True,
    ) -> None:
        super().__init__()
        test_layers = num_layers if test_layers is None else test_layers
        check_sizes(d_model=d_model, num_layers=num_layers, test_layers=test_layers)
        check_sizes(d_ff=d_ff, max_length=max_length)
        check_chances(dropout=dropout, key_dropout=key_dropout)
        check_chances(input_dropout=input_dropout, gate_drop=gate_drop)
        check_names(
            position=(position, (*ADDED_POSITIONS, *POSITIONS[1:])),
            readout=(readout, READOUTS),
            init=(init, ("xavier", "default", "normal")),
            embedding_init=(embedding_init, tuple(EMBEDDINGS)),
        )
        if random_positions and position == "none":
            raise ParameterError(
                "random_positions needs a position: allowed are learned, sinusoidal, "
                "relative and gated."
            )
        self.num_layers, self.test_layers = num_layers, test_layers
        self.position, self.readout, self.begin_end = position, readout, begin_end
        self.vocabulary = vocabulary
        self.embedding = nn.Embedding(vocabulary + 2 * begin_end, d_model)
        self.places = nn.Embedding(max_length, d_model) if position == "learned" else None
        self.layer = Layer(
            Attention(
                d_model,
                num_heads,
                normalisation=attention,
                spread=spread,
                temperature=temperature,
                sinkhorn=sinkhorn,
                position="none" if position in ADDED_POSITIONS else position,
                key_dropout=key_dropout,
                qkv_bias=attention_bias,
                output_bias=attention_bias,
            ),
            d_model,
            d_ff,
            dropout=dropout,
            copy_gate=copy_gate,
            gate_drop=gate_drop,
            attention_norm=attention_norm,
            feedforward_norm=feedforward_norm,
        )
        self.halting = None if halting == "none" else Halting(d_model, halting)
        self.input_dropout = Dropout(input_dropout)
        self.d_model, self._init, self._embedding_init = d_model, init, embedding_init
        self.column_only = False
        self.reader = Reader(d_model, num_heads) if readout == "attention" else None
        self.drawn = RandomPositions(max_length) if random_positions else None

    def initialise(self, head: nn.Module) -> None:
        """Draw the initial parameters, with `normal` the head's, too.

        If the head reads one column alone, the last layer will compute no other.
        """
        self.column_only = isinstance(head, RowHead) and self.reader is None
        if self._init == "normal":
            draw = functools.partial(nn.init.normal_, std=self.d_model**-0.5)
            for module in (self, head):
                draw_weights(module, draw)
        draw_embedding(self.embedding, self._embedding_init)
        if self.places is not None:
            draw_embedding(self.places, self._embedding_init)
        if self._init == "xavier":
            xavier_layer(self.layer)

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> States:
        """States of the tokens. The summary is the state of the column that a class is read from.

        Records for each layer the entries of the attention, `gate` and `hidden`, and at the end
        `halting`. Columns include the begin and end token. With adaptive computation time there is
        `ponder`, a scalar.

        Args:
            inputs: int64 `(rows, width)`, padded with 0.
            lengths: tokens of each row, int64 `(rows,)`.
            record: gets what is recorded.
            positions: not read. Columns are counted, with begin and end, or have random positions.
        """
        width = inputs.shape[1]
        if self.begin_end:
            inputs, lengths = self._with_begin_end(inputs, lengths)
        positions = self.drawn(lengths, inputs.shape[1]) if self.drawn is not None else None
        states = self._embed(inputs, positions)
        mask = torch.arange(inputs.shape[1], device=inputs.device) < lengths[:, None]
        column = torch.zeros_like(lengths) if self.readout == "first" else lengths - 1
        ponder = None
        if self.halting is None:
            last = self._steps(
                states, mask, column if self.column_only else None, positions, record
            )[-1]
        else:
            halted = self.halting(states, self._steps(states, mask, None, positions, record))
            last, ponder = halted.output, _mean(halted.remainder, mask)
            if record is not None:
                record.add("halting", halted.steps * mask)
        if self.reader is not None:
            summary = self.reader(last, mask)
            return States(last[:, self.begin_end :][:, :width], summary, ponder)
        if last.shape[1] == 1:  # the only column, or the only column that was computed
            return States(last, last[:, 0], ponder)
        summary = states_at(last, column)[:, 0]
        return States(last[:, self.begin_end :][:, :width], summary, ponder)

    def _with_begin_end(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The rows with begin and end tokens, and their new lengths."""
        rows = len(inputs)
        begin = inputs.new_full((rows, 1), self.vocabulary)
        end = inputs.new_full((rows, 1), self.vocabulary + 1)
        padded = torch.cat([begin, inputs, torch.zeros_like(end)], dim=1)
        return padded.scatter(1, lengths[:, None] + 1, end), lengths + 2

    def _embed(self, inputs: Tensor, positions: Tensor | None) -> Tensor:
        """The columns before the first layer, `(rows, length, d_model)`."""
        states: Tensor = self.embedding(inputs)
        length, d_model = states.shape[1:]
        columns = torch.arange(length, device=inputs.device)[None]
        if positions is not None:
            columns = positions
        if self.places is not None:
            if length > self.places.num_embeddings:
                raise ParameterError(
                    f"A row of {length} columns: learned positions are made for "
                    f"{self.places.num_embeddings} (max_length)."
                )
            states = states + self.places(columns)
        if self.position == "sinusoidal":
            waves = sinusoidal(columns.flatten(), d_model).view(*columns.shape, -1)
            states = states + waves.to(states.dtype)
        dropped: Tensor = self.input_dropout(states)
        return dropped

    def _steps(
        self,
        states: Tensor,
        mask: Tensor,
        column: Tensor | None,
        positions: Tensor | None,
        record: Record | None,
    ) -> list[Tensor]:
        """The states after each layer. With `column`, after the last layer only that column's."""
        nearest = None
        if self.layer.attention.is_geometric:
            nearest = Nearest.of(states.shape[1], states.device)
        steps: list[Tensor] = []
        num_layers = self.num_layers if self.training else self.test_layers
        for step in range(num_layers):
            wanted = column if step == num_layers - 1 and record is None else None
            states = self.layer(
                states, mask, column=wanted, nearest=nearest, positions=positions, record=record
            )
            if record is not None:
                record.add("hidden", states)
            steps.append(states)
        return steps


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean over real columns, then over rows: a scalar from `(rows, length)`."""
    return ((values * mask).sum(dim=1) / mask.sum(dim=1)).mean()
