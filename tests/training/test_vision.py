"""Vision transformer and residual network: the paper's sizes, and that they learn."""

import pytest
import torch
from torch import nn

from synthbench.training.layers.attention import set_temperature
from synthbench.training.models.output import Record
from synthbench.training.models.vision import ResNet, ViT

CLASSES = 4
SMALL = {
    "patch": 14,
    "d_model": 16,
    "num_heads": 2,
    "num_layers": 2,
    "d_ff": 32,
    "drop_path": 0.0,
}
MODELS = {
    "vit": lambda: ViT(CLASSES, **SMALL),
    "vit with normsoftmax": lambda: ViT(CLASSES, **SMALL, normalisation="normsoftmax-variance"),
    # With only four channels in the first stage, the backward pass of PyTorch 2.14 corrupts memory
    # on processors that have AVX2 and no AVX-512.
    "resnet": lambda: ResNet(CLASSES, widths=(8, 8, 8, 16)),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]()


def images_of():
    """Images of 8x8 squares, each image with a colour of its own behind them."""
    generator = torch.Generator().manual_seed(0)
    squares = torch.rand(8, 3, 8, 8, generator=generator)
    squares = squares.repeat_interleave(7, 2).repeat_interleave(7, 3)
    return (torch.rand(8, 3, 1, 1, generator=generator) + squares) / 2


@pytest.fixture
def images():
    return images_of()


def test_the_transformer_has_the_papers_sizes():
    model = ViT(10)
    assert len(model.layers) == 7
    assert model.positions.shape == (1, 1 + 14 * 14, 256)
    attention = model.layers[0].attention
    assert (attention.num_heads, attention.temperature.item()) == (4, 8)
    assert model.layers[0].feedforward[0].out_features == 2 * 256


def test_fresh_parameters_of_the_transformer_are_those_of_the_program():
    torch.manual_seed(0)
    model = ViT(10)
    parameters = dict(model.named_parameters())
    norms = {id(p) for m in model.modules() if isinstance(m, nn.LayerNorm) for p in m.parameters()}
    for name, parameter in parameters.items():
        if id(parameter) in norms:
            continue
        if name.endswith("bias"):
            assert not parameter.any(), name
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.15), name
    assert "class_token" in parameters and "positions" in parameters
    biases = [name for name in parameters if "attention" in name and "bias" in name]
    assert {name.rpartition("attention.")[2] for name in biases if "norm" not in name} == {
        "output.bias"
    }
    assert {one.eps for one in model.modules() if isinstance(one, nn.LayerNorm)} == {1e-6}


def test_the_residual_network_is_torchvisions_with_one_block_a_stage(images):
    resnet = pytest.importorskip("torchvision.models.resnet")
    torch.manual_seed(0)
    theirs = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=10)
    ours = ResNet(10)
    state = dict(zip(ours.state_dict(), theirs.state_dict().values(), strict=True))
    ours.load_state_dict(state)
    for training in (True, False):
        scores = ours.train(training)(images).scores
        torch.testing.assert_close(scores, theirs.train(training)(images))

    def spread(model):
        return [one.weight.std().item() for one in model.modules() if isinstance(one, nn.Conv2d)]

    assert spread(ResNet(10)) == pytest.approx(spread(theirs), rel=0.05)
    parameters = [sum(one.numel() for one in model.parameters()) for model in (ours, ViT(10))]
    assert parameters == [4_910_922, 3_750_666]


def test_a_dropped_path_leaves_a_row_as_it_was_and_the_others_grow():
    torch.manual_seed(0)
    model = ViT(CLASSES, **{**SMALL, "num_layers": 3, "drop_path": 0.5})
    assert [layer.drop_path for layer in model.layers] == [0.0, 0.25, 0.5]
    layer, states = model.layers[-1].train(), torch.randn(400, 3, 16)
    attended = layer.attention(layer.norm_attention(states))
    rows = {"neither": 0, "attention": 0, "both or feed-forward": 0}
    for before, added, after in zip(states, attended, layer(states), strict=True):
        if torch.equal(after, before):
            rows["neither"] += 1
        elif torch.allclose(after, before + 2 * added, atol=1e-6):
            rows["attention"] += 1
        else:
            rows["both or feed-forward"] += 1
    assert [count / 400 for count in rows.values()] == pytest.approx([0.25, 0.25, 0.5], abs=0.1)
    layer.eval()
    plain = states + layer.attention(layer.norm_attention(states))
    plain = plain + layer.feedforward(layer.norm_feedforward(plain))
    torch.testing.assert_close(layer(states), plain)


def test_every_quadrant_counts(model, images):
    model.eval()
    scores = model(images).scores
    for top in (0, 28):
        for left in (0, 28):
            other = images.clone()
            other[:, :, top : top + 28, left : left + 28] = 0
            assert ((model(other).scores - scores).abs().amax(dim=-1) > 1e-6).all()


def test_a_record_holds_the_states_after_each_layer(model, images):
    record = Record()
    model.eval()(images, record=record)
    if isinstance(model, ViT):
        assert [tuple(hidden.shape) for hidden in record["hidden"]] == [(8, 17, 16)] * 2
        assert [tuple(weights.shape) for weights in record["attention"]] == [(8, 2, 17, 17)] * 2
    else:
        places = [196, 196, 49, 16, 4]
        channels = [8, 8, 8, 8, 16]
        shapes = [(8, *shape) for shape in zip(places, channels, strict=True)]
        assert [tuple(hidden.shape) for hidden in record["hidden"]] == shapes


def test_a_temperature_reaches_every_layer(images):
    torch.manual_seed(0)
    model = ViT(CLASSES, **SMALL).eval()
    before = model(images).scores
    set_temperature(model, 1 / 3)
    assert all(layer.attention.temperature == torch.tensor(1 / 3) for layer in model.layers)
    assert not torch.equal(model(images).scores, before)
