"""The attention module against the papers' equations and PyTorch's own attention."""

import pytest
import torch

from synthbench.training.layers.attention import NORMALISATIONS, Attention, balance_gradients
from synthbench.training.layers.normalisation import Nearest
from synthbench.training.layers.positions import sinusoidal
from synthbench.training.models.output import Record

ROWS, LENGTH, D_MODEL, HEADS = 3, 5, 8, 2
#: Every normalisation, and NormSoftmax in both forms.
WAYS = {
    **{name: {"normalisation": name} for name in NORMALISATIONS},
    "normsoftmax of the map": {"normalisation": "normsoftmax", "spread": "map"},
}
each_way = pytest.mark.parametrize("way", list(WAYS))


def attention_of(normalisation="softmax", **options):
    torch.manual_seed(0)
    attention = Attention(D_MODEL, HEADS, normalisation=normalisation, **options)
    for name, parameter in attention.named_parameters():
        if "bias" in name or parameter.ndim != 2:
            torch.nn.init.normal_(parameter)  # so that every term can be seen
    return attention.double().eval()


def states_of(rows=ROWS, length=LENGTH):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, length, D_MODEL, generator=generator, dtype=torch.float64)


def test_softmax_attention_is_that_of_pytorch():
    ours = attention_of()
    theirs = torch.nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).double().eval()
    projections = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([one.weight for one in projections]))
        theirs.in_proj_bias.copy_(
            torch.cat([ours.query_bias.flatten(), torch.zeros(D_MODEL), ours.value.bias])
        )
        theirs.out_proj.load_state_dict(ours.output.state_dict())
    mask = torch.arange(LENGTH) < torch.tensor([5, 3, 4])[:, None]
    states = states_of()
    expected, weights = theirs(
        states, states, states, key_padding_mask=~mask, average_attn_weights=False
    )
    record = Record()
    torch.testing.assert_close(ours(states, mask, record=record), expected)
    torch.testing.assert_close(record["attention"][0], weights)


def test_the_learned_scaling_starts_as_in_the_paper():
    attention = Attention(D_MODEL, HEADS, normalisation="geometric")
    # One of each for all heads, as in the published program.
    scaling = (attention.alpha, attention.beta, attention.gamma)
    assert [one.item() for one in scaling] == [0.5, 1.0, 0.0]  # 1 / √4
    assert all(isinstance(one, torch.nn.Parameter) for one in scaling)
    for position in ("relative", "gated"):
        attention = Attention(D_MODEL, HEADS, position=position)
        assert (attention.alpha.item(), attention.temperature.item()) == (0.5, 1.0)


def test_biases_can_be_left_out():
    images = Attention(D_MODEL, HEADS, qkv_bias=False)
    assert [name for name, _ in images.named_parameters() if "bias" in name] == ["output.bias"]
    grids = Attention(D_MODEL, HEADS, qkv_bias=False, output_bias=False)
    assert not [name for name, _ in grids.named_parameters() if "bias" in name]
    assert not grids(torch.zeros(1, 2, D_MODEL)).any()


@each_way
def test_one_column_alone_is_that_column_of_all(way):
    attention, states = attention_of(**WAYS[way]), states_of()
    mask = torch.arange(LENGTH) < torch.tensor([5, 2, 4])[:, None]
    column = torch.tensor([4, 1, 0])
    everything = attention(states, mask)
    single = attention(states, mask, column=column, nearest=Nearest.of(LENGTH))
    assert single.shape == (ROWS, 1, D_MODEL)
    torch.testing.assert_close(single[:, 0], everything[torch.arange(ROWS), column])


def test_a_temperature_can_be_set_and_is_saved():
    attention, states = attention_of(), states_of()
    assert attention.temperature.item() == 2.0  # √4
    warm = attention(states)
    attention.set_temperature(0.1)
    assert not torch.allclose(attention(states), warm)
    again = attention_of()
    again.load_state_dict(attention.state_dict())
    torch.testing.assert_close(again(states), attention(states))


def test_hybrid_attention_starts_in_the_middle_and_learns_its_weight():
    attention = attention_of("hybrid")
    fresh = Attention(D_MODEL, HEADS, normalisation="hybrid")
    assert fresh.hybrid_weight.tolist() == [0.5] * HEADS
    attention(states_of()).sum().backward()
    assert attention.hybrid_logit.grad.abs().min() > 0


