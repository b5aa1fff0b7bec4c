"""Elman, GRU, diagonal, delta rule and convolutions: each step as its equation has it."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from synthbench.errors import UsageError
from synthbench.training.backbones.convolution import (
    BaseConv,
    Convolution,
    by_fourier,
    by_shifts,
)
from synthbench.training.backbones.delta import Delta, delta_rule
from synthbench.training.backbones.diagonal import Diagonal, scan
from synthbench.training.backbones.elman import Elman
from synthbench.training.backbones.gru import GRU


def test_elmans_steps_are_those_computed_by_hand():
    rnn = Elman(2)
    with torch.no_grad():
        rnn.cells.weight_ih_l0.copy_(torch.tensor([[1.0, 0.0], [1.0, -1.0]]))
        rnn.cells.weight_hh_l0.copy_(torch.tensor([[0.0, 1.0], [-1.0, 2.0]]))
        rnn.cells.bias_ih_l0.copy_(torch.tensor([0.5, 0.0]))
        rnn.cells.bias_hh_l0.copy_(torch.tensor([0.0, 1.0]))
    states = rnn(torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-3.0, 1.0]]]))
    # 1 + .5, 1 + 1 | 2 + .5, -1 - 1.5 + 4 + 1 | -3 + 2.5 + .5, -4 - 2.5 + 5 + 1
    assert states.tolist() == [[[1.5, 2.0], [2.5, 2.5], [0.0, 0.0]]]


def test_grus_steps_are_its_equations():
    torch.manual_seed(0)
    gru = GRU(4).double()
    inputs = torch.randn(1, 6, 4, dtype=torch.float64)
    given_w, given_b = gru.cells.weight_ih_l0.view(3, 4, 4), gru.cells.bias_ih_l0.view(3, 4)
    hidden_w, hidden_b = gru.cells.weight_hh_l0.view(3, 4, 4), gru.cells.bias_hh_l0.view(3, 4)
    hidden = torch.zeros(4, dtype=torch.float64)
    for place in range(6):
        given = given_w @ inputs[0, place] + given_b
        known = hidden_w @ hidden + hidden_b
        reset, update = torch.sigmoid(given[0] + known[0]), torch.sigmoid(given[1] + known[1])
        new = torch.tanh(given[2] + reset * known[2])
        hidden = (1 - update) * new + update * hidden
        torch.testing.assert_close(gru(inputs)[0, place], hidden)


def test_a_scan_of_numbers_is_computed_by_hand():
    factors = torch.tensor([[[0.5, -1.0], [0.5, -1.0], [0.0, 1.0]]])
    inputs = torch.tensor([[[4.0, 1.0], [1.0, 0.0], [7.0, 2.0]]])
    assert scan(factors, inputs).tolist() == [[[4.0, 1.0], [3.0, -1.0], [7.0, 1.0]]]


@pytest.mark.parametrize("eigenvalues", ["unit", "signed"])
def test_the_diagonal_recurrence_is_its_equation(eigenvalues):
    torch.manual_seed(0)
    mixer = Diagonal(6, eigenvalues=eigenvalues, kernel=3).double()
    states = torch.randn(1, 7, 6, dtype=torch.float64)
    hidden = torch.zeros(6, dtype=torch.float64)
    for place in range(7):
        seen = mixer.convolution.bias.clone()
        for shift in range(min(3, place + 1)):
            seen = seen + mixer.convolution.weight[shift] * states[0, place - shift]
        seen = F.silu(seen)
        factor = torch.sigmoid(mixer.eigenvalue(seen))
        factor = 2 * factor - 1 if eigenvalues == "signed" else factor
        hidden = factor * hidden + mixer.input(seen)
        expected = mixer.output(hidden * F.silu(mixer.gate(states[0, place])))
        torch.testing.assert_close(mixer(states)[0, place], expected)


def one_by_one(queries, keys, values, betas, steps):
    """The delta rule, S_t = S_(t-1) (I - β k kᵀ) + β v kᵀ, for one head."""
    memory = torch.zeros(values.shape[-1], keys.shape[-1], dtype=values.dtype)
    unit = torch.eye(keys.shape[-1], dtype=values.dtype)
    read = []
    for place, query in enumerate(queries):
        for step in range(place * steps, (place + 1) * steps):
            key, beta = keys[step], betas[step]
            memory = memory @ (unit - beta * torch.outer(key, key))
            memory = memory + beta * torch.outer(values[step], key)
        read.append(memory @ query)
    return torch.stack(read)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("steps", [1, 2, 3, 40])
def test_the_delta_rule_by_chunks_is_the_delta_rule_step_by_step(steps, dtype):
    """Also over several chunks, the last of them not whole, and with eigenvalues from -1 to 1."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(3, *shape, generator=generator, dtype=dtype)

    for width in (1, 31, 32, 75) if steps < 40 else (5,):
        queries = F.normalize(draw(width, 8), dim=-1)
        keys = F.normalize(draw(width * steps, 8), dim=-1)
        values, betas = draw(width * steps, 5), 2 * torch.sigmoid(draw(width * steps, 1))
        chunks = delta_rule(queries, keys, values, betas)
        for head in range(3):
            expected = one_by_one(queries[head], keys[head], values[head], betas[head], steps)
            torch.testing.assert_close(chunks[head], expected, atol=1e-5, rtol=1e-5)


