"""The encoder's layer against NDR's equations, written out, and its fresh weights."""

import math

import pytest
import torch
from torch.nn import functional

from synthbench.training.layers.attention import Attention
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.layer import Layer, xavier_layer

ROWS, LENGTH, D_MODEL, D_FF = 40, 5, 8, 16


def layer_of(**changes):
    torch.manual_seed(0)
    options = {
        "dropout": 0.0,
        "copy_gate": True,
        "gate_drop": 0.0,
        "attention_norm": True,
        "feedforward_norm": "layer",
    }
    attention = Attention(D_MODEL, 2, normalisation="geometric")
    return Layer(attention, D_MODEL, D_FF, **{**options, **changes}).double()


def states_of():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(ROWS, LENGTH, D_MODEL, generator=generator, dtype=torch.float64)


def updated(layer, states):
    """NDR, eqs. 1 to 4, without dropout."""
    attended = layer.attention_norm(layer.attention(states) + states)
    hidden = functional.relu(layer.feedforward.inner(attended))
    update = layer.feedforward_norm(layer.feedforward.outer(hidden))
    hidden = functional.relu(layer.gate.inner(attended))
    gate = torch.sigmoid(layer.gate.outer(hidden))
    return gate * update + (1 - gate) * states


def test_a_layer_with_a_copy_gate_is_that_of_the_equations():
    layer, states = layer_of(gate_drop=0.5, dropout=0.3).eval(), states_of()
    torch.testing.assert_close(layer(states, None), updated(layer, states))


def test_gate_drop_closes_all_gates_of_a_column_in_training():
    layer, states = layer_of(gate_drop=0.3), states_of()
    torch.nn.init.zeros_(layer.gate.outer.bias)
    made, expected = layer.train()(states, None), updated(layer, states)
    kept = (made == states).all(-1)
    assert kept.double().mean().item() == pytest.approx(0.3, abs=0.1)
    assert len(set(kept.sum(1).tolist())) > 2  # columns of a row fall on their own
    # All other columns are as without it: nothing grows in return.
    torch.testing.assert_close(made, torch.where(kept[..., None], states, expected))


@pytest.mark.parametrize("copy_gate", [True, False])
def test_dropout_stands_where_the_published_program_has_it(copy_gate):
    layer = layer_of(dropout=0.5, copy_gate=copy_gate)
    sizes = []
    for module in layer.modules():
        if isinstance(module, Dropout) and module.p:
            module.register_forward_hook(lambda _, given, made: sizes.append(given[0].shape[-1]))
    layer(states_of(), None)
    # The attention's output, the feed-forward part's hidden layer; then the gate's, or the output.
    assert sizes == [D_MODEL, D_FF, D_MODEL]
    assert (layer.gate is not None and layer.gate.dropout.p == 0.5) == copy_gate


@pytest.mark.parametrize("position", ["none", "gated"])
def test_fresh_weights_have_the_bounds_of_glorot_and_bengio(position):
    torch.manual_seed(0)
    attention = Attention(64, 4, position=position)
    options = {"dropout": 0.0, "gate_drop": 0.0, "attention_norm": True}
    layer = Layer(attention, 64, 256, copy_gate=True, feedforward_norm="tanh", **options)
    output = attention.output.weight.clone()
    xavier_layer(layer)

    def bound(fan_in, fan_out, gain=1.0):
        return gain * math.sqrt(6 / (fan_in + fan_out))

    expected = {
        attention.query: bound(64, 16),
        attention.key: bound(64, 16),
        attention.value: bound(64, 16),
        layer.feedforward.inner: bound(64, 256, math.sqrt(2)),
        layer.feedforward.outer: bound(256, 64, 5 / 3),
        layer.gate.inner: bound(64, 64, math.sqrt(2)),
        layer.gate.outer: bound(64, 64),
    }
    if attention.positions is not None:
        expected[attention.positions.key] = bound(64, 16)
    for linear, largest in expected.items():
        assert linear.weight.abs().max().item() == pytest.approx(largest, rel=0.01)
        assert linear.weight.std().item() == pytest.approx(largest / math.sqrt(3), rel=0.05)
    assert torch.equal(attention.output.weight, output)
    assert (layer.gate.outer.bias == -3).all()
