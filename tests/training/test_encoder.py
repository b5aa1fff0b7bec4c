"""The shared-layer encoder: every switch learns, and padding, depth and read-out do as they say."""

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.training.backbones.encoder import Encoder
from synthbench.training.backbones.states import States
from synthbench.training.layers.attention import set_temperature
from synthbench.training.layers.positions import sinusoidal
from synthbench.training.models.output import Record
from tests.training.making import classifier

VOCABULARY, CLASSES, ROWS, LENGTH = 9, 5, 6, 6
SWITCHES = {
    "transformer": {"position": "sinusoidal"},
    "no positions": {},
    "learned positions": {"position": "learned", "begin_end": False, "max_length": 9},
    "relative": {"position": "relative"},
    "relative, gate": {"position": "relative", "copy_gate": True, "feedforward_norm": "tanh"},
    "gated": {"position": "gated", "copy_gate": True, "feedforward_norm": "tanh"},
    "geometric": {"attention": "geometric-l1"},
    "ndr": {"attention": "geometric", "copy_gate": True},
    "read first": {"attention": "geometric", "copy_gate": True, "readout": "first"},
    "graves": {"position": "relative", "halting": "graves"},
    "universal": {"attention": "geometric", "halting": "universal"},
    "normsoftmax": {"position": "sinusoidal", "attention": "normsoftmax"},
    "variance": {"position": "sinusoidal", "attention": "normsoftmax-variance"},
    "whole map": {"position": "sinusoidal", "attention": "normsoftmax", "spread": "map"},
    "doubly-normalised": {"position": "sinusoidal", "attention": "doubly-normalised"},
    "hybrid": {"position": "sinusoidal", "attention": "hybrid"},
    "unnormalised": {"position": "sinusoidal", "attention": "none", "attention_norm": False},
    "no norms": {"position": "sinusoidal", "attention_norm": False, "feedforward_norm": "none"},
}
each_switch = pytest.mark.parametrize("switch", list(SWITCHES))


def encoder_of(switch, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 3, "d_ff": 32, "dropout": 0.0}
    return classifier(Encoder(VOCABULARY, **(sizes | SWITCHES[switch] | options)), CLASSES)


def rows_of(seed=0):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([6, 1, 4, 2, 6, 3])
    tokens = torch.randint(1, VOCABULARY, (ROWS, LENGTH), generator=generator)
    return tokens * (torch.arange(LENGTH) < lengths[:, None]), lengths


@each_switch
def test_a_record_shows_every_layer_and_changes_no_answer(switch):
    model = encoder_of(switch).eval()
    tokens, lengths = rows_of()
    record = Record()
    scores = model(tokens, lengths, record).scores
    torch.testing.assert_close(scores, model(tokens, lengths).scores)
    columns = LENGTH + 2 * model.backbone.begin_end
    assert [hidden.shape for hidden in record["hidden"]] == [(ROWS, columns, 16)] * 3
    assert [one.shape for one in record["attention"]] == [(ROWS, 2, columns, columns)] * 3
    gates = 3 if SWITCHES[switch].get("copy_gate") else 0
    assert [gate.shape for gate in record["gate"]] == [(ROWS, columns, 16)] * gates
    steps = [(ROWS, columns)] if "halting" in SWITCHES[switch] else []
    assert [halting.shape for halting in record["halting"]] == steps


def test_the_same_seed_gives_the_same_numbers():
    tokens, lengths = rows_of()
    random = {"dropout": 0.3, "key_dropout": 0.1, "gate_drop": 0.1, "input_dropout": 0.1}
    first, second = (encoder_of("ndr", **random) for _ in range(2))
    torch.manual_seed(5)
    scores = first(tokens, lengths).scores
    torch.manual_seed(5)
    assert torch.equal(second(tokens, lengths).scores, scores)