def test_the_delta_rules_gradients_are_right():
    generator = torch.Generator().manual_seed(0)
    shapes = ((1, 3, 2), (1, 6, 2), (1, 6, 2), (1, 6, 1))
    given = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    assert torch.autograd.gradcheck(delta_rule, [one.requires_grad_() for one in given])


def test_steps_of_the_delta_rule_are_those_computed_by_hand():
    """Two orthogonal keys; the third step overwrites half of what the first has written."""
    keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]])
    values = torch.tensor([[[2.0], [3.0], [10.0]]])
    betas = torch.tensor([[[1.0], [1.0], [0.5]]])
    queries = torch.tensor([[[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]])
    assert delta_rule(queries, keys, values, betas).flatten().tolist() == [2.0, 5.0, 6.0]
    # β = 2 turns what is stored at a key around: 2 - 2·2 + 2·0 = -2.
    again = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    turned = delta_rule(
        again, again, torch.tensor([[[2.0], [0.0]]]), torch.tensor([[[1.0], [2.0]]])
    )
    assert turned.flatten().tolist() == [2.0, -2.0]


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("eigenvalues", ["unit", "signed"])
def test_delta_is_its_equation(eigenvalues, steps):
    torch.manual_seed(0)
    mixer = Delta(8, 2, eigenvalues=eigenvalues, steps=steps, kernel=0).double()
    states = torch.randn(2, 6, 8, dtype=torch.float64)
    projected = F.silu(mixer.project(states))
    queries, keys, values = projected.split([8, 8 * steps, 8 * steps], dim=-1)
    betas = torch.sigmoid(mixer.beta(states)) * (2 if eigenvalues == "signed" else 1)
    for row in range(2):
        heads = []
        for head in range(2):
            read = one_by_one(
                F.normalize(queries[row].view(6, 2, 4)[:, head], dim=-1),
                F.normalize(keys[row].reshape(6 * steps, 2, 4)[:, head], dim=-1),
                values[row].reshape(6 * steps, 2, 4)[:, head],
                betas[row].view(6 * steps, 2)[:, head],
                steps,
            )
            heads.append(F.rms_norm(read, (4,)))
        expected = mixer.output(torch.cat(heads, dim=-1))
        torch.testing.assert_close(mixer(states)[row], expected)


def test_convolutions_by_shifts_and_by_fourier_are_the_sum():
    generator = torch.Generator().manual_seed(0)
    for width, kernel in ((1, 1), (5, 1), (6, 3), (3, 6), (7, 20), (1, 4)):
        states = torch.randn(2, width, 4, generator=generator, dtype=torch.float64)
        weight = torch.randn(kernel, 4, generator=generator, dtype=torch.float64)
        expected = torch.zeros_like(states)
        for place in range(width):
            for shift in range(min(kernel, place + 1)):
                expected[:, place] += weight[shift] * states[:, place - shift]
        torch.testing.assert_close(by_shifts(states, weight), expected)
        torch.testing.assert_close(by_fourier(states, weight), expected)
        single = by_fourier(states.float(), weight.float())
        torch.testing.assert_close(single.double(), expected, atol=1e-5, rtol=1e-5)


def test_base_conv_is_its_equation():
    torch.manual_seed(0)
    states = torch.randn(2, 9, 4)
    for kernel in (3, 30):
        mixer = BaseConv(4, kernel)
        convolved = by_shifts(states, mixer.convolution.weight) + mixer.convolution.bias
        expected = (states @ mixer.gate.weight.T + mixer.gate.bias) * convolved
        torch.testing.assert_close(mixer(states), expected, atol=1e-5, rtol=1e-5)


def test_what_makes_no_sense_is_refused():
    for mixer in (Elman, GRU, Diagonal, Delta, BaseConv):
        for value in (0, -1, 1.5, True, "many"):
            with pytest.raises(UsageError, match="d_model"):
                mixer(value)
    for make, message in (
        (lambda: Diagonal(8, eigenvalues="sigend"), "Did you mean 'signed'"),
        (lambda: Diagonal(8, kernel=-1), "kernel -1"),
        (lambda: Delta(8, eigenvalues="negative"), "Allowed: unit, signed"),
        (lambda: Delta(8, 3), "3 heads for d_model 8"),
        (lambda: Delta(8, steps=0), "steps 0"),
        (lambda: Delta(8, kernel=1.5), "kernel 1.5"),
        (lambda: BaseConv(8, kernel=0), "kernel 0"),
        (lambda: Convolution(0, 3), "channels 0"),
    ):
        with pytest.raises(UsageError, match=message):
            make()
