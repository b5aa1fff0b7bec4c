"""Layers and models as somebody else writes them: some right, the others each wrong in its way."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.gate, self.enter = nn.Linear(width, width), nn.Linear(width, width)
        self.scale = scale

    def forward(self, states):
        state, outputs = torch.zeros_like(states[:, 0]), []
        gates, entering = torch.sigmoid(self.gate(states)), self.enter(states)
        for gate, new in zip(gates.unbind(1), entering.unbind(1), strict=True):
            state = gate * state + (1 - gate) * new
            outputs.append(state)
        return self.scale * torch.stack(outputs, dim=1), state


class AcrossRows(nn.GRU):
    def __init__(self, width):
        super().__init__(width, width)  # without batch_first: over the rows of a batch


class Centred(Layer):
    def forward(self, states):
        return super().forward(states - states.mean(0))[0]


class Reversed(Layer):
    def forward(self, states):
        return super().forward(states.flip(0))[0]  # meant to be flip(1)


class Complex(nn.Module):
    """A linear recurrence with complex parameters, as those of S4D and LRU."""

    def __init__(self, width):
        super().__init__()
        self.decay = nn.Parameter(torch.complex(torch.full((width,), -0.1), torch.rand(width)))
        self.out = nn.Parameter(torch.randn(width, dtype=torch.cfloat))

    def forward(self, states):
        state, outputs = torch.zeros_like(states[:, 0], dtype=torch.cfloat), []
        for new in states.unbind(1):
            state = torch.exp(self.decay) * state + new
            outputs.append((self.out * state).real)
        return torch.stack(outputs, dim=1)


class Sparse(Layer):
    def __init__(self, width):
        super().__init__(width)
        self.places = nn.Embedding(99, width, sparse=True)

    def forward(self, states):
        return super().forward(states + self.places(torch.arange(states.shape[1])))[0]


class Detached(Layer):
    def forward(self, states):
        return super().forward(states)[0].detach()


class WithoutWidth(Layer):
    def __init__(self):
        super().__init__(8)


class Shorter(Layer):
    def forward(self, states):
        return states[:, :-1]


class Raising(Layer):
    def forward(self, states):
        return states @ torch.zeros(3, 3)


class NotANumber(Layer):
    def forward(self, states):
        return states * float("nan")


class LaterNotANumber(Layer):
    def forward(self, states):
        return super().forward(states)[0] * (float("nan") if self.training else 1.0)


class InPlace(Layer):
    def forward(self, states):
        gates = torch.sigmoid(self.gate(states))
        mixed = gates * self.enter(states)
        gates += 1  # its gradient needs it as it was
        return mixed


class Cut(Layer):
    def forward(self, states):
        class NoGradient(torch.autograd.Function):
            @staticmethod
            def forward(context, given):
                return given * 1

            @staticmethod
            def backward(context, gradient):
                raise ValueError("no way back")

        return NoGradient.apply(states)


class Growing(Layer):
    """Keeps a table that grows with the rows."""

    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("table", torch.zeros(0, 1), persistent=False)

    def forward(self, states):
        if len(self.table) < states.shape[1]:
            self.table = torch.arange(states.shape[1], device=states.device)[:, None] / 100
        return self.enter(states) * self.table[: states.shape[1]]


class ReadsMask(Layer):
    reads = ("mask",)


class ReadsText(Layer):
    reads = "lengths"


class ReadsNumber(Layer):
    reads = 5


class ReadsLists(Layer):
    reads = (["lengths"],)


class Normalised(Layer):
    """Has statistics that training changes."""

    def __init__(self, width):
        super().__init__(width)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, states):
        return self.norm(states.transpose(1, 2)).transpose(1, 2)


class Needing(nn.Module):
    def __init__(self, width, heads):
        super().__init__()


def no_module(width):
    return width


class Make(nn.Module):
    def __init__(self, vocabulary, outputs, width=16):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, outputs)

    def forward(self, tokens, lengths):
        states, _ = self.rnn(self.embedding(tokens))
        return self.head(states[torch.arange(len(tokens)), lengths - 1])


class Places(Make):
    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])