def test_a_record_shows_scores_weights_and_the_hybrid_weight():
    attention, record = attention_of("hybrid"), Record()
    attention(states_of(), record=record)
    assert record["attention"][0].shape == (ROWS, HEADS, LENGTH, LENGTH)
    assert record["scores"][0].shape == (ROWS, HEADS, LENGTH, LENGTH)
    assert record["hybrid"][0].shape == (HEADS,)
    assert not record["attention"][0].requires_grad
    assert record["gate"] == []


class Mask(torch.nn.Module):
    """In place of dropout: the same units are 0 at every call."""

    def forward(self, keys):
        units = torch.arange(keys.numel()).view(keys.shape)
        return keys * (units % 3 > 0)


@pytest.mark.parametrize("kind", ["softmax", "geometric", "relative", "gated"])
def test_scores_are_those_of_the_equations_and_dropout_meets_keys_alone(kind):
    options = {"position": kind} if kind in ("relative", "gated") else {"normalisation": kind}
    attention = attention_of(**options, key_dropout=0.5)
    states, d_head = states_of(), D_MODEL // HEADS

    def scores_with(mask):
        """Eqs. 10 and 16 to 17 of NDR with what `mask` leaves of the keys."""
        parts = (attention.query.weight, attention.key.weight)
        query, key = (
            (states @ weight.T).view(ROWS, LENGTH, HEADS, d_head).transpose(1, 2)
            for weight in parts
        )
        expected = (query + attention.query_bias) @ mask(key).transpose(-2, -1)
        if attention.positions is not None:
            part = attention.positions
            offsets = sinusoidal(torch.arange(LENGTH - 1, -LENGTH - 1, -1), D_MODEL).double()
            places = sinusoidal(torch.arange(LENGTH), D_MODEL).double()
            far, near = (
                mask(positions @ part.key.weight.T).view(-1, HEADS, d_head).permute(1, 2, 0)
                for positions in (offsets, places)
            )
            biased = query + part.query_bias
            share = torch.ones(ROWS, HEADS, LENGTH)
            if part.gate is not None:
                share = torch.sigmoid(part.gate(states)).transpose(1, 2)
            for i in range(LENGTH):
                for j in range(LENGTH):
                    distance = biased[:, :, i] * far[:, :, j - i + LENGTH - 1]
                    place = biased[:, :, i] * near[:, :, j]
                    part_ij = distance.sum(-1) * share[:, :, i] + place.sum(-1) * (
                        1 - share[:, :, i]
                    )
                    expected[:, :, i, j] += part_ij
        if attention.alpha is not None:
            expected = attention.alpha * expected
        if kind == "geometric":
            onward, backward = attention.direction(states).unbind(-1)
            for i in range(LENGTH):
                for j in range(LENGTH):
                    side = (onward if i <= j else backward)[:, :, i]
                    expected[:, :, i, j] += attention.beta * side + attention.gamma
        return expected

    # Nothing is dropped in evaluation.
    torch.testing.assert_close(attention.scores(states), scores_with(lambda keys: keys))
    dropped = attention.train().scores(states)
    assert not torch.equal(dropped, attention.scores(states))
    attention.key_dropout = mask = Mask()
    if attention.positions is not None:
        attention.positions.dropout = mask
    torch.testing.assert_close(attention.scores(states), scores_with(mask))


def test_balanced_gradients_have_the_mean_norm_of_their_layer_and_keep_their_directions():
    model = torch.nn.ModuleList([attention_of(), attention_of("normsoftmax")])
    states = states_of()
    for attention in model:
        states = states + attention(states)
    states.square().sum().backward()
    layers = [[layer.query.weight, layer.key.weight, layer.value.weight] for layer in model]
    before = [[weight.grad.clone() for weight in layer] for layer in layers]
    balance_gradients(model)
    means = []
    for layer, gradients in zip(layers, before, strict=True):
        means.append(sum(gradient.abs().sum() for gradient in gradients) / 3)
        for weight, gradient in zip(layer, gradients, strict=True):
            expected = gradient * (means[-1] / gradient.abs().sum())
            torch.testing.assert_close(weight.grad, expected)
    assert means[0] != pytest.approx(means[1].item(), rel=0.1)
