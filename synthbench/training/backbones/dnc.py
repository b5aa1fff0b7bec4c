"""Differentiable Neural Computer: an LSTM that reads and writes a memory of its own.

Source: Graves et al., Hybrid computing using a neural network with dynamic external memory
(Nature 2016), Methods. Symbols in the comments are theirs. As in NDR's baseline (appendix C), freed
cells are erased and links sharpened (Csordás & Schmidhuber, ICLR 2019).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.training.backbones.lstm import EMBEDDING
from synthbench.training.backbones.states import States
from synthbench.training.models.output import Record
from synthbench.training.options import check_chances, check_sizes

#: Keeps usages, norms and sums of weights above zero.
EPSILON = 1e-6


def content_weights(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
    """Look-up by content: softmax over cosine similarities, times the strengths.

    Args:
        memory: `(rows, cells, width)`.
        keys: `(rows, heads, width)`.
        strengths: beta, `(rows, heads)`, at least 1.

    Returns:
        Weights `(rows, heads, cells)` that sum to 1.
    """
    words = memory.unsqueeze(1).expand(-1, keys.shape[1], -1, -1)
    words = functional.normalize(words, dim=-1, eps=EPSILON)
    keys = functional.normalize(keys, dim=-1, eps=EPSILON)
    similarity = torch.einsum("rhcw,rhw->rhc", words, keys)
    return torch.softmax(similarity * strengths.unsqueeze(-1), dim=-1)


def allocation_weights(usage: Tensor) -> Tensor:
    """Weights a of where to write next. They sum to at most 1. Less used cells weigh more.

    Usage u, in 0..1, and weights are `(rows, cells)`.
    """
    usage = EPSILON + (1 - EPSILON) * usage
    rising, order = usage.sort(dim=-1)
    before = torch.cat([torch.ones_like(rising[:, :1]), rising[:, :-1]], dim=-1).cumprod(dim=-1)
    return torch.zeros_like(usage).scatter(-1, order, (1 - rising) * before)


def linked(link: Tensor, precedence: Tensor, write: Tensor) -> Tensor:
    """The link matrix L after a write, `(rows, cells, cells)`, with zeros on the diagonal.

    Entry (i, j) is how much i was written right after j. Precedence p, before the write, and write
    weights are `(rows, cells)`.
    """
    kept = (1 - write.unsqueeze(2) - write.unsqueeze(1)) * link
    link = kept + write.unsqueeze(2) * precedence.unsqueeze(1)
    return link * (1 - torch.eye(link.shape[-1], dtype=link.dtype, device=link.device))


def sharpened(weights: Tensor, powers: Tensor) -> Tensor:
    """Weights to a power, which sharpens links that several steps have blurred.

    Weights, at least 0, are `(rows, heads, cells)`, powers, at least 1, `(rows, heads)`. The result
    sums to 1, or to 0 if no cell is linked.
    """
    # Divided by the largest first, so that no power underflows to zero everywhere.
    scaled = weights / (weights.amax(dim=-1, keepdim=True) + EPSILON)
    raised = scaled ** powers.unsqueeze(-1)
    return raised / (raised.sum(dim=-1, keepdim=True) + EPSILON)


class State(NamedTuple):
    """The memory between two steps; `cells` words of `width` numbers.

    Attributes:
        memory: M, `(rows, cells, width)`.
        usage: u, `(rows, cells)`.
        precedence: p, `(rows, cells)`: how much each cell was written last.
        link: L, `(rows, cells, cells)`.
        write: write weights, `(rows, cells)`.
        read: read weights, `(rows, heads, cells)`.
    """

    memory: Tensor
    usage: Tensor
    precedence: Tensor
    link: Tensor
    write: Tensor
    read: Tensor


class Memory(nn.Module):
    """The memory with one write head and several read heads, controlled by the LSTM. See `DNC`."""

    def __init__(self, controller: int, cells: int, width: int, read_heads: int) -> None:
        super().__init__()
        self.cells, self.width, self.read_heads = cells, width, read_heads
        heads = 1 + read_heads
        self._sizes = {
            "keys": heads * width,
            "strengths": heads,
            "erase": width,
            "vector": width,
            "free": read_heads,
            "allocation": 1,
            "write": 1,
            "modes": 3 * read_heads,
            "powers": 2 * read_heads,
        }
        self.interface = nn.Linear(controller, sum(self._sizes.values()))

    def start(self, rows: int) -> State:
        """The memory before the first step: all zeros."""
        like = self.interface.weight
        return State(
            memory=like.new_zeros(rows, self.cells, self.width),
            usage=like.new_zeros(rows, self.cells),
            precedence=like.new_zeros(rows, self.cells),
            link=like.new_zeros(rows, self.cells, self.cells),
            write=like.new_zeros(rows, self.cells),
            read=like.new_zeros(rows, self.read_heads, self.cells),
        )

    def forward(self, controller: Tensor, state: State) -> tuple[Tensor, State]:
        """Free, write, link and read, from the controller's state `(rows, size)`.

        Returns:
            The words read, `(rows, read_heads, width)`, and the memory after the step.
        """
        signals = self._signals(controller)
        state = self._write(signals, state)
        state = state._replace(read=self._read(signals, state))
        return torch.einsum("rhc,rcw->rhw", state.read, state.memory), state

    def _signals(self, controller: Tensor) -> dict[str, Tensor]:
        """The parts of the interface vector, each mapped to its range."""
        parts = self.interface(controller).split(list(self._sizes.values()), dim=-1)
        raw = dict(zip(self._sizes, parts, strict=True))
        return {
            **{name: torch.sigmoid(raw[name]) for name in ("free", "erase", "allocation", "write")},
            **{name: 1 + functional.softplus(raw[name]) for name in ("strengths", "powers")},
            "vector": raw["vector"],
            "keys": raw["keys"].reshape(-1, 1 + self.read_heads, self.width),
            "modes": torch.softmax(raw["modes"].unflatten(-1, (self.read_heads, 3)), dim=-1),
        }

    def _write(self, signals: dict[str, Tensor], state: State) -> State:
        """The memory after freeing and writing. The read weights are still the old weights."""
        # retention is psi: the share that heads leave. Usage is u: written and not freed since.
        retention = (1 - signals["free"].unsqueeze(-1) * state.read).prod(dim=1)
        usage = (state.usage + state.write - state.usage * state.write) * retention

        keys, strengths = signals["keys"][:, :1], signals["strengths"][:, :1]
        content = content_weights(state.memory, keys, strengths).squeeze(1)
        share = signals["allocation"]
        write = signals["write"] * (share * allocation_weights(usage) + (1 - share) * content)

        kept = state.memory * retention.unsqueeze(-1)  # freed cells are erased
        kept = kept * (1 - write.unsqueeze(2) * signals["erase"].unsqueeze(1))
        memory = kept + write.unsqueeze(2) * signals["vector"].unsqueeze(1)
        link = linked(state.link, state.precedence, write)
        precedence = (1 - write.sum(dim=-1, keepdim=True)) * state.precedence + write
        return State(memory, usage, precedence, link, write, state.read)

    def _read(self, signals: dict[str, Tensor], state: State) -> Tensor:
        """The new read weights `(rows, R, N)`, mixed from backward, by content, and forward."""
        # forward (f) follows the order of writing, backward (b) the opposite order.
        powers = signals["powers"]
        forward = torch.einsum("rij,rhj->rhi", state.link, state.read)
        forward = sharpened(forward, powers[:, : self.read_heads])
        backward = torch.einsum("rji,rhj->rhi", state.link, state.read)
        backward = sharpened(backward, powers[:, self.read_heads :])
        content = content_weights(state.memory, signals["keys"][:, 1:], signals["strengths"][:, 1:])
        ways = torch.stack([backward, content, forward], dim=-1)
        return (ways * signals["modes"].unsqueeze(2)).sum(dim=-1)


class DNC(nn.Module):
    """Differentiable Neural Computer with an LSTM controller, a backbone.

    NDR gives 21 cells and 4 read heads, but neither the width of a word nor the size of the
    embedding. It names the changes of Csordás & Schmidhuber (2019) as a whole. As in its program,
    look-ups are not masked.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of the controller.
        d_embedding: size of the embedding.
        cells: number of words of the memory.
        width: numbers of a word.
        read_heads: number of read heads.
        dropout: chance that a unit of the embedding is dropped.

    Raises:
        UsageError: sizes or a chance that are not allowed.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 200,
        d_embedding: int = EMBEDDING,
        cells: int = 21,
        width: int = 200,
        read_heads: int = 4,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, d_embedding=d_embedding, cells=cells)
        check_sizes(width=width, read_heads=read_heads)
        check_chances(dropout=dropout)
        self.embedding = nn.Embedding(vocabulary, d_embedding, padding_idx=0)
        self.controller = nn.LSTMCell(d_embedding + read_heads * width, d_model)
        self.memory = Memory(d_model, cells, width, read_heads)
        self.dropout = nn.Dropout(dropout)
        self.d_model = d_model + read_heads * width

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> States:
        """States of tokens: the controller's, and the words read.

        Args:
            inputs: int64 `(rows, width)`.
            lengths: tokens of each row. Not read, as padding comes last.
            record: gets the states as `hidden`.
            positions: not read, as the DNC knows only the order of tokens.
        """
        rows = len(inputs)
        state = self.memory.start(rows)
        hidden = cell = self.memory.interface.weight.new_zeros(rows, self.controller.hidden_size)
        words = hidden.new_zeros(rows, self.memory.read_heads, self.memory.width)
        outputs = []
        for token in self.dropout(self.embedding(inputs)).unbind(dim=1):
            hidden, cell = self.controller(torch.cat([token, words.flatten(1)], 1), (hidden, cell))
            words, state = self.memory(hidden, state)
            outputs.append(torch.cat([hidden, words.flatten(1)], dim=1))
        steps = torch.stack(outputs, dim=1)
        if record is not None:
            record.add("hidden", steps)
        return States(steps)
