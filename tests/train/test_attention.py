"""The attention module against the papers' equations and PyTorch's own attention."""

import pytest
import torch

from synthbench.errors import ParameterError, UsageError
from synthbench.train.attention import NORMALISATIONS, Attention, balance_gradients
from synthbench.train.normalisation import Nearest
from synthbench.train.record import Record

ROWS, LENGTH, D_MODEL, HEADS = 3, 5, 8, 2
each_normalisation = pytest.mark.parametrize("normalisation", NORMALISATIONS)


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
    ours = attention_of(key_bias=True)
    theirs = torch.nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).double().eval()
    projections = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([one.weight for one in projections]))
        theirs.in_proj_bias.copy_(
            torch.cat([ours.query_bias.flatten(), ours.key.bias, ours.value.bias])
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


def test_geometric_scores_are_those_of_ndr_equation_10():
    attention, states = attention_of("geometric"), states_of()
    scores = attention.scores(states)
    d_head = D_MODEL // HEADS
    for head in range(HEADS):
        part = slice(head * d_head, (head + 1) * d_head)
        query = states @ attention.query.weight[part].T + attention.query_bias[head]
        content = query @ (states @ attention.key.weight[part].T).transpose(1, 2)
        for i in range(LENGTH):
            for j in range(LENGTH):
                side = attention.direction(states)[:, head, i, 0 if i <= j else 1]
                expected = (
                    attention.alpha[head] * content[:, i, j]
                    + attention.beta[head] * side
                    + attention.gamma[head]
                )
                torch.testing.assert_close(scores[:, head, i, j], expected.flatten())


def test_geometric_scaling_starts_as_in_the_paper():
    attention = Attention(D_MODEL, HEADS, normalisation="geometric")
    assert attention.alpha.flatten().tolist() == [0.5] * HEADS  # 1 / √4
    assert attention.beta.flatten().tolist() == [1.0] * HEADS
    assert attention.gamma.flatten().tolist() == [0.0] * HEADS


@pytest.mark.parametrize("position", ["relative", "gated"])
def test_content_and_position_scores_add_up(position):
    attention, states = attention_of(position=position), states_of()
    plain = states @ attention.query.weight.T
    plain = plain.view(ROWS, LENGTH, HEADS, -1).transpose(1, 2)
    keys = (states @ attention.key.weight.T).view(ROWS, LENGTH, HEADS, -1).permute(0, 2, 3, 1)
    content = (plain + attention.query_bias) @ keys  # NDR, eq. 17 (a, c)
    expected = content + attention.positions(plain, states)
    torch.testing.assert_close(attention.scores(states), expected)


@each_normalisation
def test_padding_reaches_no_real_column(normalisation):
    attention, states = attention_of(normalisation), states_of()
    lengths = torch.tensor([5, 1, 3])
    mask = torch.arange(LENGTH) < lengths[:, None]
    noisy = torch.where(mask[..., None], states, 100.0)
    mixed = attention(noisy, mask)
    assert torch.isfinite(mixed).all()
    for row, length in enumerate(lengths):
        alone = attention(states[row : row + 1, :length])
        torch.testing.assert_close(mixed[row, :length], alone[0])


@each_normalisation
def test_one_column_alone_is_that_column_of_all(normalisation):
    attention, states = attention_of(normalisation), states_of()
    mask = torch.arange(LENGTH) < torch.tensor([5, 2, 4])[:, None]
    column = torch.tensor([4, 1, 0])
    everything = attention(states, mask)
    single = attention(states, mask, column=column, nearest=Nearest.of(LENGTH))
    assert single.shape == (ROWS, 1, D_MODEL)
    torch.testing.assert_close(single[:, 0], everything[torch.arange(ROWS), column])


@each_normalisation
def test_gradients_are_those_of_the_formula(normalisation):
    attention = attention_of(normalisation)
    states = states_of(2, 3).requires_grad_()
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert torch.autograd.gradcheck(lambda given: attention(given, mask), states)


def test_a_temperature_can_be_set_and_is_saved():
    attention, states = attention_of(), states_of()
    assert attention.temperature.item() == 2.0  # √4
    warm = attention(states)
    attention.set_temperature(0.1)
    assert not torch.allclose(attention(states), warm)
    again = attention_of()
    again.load_state_dict(attention.state_dict())
    torch.testing.assert_close(again(states), attention(states))


def test_hybrid_attention_starts_where_it_is_told_and_learns_its_weight():
    attention = attention_of("hybrid", hybrid_start=0.1)
    torch.nn.init.constant_(attention.hybrid_logit, attention.hybrid_logit[0].item())
    fresh = Attention(D_MODEL, HEADS, normalisation="hybrid", hybrid_start=0.1)
    torch.testing.assert_close(fresh.hybrid_weight, torch.full((HEADS,), 0.1))
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


def test_query_dropout_touches_content_but_never_the_direction():
    attention = attention_of("geometric", query_dropout=0.5).train()
    with torch.no_grad():
        attention.alpha.zero_()
    states = states_of()
    torch.testing.assert_close(attention.scores(states), attention.scores(states))
    with torch.no_grad():
        attention.alpha.fill_(1.0)
    assert not torch.equal(attention.scores(states), attention.scores(states))


def test_balanced_gradients_have_equal_norms_and_keep_their_directions():
    model = torch.nn.ModuleList([attention_of(), attention_of("normsoftmax")])
    states = states_of()
    for attention in model:
        states = states + attention(states)
    states.square().sum().backward()
    weights = [
        projection.weight
        for attention in model
        for projection in (attention.query, attention.key, attention.value)
    ]
    before = [weight.grad.clone() for weight in weights]
    mean = sum(gradient.abs().sum() for gradient in before) / len(before)
    balance_gradients(model)
    for weight, gradient in zip(weights, before, strict=True):
        torch.testing.assert_close(weight.grad, gradient * (mean / gradient.abs().sum()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"normalisation": "softmx"}, "softmax"),
        ({"position": "sinusoidal"}, "gated"),
        ({"normalisation": "geometric", "position": "relative"}, "allowed is none"),
        ({"num_heads": 3}, "divisors"),
        ({"temperature": 0.0}, "above 0"),
        ({"hybrid_start": 1.0, "normalisation": "hybrid"}, "between 0 and 1"),
    ],
)
def test_impossible_options_are_named(options, words):
    with pytest.raises(UsageError, match=words):
        Attention(D_MODEL, **({"num_heads": HEADS} | options))
    assert issubclass(ParameterError, UsageError)
