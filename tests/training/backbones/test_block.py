"""Blocks: where norms and residual connections stand, what a mixer gets, and what is refused."""

import functools

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from synthbench.errors import UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.backbones.block import MixerBlock, Mixers
from synthbench.training.backbones.elman import Elman
from synthbench.training.backbones.embedding import Embedding, OneHot
from synthbench.training.forms import form_of
from synthbench.training.layers.mlp import MLP
from synthbench.training.layers.positions import sinusoidal
from synthbench.training.models import build

TOKENS, LENGTHS = torch.tensor([[1, 2, 3, 4], [4, 1, 0, 0]]), torch.tensor([4, 2])


class Doubled(nn.Module):
    """A mixer whose output is known."""

    def forward(self, states):
        return 2 * states


class Reader(nn.Module):
    """A mixer that keeps what it reads."""

    reads = ("inputs", "lengths", "positions")

    def forward(self, states, **given):
        self.given = given
        return states


def test_each_order_is_its_equation():
    states = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))

    def norm(x):
        return F.layer_norm(x, (8,))

    expected = {
        "pre": states + 2 * norm(states),
        "post": norm(3 * states),
        "sandwich": states + norm(2 * norm(states)),
        "bare": 2 * states,
    }
    for order, wanted in expected.items():
        block = MixerBlock(Doubled(), 8, mlp=0, order=order)
        torch.testing.assert_close(block(states), wanted)
    rms = MixerBlock(Doubled(), 8, mlp=0, norm="rms")
    torch.testing.assert_close(
        rms(states), states + 2 * states / states.square().mean(-1, keepdim=True).sqrt()
    )


def test_the_mlp_follows_the_mixer_with_a_residual_connection_of_its_own():
    torch.manual_seed(0)
    states = torch.randn(2, 3, 8)
    block = MixerBlock(Doubled(), 8, mlp=12)
    mixed = states + 2 * F.layer_norm(states, (8,))
    torch.testing.assert_close(block(states), mixed + block.mlp.part(F.layer_norm(mixed, (8,))))


def test_activations_are_their_equations():
    torch.manual_seed(0)
    states = torch.randn(3, 8)
    for name, activation in (("relu", F.relu), ("gelu", F.gelu)):
        mlp = MLP(8, 12, name)
        torch.testing.assert_close(mlp(states), mlp.outer(activation(mlp.inner(states))))
    mlp = MLP(8, 12, "gated-gelu")
    hidden = F.gelu(mlp.inner(states)) * mlp.gate(states)
    torch.testing.assert_close(mlp(states), mlp.outer(hidden))


def test_of_a_tuple_the_first_counts():
    torch.manual_seed(0)
    gru = nn.GRU(8, 8, batch_first=True)
    states = torch.randn(2, 3, 8)
    torch.testing.assert_close(MixerBlock(gru, 8, mlp=0, order="bare")(states), gru(states)[0])


def test_a_mixer_gets_what_it_reads_and_no_other_gets_anything():
    positions = torch.arange(8).view(2, 4)
    backbone = Mixers(5, [lambda _: Reader(), lambda _: Doubled()], d_model=8, mlp=0)
    backbone(TOKENS, LENGTHS, positions=positions)
    given = backbone.blocks[0].mixing.part.given
    assert given["inputs"] is TOKENS
    assert given["lengths"] is LENGTHS
    assert given["positions"] is positions


def test_mixers_take_turns():
    backbone = Mixers(5, [lambda _: Reader(), lambda _: Doubled()], d_model=8, num_layers=5)
    kinds = [type(block.mixing.part) for block in backbone.blocks]
    assert kinds == [Reader, Doubled, Reader, Doubled, Reader]


def test_the_last_norm_stands_where_the_residual_stream_is_not_normalised():
    for order, kind in (
        ("pre", nn.LayerNorm),
        ("sandwich", nn.LayerNorm),
        ("post", nn.Identity),
        ("bare", nn.Identity),
    ):
        assert type(Mixers(5, lambda _: Doubled(), order=order).norm) is kind


def test_bare_layers_have_no_mlp_unless_it_is_asked_for():
    def mlp_of(**options):
        return Mixers(5, lambda _: Doubled(), d_model=8, **options).blocks[0].mlp

    assert isinstance(mlp_of(order="bare"), nn.Identity)
    assert isinstance(mlp_of(mlp=0), nn.Identity)
    assert mlp_of().part.inner.out_features == 32
    assert mlp_of(order="bare", mlp=12).part.inner.out_features == 12


def test_dropout_meets_the_embedding_and_the_output_of_each_part():
    torch.manual_seed(0)
    backbone = Mixers(5, lambda _: Doubled(), d_model=8, num_layers=2, dropout=0.5).train()
    met = []
    for module in backbone.modules():
        if type(module).__name__ == "Dropout" and module.p:
            module.register_forward_hook(
                lambda _, given, made: met.append((made == 0).float().mean().item())
            )
    backbone(TOKENS.repeat(100, 10), LENGTHS.repeat(100))
    assert len(met) == 5
    assert all(0.45 < share < 0.55 for share in met)


# The embedding.


