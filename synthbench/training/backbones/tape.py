"""The Tape-RNN of the Chomsky hierarchy (Delétang et al., ICLR 2023, section A.2).

    h_t = relu(W x_t + U h_(t-1) + R cell_(t-1) + b)
    write  the head's cell becomes MLP(h_t)
    move   softmax(A h_t + a): stay, one left, one right, L left, L right

The tape is a ring of cells as the head sees it: cell 0 is under the head, and a move turns the
ring. The next ring is the mean of the five turned rings, weighted by the softmax. L is the length
of the row's question. In the paper the two jumps do not write. In its program, which this follows,
every action writes.
"""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor, nn

from synthbench.training.backbones.memory import Controller
from synthbench.training.options import check_sizes

#: Size of both hidden layers of the MLP.
_HIDDEN = 64


class TapeRNN(nn.Module):
    """An Elman network with tapes, a mixer.

    A turn of the ring multiplies frequency f of the ring's discrete Fourier transform by a phase,
    and a write at cell 0 adds the same number to all frequencies. The tape is kept as its
    transform, because then a step is one product, about three times as fast as turning rings.

    A state depends on L, so a row must show its whole question before an answer is read: the model
    is not for `causal-lm`.

    Args:
        d_model: size of h_t; 256 in the paper.
        cell_size: size of a cell.
        d_input: size of x_t, by default `d_model`.
        num_tapes: number of tapes, each with moves and values of its own; 1 or 4 in the paper.
        tape_size: number of cells of a tape.
        mask_id: the token at which answers are read. L is the number of a row's other tokens;
            None: of all its tokens.

    Raises:
        UsageError: a size is not a whole number from 1.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.tape import TapeRNN
        >>> tokens = torch.ones(2, 5, dtype=torch.int64)
        >>> TapeRNN(16)(torch.zeros(2, 5, 16), tokens, torch.tensor([5, 3])).shape
        torch.Size([2, 5, 16])
    """

    reads = ("inputs", "lengths")
    #: Jumps are as long as the question. Their effect is too small for a trial to show.
    sees_what_follows = True

    def __init__(
        self,
        d_model: int,
        cell_size: int = 8,
        *,
        d_input: int | None = None,
        num_tapes: int = 1,
        tape_size: int = 256,
        mask_id: int | None = None,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, cell_size=cell_size, num_tapes=num_tapes, tape_size=tape_size)
        if mask_id is not None:
            check_sizes(0, mask_id=mask_id)
        self.num_tapes, self.cell_size, self.tape_size = num_tapes, cell_size, tape_size
        self.mask_id = mask_id
        self.controller = Controller(d_model, num_tapes * cell_size, d_input)
        self.moves = nn.Linear(d_model, num_tapes * 5)
        self.values = nn.Sequential(
            nn.Linear(d_model, _HIDDEN),
            nn.ReLU(),
            nn.Linear(_HIDDEN, _HIDDEN),
            nn.ReLU(),
            nn.Linear(_HIDDEN, num_tapes * cell_size),
        )

    def forward(self, states: Tensor, inputs: Tensor, lengths: Tensor) -> Tensor:
        """All h_t, `(rows, width, d_model)`.

        Args:
            states: all x_t, `(rows, width, d_input)`.
            inputs: the tokens, int64 `(rows, width)`.
            lengths: tokens of each row, int64 `(rows,)`.
        """
        question_lengths = self._question_lengths(inputs, lengths)
        spectrum = Spectrum(self.tape_size, question_lengths)
        empty = spectrum.empty(self.num_tapes, self.cell_size)
        step = functools.partial(self._step, spectrum)
        outputs: Tensor = self.controller(states, empty, step)
        return outputs

    def _question_lengths(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """L of each row, int64 `(rows,)`."""
        if self.mask_id is None:
            return lengths
        real = torch.arange(inputs.shape[1], device=inputs.device) < lengths[:, None]
        return (real & (inputs != self.mask_id)).sum(dim=1)

    def _step(
        self, spectrum: Spectrum, tapes: Tensor, read: Tensor, hidden: Tensor
    ) -> tuple[Tensor, Tensor]:
        shape = (len(hidden), self.num_tapes)
        moves = torch.softmax(self.moves(hidden).view(*shape, 5).float(), dim=-1)
        change = (self.values(hidden) - read).view(*shape, -1).float()
        tapes = spectrum.step(tapes, change, moves)
        return tapes, spectrum.read(tapes).flatten(1)


class Spectrum:
    """Tapes as their discrete Fourier transforms over cells, complex64.

    Args:
        size: number of cells.
        jumps: L of each row, int64 `(rows,)`.
    """

    def __init__(self, size: int, jumps: Tensor) -> None:
        self.frequencies = size // 2 + 1  # of real numbers. The others are their conjugates
        still = torch.zeros_like(jumps)
        # Cell i of a turned ring is cell i + turn of the old ring.
        turns = torch.stack([still, still - 1, still + 1, -jumps, jumps], dim=-1)
        waves = torch.arange(self.frequencies, device=jumps.device)
        angles = (turns[..., None] * waves % size) * (2 * math.pi / size)
        self.phases = torch.polar(torch.ones_like(angles), angles)
        share = torch.full((self.frequencies,), 2 / size, device=jumps.device)
        share[0] = 1 / size
        if size % 2 == 0:
            share[-1] = 1 / size
        self.share = share

    def empty(self, num_tapes: int, cell_size: int) -> Tensor:
        """Tapes of zeros, `(rows, tapes, frequencies, cell_size)`."""
        shape = (len(self.phases), num_tapes, self.frequencies, cell_size)
        return torch.zeros(shape, dtype=self.phases.dtype, device=self.phases.device)

    def step(self, tapes: Tensor, change: Tensor, moves: Tensor) -> Tensor:
        """The tapes after a write and a move.

        Args:
            tapes: `(rows, tapes, frequencies, cell_size)`.
            change: the addition to the head's cell, `(rows, tapes, cell_size)`.
            moves: weights of stay, left, right, L left and L right, `(rows, tapes, 5)`.
        """
        factors = moves.to(tapes.dtype) @ self.phases
        return (tapes + change[:, :, None]) * factors[..., None]

    def read(self, tapes: Tensor) -> Tensor:
        """The head's cell, `(rows, tapes, cell_size)`: the mean over all frequencies."""
        return torch.einsum("rnfc,f->rnc", tapes.real, self.share)