def test_the_read_out_column_follows_the_length_or_stays_first():
    tokens, lengths = rows_of()
    for readout in ("first", "last"):
        model = encoder_of("no positions", readout=readout, num_layers=1).eval()
        record = Record()
        scores = model(tokens, lengths, record).scores
        column = torch.zeros(ROWS, dtype=torch.int64) if readout == "first" else lengths + 1
        states = record["hidden"][-1][torch.arange(ROWS), column]
        torch.testing.assert_close(scores, model.head(States(states, states), lengths))


def test_rows_stand_between_their_begin_and_end_tokens():
    model = encoder_of("ndr")
    tokens, lengths = rows_of()
    padded, longer = model.backbone._with_begin_end(tokens, lengths)
    assert longer.tolist() == (lengths + 2).tolist()
    for row, length in enumerate(lengths.tolist()):
        real = tokens[row, :length].tolist()
        expected = [VOCABULARY, *real, VOCABULARY + 1]
        assert padded[row].tolist() == expected + [0] * (LENGTH - length)


def test_more_layers_can_be_applied_in_evaluation():
    model = encoder_of("ndr", test_layers=7)
    for training, layers in ((True, 3), (False, 7)):
        record = Record()
        model.train(training)(*rows_of(), record)
        assert len(record["hidden"]) == layers


@pytest.mark.parametrize(
    ("name", "variance"),
    [("unit", 1.0), ("normal", 1 / 64), ("kaiming", 2 / 64), ("xavier", 2 / (502 + 64))],
)
@pytest.mark.parametrize("init", ["xavier", "normal"])
def test_fresh_embeddings_have_the_variance_of_their_name(name, variance, init):
    torch.manual_seed(0)
    options = {"init": init, "embedding_init": name, "position": "learned", "max_length": 502}
    model = classifier(Encoder(500, d_model=64, d_ff=8, **options), 10)
    for embedding in (model.backbone.embedding, model.backbone.places):
        assert embedding.weight.var().item() == pytest.approx(variance, rel=0.05)


def test_first_states_can_be_dropped_after_positions_were_added():
    model = encoder_of("transformer", input_dropout=0.5)
    tokens, lengths = rows_of()
    padded, _ = model.backbone._with_begin_end(tokens, lengths)
    first = model.eval().backbone._embed(padded, None)
    places = sinusoidal(torch.arange(padded.shape[1]), 16)
    torch.testing.assert_close(first, model.backbone.embedding(padded) + places)
    dropped = model.train().backbone._embed(padded, None)
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * first))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.5, abs=0.1)


def test_fresh_weights_can_be_those_of_nanda():
    torch.manual_seed(0)
    as_nanda = {"init": "normal", "embedding_init": "normal", "attention_bias": False}
    model = classifier(Encoder(500, d_model=64, d_ff=256, **as_nanda), 200)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif parameter.ndim > 1:
            assert parameter.std().item() == pytest.approx(1 / 8, rel=0.05), name
    assert not [
        name for name, _ in model.backbone.layer.attention.named_parameters() if "bias" in name
    ]


def test_a_temperature_reaches_the_attention():
    model = encoder_of("transformer")
    set_temperature(model, 0.5)
    assert model.backbone.layer.attention.temperature.item() == 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"position": "relativ"}, "relative"),
        ({"halting": "grave"}, "graves"),
        ({"init": "normla"}, "normal"),
        ({"readout": "middle"}, "first"),
        ({"feedforward_norm": "layr"}, "layer"),
        ({"attention": "geometry"}, "geometric"),
        ({"embedding_init": "kaimin"}, "kaiming"),
        ({"attention": "geometric", "position": "gated"}, "allowed is none"),
        ({"attention": "normsoftmax", "spread": "maps"}, "Did you mean 'map'"),
    ],
)
def test_impossible_options_are_named(options, words):
    with pytest.raises(UsageError, match=words):
        encoder_of("no positions", **options)


def test_a_row_beyond_the_learned_positions_is_refused():
    model = encoder_of("learned positions", max_length=4)
    with pytest.raises(UsageError, match="max_length"):
        model(torch.ones(1, 5, dtype=torch.int64))
