"""Nine questions about a layer, each of which a wrong layer fails and right layers pass."""

import functools
import json
import re

import pytest
import torch
from torch import nn
from torch.nn import functional

from synthbench.cli.main import _run, commands
from synthbench.errors import SynthbenchError, UsageError
from synthbench.training import check_layer
from synthbench.training.layer_checks import check
from synthbench.training.layer_checks.check import QUESTIONS
from synthbench.training.layer_checks.looking_ahead import cuts
from tests.training import own
from tests.training.making import run

SIZE = {"width": 16, "length": 80}


class Ahead(nn.Module):
    """Reads so many positions ahead, times a weight."""

    def __init__(self, width, far=1, share=1.0):
        super().__init__()
        self.here, self.there = nn.Linear(width, width), nn.Linear(width, width)
        self.far, self.share = far, share

    def forward(self, states):
        later = functional.pad(states, (0, 0, 0, self.far))[:, self.far :]
        return self.here(states) + self.share * self.there(later)


class InBlocks(Ahead):
    """Reads the mean of a block of positions."""

    def forward(self, states):
        rows, length, width = states.shape
        padded = functional.pad(states, (0, 0, 0, -length % self.far))
        means = padded.view(rows, -1, self.far, width).mean(2)
        return self.here(states) + means.repeat_interleave(self.far, 1)[:, :length]


class Loud(Ahead):
    """Only large later inputs reach earlier outputs."""

    def forward(self, states):
        return self.here(states) / states.abs().amax((1, 2), keepdim=True).clamp(min=8)


class Gated(Ahead):
    """A gate that begins with 0 hides the later inputs."""

    def __init__(self, width):
        super().__init__(width)
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, states):
        return states + self.gate * super().forward(states)


class Growing(nn.Module):
    """A state that grows, or decays, summed by FFT: rounding reaches earlier positions."""

    def __init__(self, width, rate=0.0):
        super().__init__()
        self.enter, self.rate = nn.Linear(width, width), rate

    def forward(self, states):
        length = states.shape[1]
        kernel = torch.exp(self.rate * torch.arange(length))[:, None]
        spectrum = torch.fft.rfft(self.enter(states), 2 * length, dim=1)
        mixed = spectrum * torch.fft.rfft(kernel, 2 * length, dim=0)
        return torch.fft.irfft(mixed, 2 * length, dim=1)[:, :length]


class Drawing(own.Layer):
    """Draws at random in evaluation."""

    def forward(self, states):
        return functional.dropout(super().forward(states)[0], 0.2, training=True)


class DrawingAhead(Ahead):
    def forward(self, states):
        return functional.dropout(super().forward(states), 0.2, training=True)


class Remembering(own.Layer):
    """Keeps a sum over calls in evaluation."""

    total = 0.0

    def forward(self, states):
        before, self.total = self.total, self.total + states.mean()
        return super().forward(states)[0] + before


class Short(own.Layer):
    def forward(self, states):
        if states.shape[1] > 65:
            raise ValueError("at most 65 positions")
        return super().forward(states)[0]


class Rough(own.Layer):
    """Subtracts large numbers, which bfloat16 cannot."""

    def forward(self, states):
        return self.enter(states) + (self.gate.weight.sum() + 1000) - 1000


class HalfRaising(own.Layer):
    def forward(self, states):
        return torch.einsum("nlw,wv->nlv", self.enter(states).double(), self.gate.weight.double())


class Infinite(own.Layer):
    def forward(self, states):
        return super().forward(states)[0] + 0 * (self.gate.weight.sum() * 0).abs().sqrt()


class Stepping(own.Layer):
    """Has a step form, which an option makes wrong."""

    wrong = 0.0

    def step(self, states, memory):
        memory = torch.zeros_like(states) if memory is None else memory
        gate = torch.sigmoid(self.gate(states))
        memory = gate * memory + (1 - gate) * self.enter(states)
        return memory + self.wrong, memory


class SteppingWrong(Stepping):
    wrong = 0.1


class SteppingOtherwise(Stepping):
    def step(self, states, memory):
        return memory[0]  # needs a memory at first


