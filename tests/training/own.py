"""Layers and models as somebody else writes them: some right, the others each wrong in its way."""

import functools

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


class GrowingAndStored(Growing):
    """Stores the table, so a checkpoint would have another shape."""

    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("table", torch.zeros(0, 1))


class CachedMask(Layer):
    """Remakes its mask for every new width, in evaluation and in training; counts its calls."""

    def __init__(self, width):
        super().__init__(width)
        self.mask = None
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, states):
        self.calls = self.calls + 1
        places = states.shape[1]
        if self.mask is None or len(self.mask) != places:
            self.mask = torch.tril(torch.ones(places, places))
        return (self.mask * self.gate.weight[0, 0]) @ self.enter(states)


class TestTimeTraining(Layer):
    """Takes gradients inside its forward pass, also in evaluation."""

    causal = False

    def forward(self, states):
        with torch.enable_grad():
            fast = torch.zeros_like(states[:, 0], requires_grad=True)
            loss = (fast * self.enter(states).mean(1) - self.gate(states).mean(1)).square().sum()
            (gradient,) = torch.autograd.grad(loss, fast, create_graph=self.training)
        return self.enter(states).cumsum(1) - gradient[:, None]


class Rezero(nn.Module):
    """A GRU over the rows of a batch, behind a gate that begins with 0."""

    def __init__(self, width):
        super().__init__()
        self.rnn, self.gate = nn.GRU(width, width), nn.Parameter(torch.zeros(()))

    def forward(self, states):
        return self.gate * self.rnn(states)[0]


_shared = functools.cache(Layer)


def shared(width):
    return _shared(width)


class Covariance(Layer):
    """Asks of its parameter what a random one has not."""

    def __init__(self, width):
        super().__init__(width)
        self.covariance = nn.Parameter(torch.eye(width) / 4)

    def forward(self, states):
        return super().forward(states)[0] @ torch.linalg.cholesky(self.covariance)


class ExtraState(Layer):
    def get_extra_state(self):
        return {"name": "extra"}

    def set_extra_state(self, state):
        assert state == {"name": "extra"}


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


class Compiled(Make):
    def __new__(cls, **sizes):
        return torch.compile(Make(**sizes), backend="eager")


class Parallel(Make):
    def __new__(cls, **sizes):
        return nn.DataParallel(Without(**sizes))


class Without(Make):
    """Reads no lengths."""

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0][:, -1])


class Wrapped(nn.Module):
    inner = Make

    def __init__(self, **sizes):
        super().__init__()
        self.model = self.inner(**sizes)

    def forward(self, *given, **more):
        return self.model(*given, **more)


class WrappedWithout(Wrapped):
    inner = Without


class Hiding(Make):
    """Hides tokens in place, as a model that adds noise to its input may."""

    def forward(self, tokens, lengths):
        tokens[:, 0] = 0
        return super().forward(tokens, lengths)