def test_positions_are_added_to_scaled_embeddings():
    torch.manual_seed(0)
    plain = Embedding(5, 16, scaled=True)
    torch.testing.assert_close(plain(TOKENS, LENGTHS), 4 * plain.tokens(TOKENS))
    waves = Embedding(5, 16, position="sinusoidal")
    expected = waves.tokens(TOKENS) + sinusoidal(torch.arange(4), 16)
    torch.testing.assert_close(waves(TOKENS, LENGTHS), expected)
    learned = Embedding(5, 16, position="learned", max_length=9)
    expected = learned.tokens(TOKENS) + learned.places(torch.arange(4))
    torch.testing.assert_close(learned(TOKENS, LENGTHS), expected)


def test_one_hot_vectors_leave_padding_out_and_replace_embeddings():
    one_hot = OneHot(4)(torch.tensor([[1, 3, 2, 0]]))
    assert one_hot.tolist() == [[[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]]
    backbone = Mixers(5, Elman, d_model=8, order="bare", num_layers=2, one_hot=True)
    inner, outer = (block.mixing.part.cells for block in backbone.blocks)
    assert (inner.input_size, outer.input_size) == (4, 8)
    assert backbone(TOKENS, LENGTHS).states.shape == (2, 4, 8)


def test_embeddings_of_another_size_need_a_mixer_that_takes_them():
    narrow = Mixers(5, Elman, d_model=8, order="bare", num_layers=1, d_embedding=3)
    assert narrow(TOKENS, LENGTHS).states.shape == (2, 4, 8)
    for changes, text in (
        ({"order": "pre", "d_embedding": 3}, "Embeddings of 3 and states of 8: .*order=bare"),
        ({"order": "pre", "one_hot": True}, "Embeddings of 4 and states of 8"),
        ({"order": "bare", "d_embedding": 0}, "d_embedding"),
    ):
        with pytest.raises(UsageError, match=text):
            Mixers(5, Elman, d_model=8, **changes)
    form = form_of(make_task("chomsky", "parity-check"))
    with pytest.raises(UsageError, match=r"'deltanet' lacks d_input: its embeddings .* 16"):
        build("deltanet", form, form.sizes(None), {"d_model": 16, "order": "bare", "one_hot": True})


def test_with_one_hot_vectors_only_tokens_of_answers_are_scored():
    form = form_of(make_task("chomsky", "binary-addition"))
    model = build("elman", form, form.sizes(None), {"d_model": 8, "one_hot": True})
    tokens = torch.tensor([[1, 2, 3, form.tokens.mask_id]])
    scores = model(tokens).scores
    ids = list(form.tokens.answer_ids)
    assert scores.shape == (1, 4, len(form.output_tokens))
    likely = scores.softmax(-1)[..., ids].sum(-1)
    torch.testing.assert_close(likely, torch.ones(1, 4))
    assert model.head.out_features == len(ids) == 3


def test_positions_count_down_to_1_at_each_rows_last_token():
    learned = Embedding(5, 16, position="learned", max_length=9, count_down=True)
    expected = learned.places(torch.tensor([[4, 3, 2, 1], [2, 1, 0, 0]]))
    torch.testing.assert_close(learned(TOKENS, LENGTHS) - learned.tokens(TOKENS), expected)


def test_a_tasks_own_positions_are_taken():
    own = torch.tensor([[7, 3, 3, 0], [1, 1, 0, 0]])
    for count_down in (False, True):
        learned = Embedding(5, 16, position="learned", max_length=9, count_down=count_down)
        expected = learned.tokens(TOKENS) + learned.places(own)
        torch.testing.assert_close(learned(TOKENS, LENGTHS, own), expected)
        waves = Embedding(5, 16, position="sinusoidal", count_down=count_down)
        added = waves(TOKENS, LENGTHS, own) - waves.tokens(TOKENS)
        torch.testing.assert_close(added[0, 0], sinusoidal(torch.tensor([7]), 16)[0])
        torch.testing.assert_close(added[0, 1], added[0, 2])


def test_positions_that_were_not_made_are_refused():
    learned = Embedding(5, 16, position="learned", max_length=3)
    with pytest.raises(UsageError, match=r"Position 3: .* 0 to 2 \(max_length\)"):
        learned(TOKENS, LENGTHS)
    down = Embedding(5, 16, position="learned", max_length=4, count_down=True)
    with pytest.raises(UsageError, match="Position 4: "):
        down(TOKENS, LENGTHS)
    for position in (-1, 3, 10**6):
        with pytest.raises(UsageError, match=f"Position {position}: "):
            learned(TOKENS, LENGTHS, torch.full((2, 4), position))


def test_embeddings_are_drawn_with_the_deviation_asked_for():
    torch.manual_seed(0)
    for std in (1.0, 0.02):
        weight = Embedding(2_000, 16, std=std).tokens.weight
        assert weight.abs().max() <= 2 * std
        assert weight.std().item() == pytest.approx(0.88 * std, rel=0.02)


def test_numbers_and_names_that_make_no_sense_are_refused():
    make = functools.partial(Mixers, 5, lambda _: Doubled())
    for option in ("d_model", "num_layers", "max_length"):
        for value in (0, -1, 1.5, True, "many"):
            with pytest.raises(UsageError, match=option):
                make(**{option: value})
    for value in (-1, 1.5, True):
        with pytest.raises(UsageError, match="mlp"):
            make(mlp=value)
    for value in (-0.1, 1.0):
        with pytest.raises(UsageError, match="dropout"):
            make(dropout=value)
    for value in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="std"):
            make(embedding_std=value)
    for option in ("order", "norm", "activation", "position"):
        with pytest.raises(UsageError, match=f"{option} 'nonsense'. Allowed: "):
            make(**{option: "nonsense"})
