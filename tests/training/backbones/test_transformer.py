"""Attention: the equation of each kind of position, and the published shapes."""

import math

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.backbones.attention import SelfAttention, alibi, rotary_angles, rotate
from synthbench.training.backbones.transformer import POSITIONS, Transformer
from synthbench.training.forms import form_of
from synthbench.training.layers.positions import sinusoidal
from synthbench.training.models import build
from synthbench.training.recipes.base import Recipe


def attend(attention, states, score, seen):
    """The equation, one place and head after the other, for one row `(width, d_model)`."""
    width, d_model = states.shape
    heads, size = attention.num_heads, d_model // attention.num_heads
    queries, keys, values = attention.project(states).view(width, 3, heads, size).unbind(1)
    mixed = torch.zeros(width, heads, size, dtype=states.dtype)
    for head in range(heads):
        for i in range(width):
            places = [j for j in range(width) if seen(i, j)]
            scores = [score(queries[i, head], keys[j, head], i, j, head) for j in places]
            weights = torch.stack(scores).softmax(0)
            mixed[i, head] = sum(w * values[j, head] for w, j in zip(weights, places, strict=True))
    return attention.output(mixed.flatten(1))


def turned(vector, position):
    """RoFormer's rotation, as products of complex numbers."""
    size = len(vector)
    pairs = torch.view_as_complex(vector.view(-1, 2))
    turns = [complex(math.cos(a), math.sin(a)) for a in angles(position, size)]
    return torch.view_as_real(pairs * torch.tensor(turns)).flatten()


def angles(position, size):
    return [position * 10_000.0 ** (-2 * i / size) for i in range(size // 2)]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("position", ["none", "rotary", "alibi", "relative"])
def test_attention_is_its_equation(position, causal):
    torch.manual_seed(3)
    attention = SelfAttention(12, 3, position=position, causal=causal).double()
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    states = torch.randn(2, 5, 12, dtype=torch.float64)
    lengths = torch.tensor([5, 3])

    def score(query, key, i, j, head):
        if position == "rotary":
            return turned(query, i) @ turned(key, j) / 2
        if position == "alibi":
            return query @ key / 2 - 2 ** (-8 * (head + 1) / 3) * abs(i - j)
        if position == "relative":
            place = sinusoidal(torch.tensor([i - j]), 12)[0].double()
            key_of_place = attention.relative.key(place).view(3, 4)[head]
            u, v = attention.query_bias[head, 0], attention.relative.query_bias[head, 0]
            return ((query + u) @ key + (query + v) @ key_of_place) / 2
        return query @ key / 2

    attended = attention(states, lengths)
    for row, length in enumerate(lengths.tolist()):
        expected = attend(attention, states[row, :length], score, lambda i, j: j <= i or not causal)
        torch.testing.assert_close(attended[row, :length], expected, atol=1e-6, rtol=1e-5)


def test_rotary_scores_depend_on_the_difference_of_positions_only():
    torch.manual_seed(0)
    query, key = torch.randn(2, 8, dtype=torch.float64)
    positions = torch.tensor([[0, 3, 10, 13]])
    turned_query = rotate(query.expand(1, 4, 8), rotary_angles(positions, 8))[0]
    turned_key = rotate(key.expand(1, 4, 8), rotary_angles(positions, 8))[0]
    torch.testing.assert_close(
        turned_query[1] @ turned_key[0], turned_query[3] @ turned_key[2], atol=1e-6, rtol=0
    )
    assert abs(turned_query[1] @ turned_key[0] - turned_query[2] @ turned_key[0]) > 1e-3


def test_alibi_has_the_slopes_of_the_paper():
    """Eight heads: 1/2, 1/4, ... 1/256 (Press et al., section 3)."""
    (bias,) = alibi(torch.arange(3)[None], 8)
    for head in range(8):
        slope = 2.0 ** -(head + 1)
        assert bias[head].tolist() == [
            [0, -slope, -2 * slope],
            [-slope, 0, -slope],
            [-2 * slope, -slope, 0],
        ]


def test_a_tasks_own_positions_change_learned_sinusoidal_and_rotary_ones_only():
    tokens, lengths = torch.tensor([[1, 2, 3, 4]]), torch.tensor([4])
    own = torch.tensor([[0, 5, 5, 2]])
    for position in POSITIONS:
        torch.manual_seed(0)
        model = Transformer(5, d_model=8, position=position, max_length=9, num_heads=2).eval()
        plain = model(tokens, lengths).states
        places = torch.arange(4)[None]
        torch.testing.assert_close(model(tokens, lengths, positions=places).states, plain)
        reads = position in ("learned", "sinusoidal", "rotary")
        changed = (model(tokens, lengths, positions=own).states - plain).abs().max() > 1e-4
        assert changed == reads


def test_while_a_row_repeats_its_first_token_only_added_positions_tell_its_places_apart():
    """So causal attention without them cannot count the first elements of a row."""
    tokens, lengths = torch.tensor([[2, 2, 2, 1]]), torch.tensor([4])
    for position in POSITIONS:
        torch.manual_seed(0)
        options = {"position": position, "max_length": 9, "num_layers": 3}
        model = Transformer(5, d_model=8, num_heads=2, **options).eval()
        states = model(tokens, lengths).states[0]
        assert (states[3] - states[0]).abs().max() > 1e-2
        alike = (states[1:3] - states[0]).abs().max() < 1e-5
        assert alike == (position not in ("learned", "sinusoidal"))


def test_weights_are_dropped_in_training_only():
    torch.manual_seed(0)
    attention = SelfAttention(8, 2, weight_dropout=0.5)
    states = torch.randn(2, 5, 8)
    assert (attention(states) - attention(states)).abs().max() > 1e-3
    attention.eval()
    torch.testing.assert_close(attention(states), attention(states))


def test_the_chomsky_hierarchys_transformer_has_its_size():
    """248,962 parameters with embeddings of parity's 3 symbols and a classifier of 2 classes."""
    model = Transformer(
        3,
        d_model=64,
        num_heads=8,
        num_layers=5,
        mlp=256,
        causal=False,
        order="post",
        activation="relu",
        attention_bias=False,
        position="sinusoidal",
    )
    classifier = 64 * 2 + 2
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters + classifier == 248_962


def test_what_does_not_fit_is_refused():
    for options, message in (
        ({"num_heads": 3}, "3 heads for d_model 64"),
        ({"d_model": 6, "num_heads": 2}, "rotary .* must be even"),
        ({"position": "rotaty"}, "Did you mean 'rotary'"),
        ({"order": "bare"}, "order 'bare'. Allowed: pre, post, sandwich"),
        ({"causal": True, "count_down": True}, "count_down with causal"),
        ({"weight_dropout": 1.0}, "weight_dropout 1.0"),
        ({"num_layers": 0}, "num_layers 0"),
        ({"num_heads": 0}, "num_heads 0"),
        ({"mlp": -1}, "mlp -1"),
    ):
        with pytest.raises(UsageError, match=message):
            Transformer(5, **options)


def test_positions_can_be_left_out_on_the_command_line():
    """`position=none` is the name of no positions, and not the value None."""
    options = Recipe("r", "causal-transformer", 1).changed({}, {"position": "none"}).options
    form, sizes = form_of(make_task("parity")), {"vocabulary": 5, "outputs": 2}
    model = build("causal-transformer", form, sizes, options)
    assert sorted(dict(model.named_parameters())) == sorted(
        dict(build("causal-transformer", form, sizes, {"position": "none"}).named_parameters())
    )