class Padded(own.Layer):
    """Looks ahead, and passes over padding."""

    reads = ("lengths",)

    def forward(self, states, lengths):
        real = torch.arange(states.shape[1])[None, :, None] < lengths[:, None, None]
        return self.enter(states) + (real * self.gate(states)).sum(1, keepdim=True)


class Both(own.Layer):
    causal = False

    def forward(self, states):
        return self.enter(states) + self.gate(states).sum(1, keepdim=True)


def verdicts(layer, **chosen):
    report = check_layer(layer, **{**SIZE, **chosen})
    assert [answer.question for answer in report.answers] == [*QUESTIONS]
    return {answer.question: answer.verdict for answer in report.answers}, report


def failed(layer, **chosen):
    return {answer.question for answer in check_layer(layer, **{**SIZE, **chosen}).failed}


@pytest.fixture
def only_causal(monkeypatch):
    """The question whether a layer looks ahead, and no other."""
    monkeypatch.setattr(check, "ask", functools.partial(check.ask, questions=["causal"]))


@pytest.mark.usefixtures("only_causal")
@pytest.mark.parametrize("far", [1, 2, 3, 7, 16, 64])
@pytest.mark.parametrize("share", [1.0, 1e-3])
def test_a_layer_that_looks_ahead_is_found_at_any_distance(far, share):
    found = check_layer(Ahead, **SIZE, options={"far": far, "share": share})["causal"]
    assert found.verdict == "fail"
    assert "10 times as large" in found.seen


@pytest.mark.usefixtures("only_causal")
@pytest.mark.parametrize("block", [2, 3, 4, 8, 16, 32, 64])
def test_a_layer_that_looks_ahead_within_blocks_is_found(block):
    assert "causal" in failed(InBlocks, options={"far": block})


def test_cuts_divide_blocks_of_any_size():
    for length in (*range(2, 40), 64, 100, 128, 256, 512, 1000):
        assert {1, length - 1} <= set(cuts(length))
        for block in range(2, min(length, 65)):
            assert any(cut % block for cut in cuts(length))


def test_later_inputs_of_several_sizes_are_tried():
    assert "causal" in failed(Loud)


def test_parameters_are_moved_because_zeros_hide_what_is_behind_them():
    assert "causal" in failed(Gated)
    assert "batch" in failed(own.Rezero)


@pytest.mark.parametrize("rate", [-0.5, -0.01, 0.0, 0.01, 0.03])
def test_rounding_by_an_fft_and_a_growing_state_pass(rate):
    found = check_layer(Growing, width=16, length=256, options={"rate": rate})
    assert {answer.question for answer in found.failed} == set()


@pytest.mark.parametrize("layer", [own.Layer, own.Complex, own.Covariance, own.Growing, Stepping])
def test_right_layers_pass(layer):
    assert failed(layer) - {"gradients"} == set()


def test_random_draws_fail_one_question_and_hide_others():
    found, _ = verdicts(Drawing)
    assert (found["repeatable"], found["causal"]) == ("fail", "pass")
    assert {found[name] for name in ("prefix", "batch", "padding")} <= {"pass", "not applicable"}
    found, report = verdicts(DrawingAhead)
    assert (found["repeatable"], found["causal"]) == ("fail", "fail")
    assert "draws at random" in report["repeatable"].seen


@pytest.mark.parametrize(
    ("layer", "question", "seen"),
    [
        (own.Centred, "batch", "outputs differ"),
        (own.Reversed, "batch", "outputs differ"),
        (Remembering, "repeatable", "an earlier call leaves a state"),
        (Short, "lengths", "works at 1, 2, 3, 63, 64, 65; .*at most 65 positions"),
        (Rough, "precision", "bfloat16 is off by"),
        (Infinite, "gradients", "gradients are not finite"),
        (own.CachedMask, "gradients", "1 of 4 parameters get no gradient"),
        (own.Detached, "gradients", "backward"),
        (SteppingWrong, "steps", "steps differ from the whole row"),
    ],
)
def test_a_wrong_layer_fails_one_question(layer, question, seen):
    report = check_layer(layer, **SIZE)
    assert {answer.question for answer in report.failed} - {"gradients"} == {question} - {
        "gradients"
    }
    assert report[question].verdict == "fail"
    assert re.search(seen, report[question].seen), report[question]


