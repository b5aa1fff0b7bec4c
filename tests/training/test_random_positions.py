"""Random positions: ordered subsets, repeatable in evaluation, for every kind of position."""

import pytest
import torch

import synthbench
from synthbench.errors import ParameterError
from synthbench.training.backbones.block import Mixers
from synthbench.training.backbones.encoder import Encoder
from synthbench.training.backbones.gru import GRU
from synthbench.training.backbones.looped import LoopedTransformer
from synthbench.training.backbones.transformer import POSITIONS, Transformer
from synthbench.training.layers.positions import RandomPositions

LENGTHS = torch.tensor([3, 7, 3])
TOKENS = torch.arange(1, 22).view(3, 7) % 8 + 1
SIZES = {"vocabulary": 9, "d_model": 8, "num_heads": 2, "num_layers": 2, "max_length": 50}
MODELS = [(Transformer, one) for one in POSITIONS if one != "none"]
MODELS += [(LoopedTransformer, one) for one in ("learned", "rotary")]
MODELS += [(Encoder, one) for one in ("sinusoidal", "learned", "relative", "gated")]
every_model = pytest.mark.parametrize(("backbone", "position"), MODELS)


def test_positions_are_ordered_subsets_and_rows_differ_in_training():
    torch.manual_seed(0)
    drawn = RandomPositions(50)
    seen = set()
    for _ in range(40):
        for row, length in zip(drawn(LENGTHS, 7).tolist(), LENGTHS.tolist(), strict=True):
            assert sorted(set(row[:length])) == row[:length]
            assert row[length:] == [0] * (7 - length)
            seen |= {*row[:length]}
    assert seen == set(range(50))
    one, _, other = drawn(LENGTHS, 7).tolist()
    assert one != other


def test_in_evaluation_length_and_seed_decide_the_positions():
    made = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        drawn = RandomPositions(500).eval()
        state = torch.get_rng_state()
        made.append(drawn(LENGTHS, 7))
        assert torch.equal(state, torch.get_rng_state())
        assert torch.equal(made[-1][0, :3], drawn(torch.tensor([3]), 3)[0])
        assert torch.equal(made[-1][0], made[-1][2])
    assert torch.equal(made[0], made[1]) and not torch.equal(made[0], made[2])


@every_model
def test_with_counted_numbers_a_model_is_the_same_as_without(backbone, position):
    model = backbone(**SIZES, position=position, random_positions=True).eval()
    plain = backbone(**SIZES, position=position).eval()
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if k != "drawn.seed"})
    states = model(TOKENS, LENGTHS).states
    model.drawn.forward = lambda lengths, width: torch.arange(width).expand(len(lengths), -1)
    counted = model(TOKENS, LENGTHS).states
    torch.testing.assert_close(counted, plain(TOKENS, LENGTHS).states)
    assert (states - counted).abs().max() > 1e-4


@every_model
def test_a_row_alone_is_the_row_among_others(backbone, position):
    model = backbone(**SIZES, position=position, random_positions=True).eval()
    together = model(TOKENS, LENGTHS).states[0, :3]
    torch.testing.assert_close(together, model(TOKENS[:1, :3], LENGTHS[:1]).states[0])


def test_what_has_no_positions_is_refused():
    for backbone in (Transformer, Encoder):
        with pytest.raises(ParameterError, match="random_positions needs a position"):
            backbone(**SIZES, position="none", random_positions=True)
    with pytest.raises(ParameterError, match="allowed for models that have positions"):
        Mixers(9, GRU, random_positions=True)
    with pytest.raises(ParameterError, match=r"A row of 51 columns.*drawn from 50 \(max_length\)"):
        RandomPositions(50)(torch.tensor([51]), 51)


@pytest.mark.slow
def test_a_run_is_repeatable_and_reads_longer_rows(tmp_path):
    task = synthbench.task("chomsky", "reverse-string", level="easy")
    losses = []
    for name in ("one", "other"):
        result = synthbench.train(
            task,
            model="transformer",
            out=tmp_path / name,
            dataset=tmp_path / "data",
            rows={"train": 200, "iid": 20, "test": 40},
            recipe={"steps": 5, "batch_size": 16},
            options={"random_positions": True, "max_length": 64, "count_down": False},
        )
        losses.append(result["splits"]["test"])
    assert losses[0] == losses[1]
