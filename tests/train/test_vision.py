"""Vision transformer and residual network: the paper's sizes, and that they learn."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from synthbench.errors import ParameterError, UsageError
from synthbench.train.models.vision import ResNet, ViT
from synthbench.train.record import Record

CLASSES = 4
SMALL = {"patch": 14, "d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32}
MODELS = {
    "vit": lambda: ViT(CLASSES, **SMALL),
    "vit with normsoftmax": lambda: ViT(CLASSES, **SMALL, normalisation="normsoftmax-variance"),
    "resnet": lambda: ResNet(CLASSES, widths=(4, 8, 8, 16)),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def images():
    return torch.rand(8, 3, 56, 56, generator=torch.Generator().manual_seed(0))


def test_the_transformer_has_the_papers_sizes():
    model = ViT(10)
    assert len(model.layers) == 7
    assert model.positions.shape == (1, 1 + 14 * 14, 256)
    attention = model.layers[0].attention
    assert (attention.num_heads, attention.temperature.item()) == (4, 8)
    assert model.layers[0].feedforward[0].out_features == 2 * 256


def test_the_residual_network_has_nine_layers_and_about_as_many_parameters():
    def size(model):
        return sum(parameter.numel() for parameter in model.parameters())

    layers = [one for one in ResNet(10).modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    assert len(layers) == 9
    assert size(ViT(10)) == 3_754_250
    assert 0.8 < size(ResNet(10)) / size(ViT(10)) < 1.25


def test_a_small_batch_is_learned(model, images):
    labels = torch.arange(8) % CLASSES
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(40):
        loss = functional.cross_entropy(model(images).scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05


def test_what_else_is_in_the_batch_changes_no_answer(model, images):
    model.eval()
    scores = model(images).scores
    assert scores.shape == (8, CLASSES)
    torch.testing.assert_close(model(images[2:3]).scores, scores[2:3])


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
        places = [3136, 784, 784, 196, 49, 49]
        channels = [4, 8, 8, 8, 16, 16]
        shapes = [(8, *shape) for shape in zip(places, channels, strict=True)]
        assert [tuple(hidden.shape) for hidden in record["hidden"]] == shapes


def test_a_temperature_reaches_every_layer(images):
    torch.manual_seed(0)
    model = ViT(CLASSES, **SMALL).eval()
    before = model(images).scores
    model.set_temperature(1 / 3)
    assert all(layer.attention.temperature == torch.tensor(1 / 3) for layer in model.layers)
    assert not torch.equal(model(images).scores, before)


def test_the_same_seed_gives_the_same_model(images):
    def scores():
        torch.manual_seed(5)
        return ViT(CLASSES, **SMALL, dropout=0.1)(images).scores

    assert torch.equal(scores(), scores())


def test_bfloat16_comes_close(model, images):
    model.eval()
    with torch.autocast("cpu", torch.bfloat16):
        scores = model(images).scores
    torch.testing.assert_close(scores.float(), model(images).scores, atol=0.1, rtol=0.1)


def test_compile_traces_a_model_as_one_graph(model, images):
    model.eval()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(images).scores, model(images).scores)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="Patch 5"):
        ViT(CLASSES, patch=5)
    with pytest.raises(UsageError, match="normsoftmax"):
        ViT(CLASSES, normalisation="normsoftmx")
