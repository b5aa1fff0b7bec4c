"""What holds for every model, whatever it reads and whatever its switches are."""

import functools

import pytest
import torch
from torch.nn import functional

from synthbench.training.models.counting import Counting
from tests.training import test_counting, test_encoder, test_recurrent, test_vision

ENCODERS = {
    switch: functools.partial(test_encoder.encoder_of, switch) for switch in test_encoder.SWITCHES
}
GRIDS = {
    f"counting, {name}": functools.partial(Counting, **options)
    for name, options in test_counting.COUNTING.items()
}
MODELS = {**ENCODERS, **test_recurrent.MODELS, **test_vision.MODELS, **GRIDS}
every_model = pytest.mark.parametrize("name", list(MODELS))


def model_and_rows(name):
    """A model with fresh weights, and the inputs and lengths of a few rows for it."""
    torch.manual_seed(0)
    if name in test_vision.MODELS:
        return MODELS[name](), test_vision.images_of(), None
    rows = test_counting.grids()[:2] if name in GRIDS else test_encoder.rows_of()
    return MODELS[name](), *rows


@every_model
def test_neither_padding_nor_other_rows_change_an_answer(name):
    model, inputs, lengths = model_and_rows(name)
    output = model.eval()(inputs, lengths)
    scores, ponder = output.scores, output.ponder
    whole = [inputs.shape[1]] * len(inputs) if lengths is None else lengths
    single = [model(inputs[row : row + 1, :length]) for row, length in enumerate(whole)]
    for together, alone in zip(scores, single, strict=True):
        torch.testing.assert_close(together[: alone.scores.shape[1]], alone.scores[0])
    if ponder is not None:
        torch.testing.assert_close(torch.stack([one.ponder for one in single]).mean(), ponder)
    if lengths is not None:
        wider = model(functional.pad(inputs, (0, 3), value=3), lengths).scores
        torch.testing.assert_close(wider[:, : scores.shape[1]], scores)


@every_model
def test_bfloat16_comes_close_and_every_parameter_gets_a_gradient(name):
    model, inputs, lengths = model_and_rows(name)
    exact = model.eval()(inputs, lengths).scores
    with torch.autocast("cpu", torch.bfloat16):
        scores = model(inputs, lengths).scores
    near = 0.05 if name in test_recurrent.MODELS else 0.1
    torch.testing.assert_close(scores.float(), exact, atol=near, rtol=near)
    scores.float().sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert not [name for name, one in gradients.items() if one is None]
    assert all(torch.isfinite(one).all() for one in gradients.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gated", "lstm", "dnc", "vit with normsoftmax", "resnet"])
def test_a_small_batch_is_learned_by_heart(name):
    model, inputs, lengths = model_and_rows(name)
    labels = torch.arange(len(inputs)) % test_vision.CLASSES
    # Small steps for images: with larger ones it is the processor's rounding that decides whether
    # the ViT with NormSoftmax learns.
    rate, steps = (1e-3, 600) if name in test_vision.MODELS else (3e-3, 300)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = functional.cross_entropy(model(inputs, lengths).scores, labels)
        if loss < 0.02:
            break
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    scores = model.eval()(inputs, lengths).scores
    assert functional.cross_entropy(scores, labels) < 0.05
    assert torch.equal(scores.argmax(-1), labels)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute")  # of PyTorch, as it traces an LSTM
@pytest.mark.parametrize(
    "name",
    ["gated", "ndr", "graves", "counting, standard", *test_recurrent.MODELS, *test_vision.MODELS],
)
def test_compiled_models_answer_as_plain_ones(name):
    model, inputs, lengths = model_and_rows(name)
    expected = model.eval()(inputs, lengths).scores
    # The eager backend: what is proved is that nothing breaks the graph, but for packed rows.
    compiled = torch.compile(model, backend="eager", fullgraph="lstm" not in name)
    torch.testing.assert_close(compiled(inputs, lengths).scores, expected)