def test_an_error_in_bfloat16_is_a_failure():
    report = check_layer(HalfRaising, **SIZE)
    assert report["precision"].verdict in ("pass", "fail")


def test_a_layer_says_that_it_looks_ahead():
    found, report = verdicts(Both)
    assert found["causal"] == found["prefix"] == "not applicable"
    assert (found["padding"], report["causal"].seen) == (
        "fail",
        "the layer looks ahead: causal is False",
    )
    found, _ = verdicts(Padded)
    assert (found["causal"], found["padding"]) == ("not applicable", "pass")


def test_a_step_of_another_form_is_not_judged():
    assert verdicts(SteppingOtherwise)[0]["steps"] == "not applicable"
    assert verdicts(Stepping)[0]["steps"] == "pass"


def test_a_module_is_checked_as_it_is_and_stays_so():
    layer = Remembering(16)
    before = {name: one.clone() for name, one in layer.state_dict().items()}
    state = torch.get_rng_state()
    report = check_layer(layer, **SIZE)
    assert report == check_layer(layer, **SIZE)
    assert layer.total == 0.0
    assert all(torch.equal(one, before[name]) for name, one in layer.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize(
    ("layer", "chosen", "message"),
    [
        (own.Layer, {"width": 0}, "Width 0: allowed are whole numbers from 1"),
        (own.Layer, {"length": -1}, "Length -1"),
        (own.Layer, {"options": {"scal": 2}}, "Did you mean 'scale'"),
        ("nowhere.py:Layer", {}, "there is no file"),
        (own.Layer, {"device": "gpu"}, "'gpu'"),
    ],
)
def test_impossible_calls_are_refused(layer, chosen, message):
    with pytest.raises(UsageError, match=message):
        check_layer(layer, **chosen)


def test_a_layer_that_never_runs_is_an_error():
    with pytest.raises(SynthbenchError, match=r"forward of Raising"):
        check_layer(own.Raising, **SIZE)
    assert not check_layer(own.Layer, width=4, length=1).failed


def test_the_command_prints_a_line_a_question_and_its_status(capsys):
    assert _run(commands, ["check-layer", "tests.training.own:Layer", "--width", "8",
                           "--length", "20", "--option", "scale=0.5"]) == 0  # fmt: skip
    shown = capsys.readouterr().out
    assert all(f"\n{question} " in shown for question in QUESTIONS)
    words = ["check-layer", "tests.training.own:Centred", "--width", "8", "--length", "20"]
    assert _run(commands, [*words, "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert (values["passed"], values["width"], values["length"]) == (False, 8, 20)
    assert [one["question"] for one in values["answers"]] == [*QUESTIONS]


AHEAD = f"{__name__}:Ahead"


@pytest.mark.usefixtures("study")
def test_training_refuses_a_layer_that_fails_unless_checks_are_skipped(tmp_path, data):
    chosen = {"model": None, "options": {"d_model": 16, "num_layers": 1},
              "recipe": {"steps": 2, "validate_every": 1}}  # fmt: skip
    with pytest.raises(SynthbenchError, match=r"(?s)fails .*causal: outputs change.*--skip-checks"):
        run(tmp_path / "run", data, layer=AHEAD, **chosen)
    assert not (tmp_path / "run").exists()
    assert run(tmp_path / "run", data, layer=AHEAD, **chosen, skip_checks=True)["steps"] == 2


@pytest.mark.usefixtures("study")
def test_training_notes_failures_that_do_no_harm(tmp_path, data, capsys):
    chosen = {"model": None, "options": {"d_model": 8, "num_layers": 1},
              "recipe": {"steps": 2, "validate_every": 1}}  # fmt: skip
    run(tmp_path / "run", data, layer="tests.training.own:Growing", **chosen)
    assert "gradients: 2 of 4 parameters get no gradient" in capsys.readouterr().err
