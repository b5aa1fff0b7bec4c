"""Answers that are generated: loss, metric and answers of causal-lm, and who may learn it.

`Recall` has places in its answers that nobody asks; addition has positions of its own.
"""

import numpy as np
import pytest
import torch

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming.rounds import Rounds
from synthbench.tasks import registry
from synthbench.tasks.form import all_answer_tokens
from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import take
from synthbench.training.forms import form_of
from synthbench.training.forms.rows import Batch, concatenate
from synthbench.training.fresh import FreshModel
from synthbench.training.models import build
from synthbench.training.models.output import Output
from synthbench.training.options import Setting
from synthbench.training.predicting import apply, predict
from synthbench.training.recipes.base import Recipe
from synthbench.training.train import train
from tests.support import plain_rows
from tests.tasks.test_forms import Recall
from tests.tasks.test_sequences import Sorting

TASKS = {
    "recall": {},
    "sorting": {},
    "parity": {},
    "addition": {"order": "reversed", "train_digits": 4, "test_digits": (2, 9)},
}
every_task = pytest.mark.parametrize("name", TASKS)
OPTIONS = {"d_model": 16, "num_heads": 2, "num_layers": 1, "position": "learned"}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for task in (Recall, Sorting):
        monkeypatch.setitem(registry._registered, task.name, task)


def encoded(name, rows=40):
    """A form, rows as dicts, and their tensors, padded to the longest."""
    task = make_task(name, **TASKS[name])
    columns = task.rendered(Rounds(task, "test").rows(0).block.take(slice(rows)))
    form = form_of(task, "causal-lm")
    parts = [form.encode({key: one[first : first + 10] for key, one in columns.items()})
             for first in range(0, rows, 10)]  # fmt: skip
    return form, plain_rows(columns), concatenate(parts)


def decoder(form, rows):
    torch.manual_seed(0)
    return build("causal-transformer", form, form.sizes(rows), OPTIONS).eval()


def oracle(form, right):
    """A model that continues most prefixes of the right rows right, and others anyhow."""
    outputs = len(form.output_tokens)
    known = {tuple(row[:length]): row[length] for row in right for length in range(1, len(row))}

    def run(batch):
        scores = torch.zeros(*batch.inputs.shape, outputs)
        for row, ids in enumerate(batch.inputs.tolist()):
            for place in range(len(ids)):
                prefix = tuple(ids[: place + 1])
                mixed = sum((7 + at) * one for at, one in enumerate(prefix))
                best = known[prefix] if prefix in known and mixed % 9 else mixed % outputs
                scores[row, place, best] = 1.0
        return Output(scores)

    return run


@every_task
def test_batches_are_those_of_synthbench_tokens(name):
    _, rows, tensors = encoded(name)
    batch = take(tensors, np.arange(len(rows)))
    task = make_task(name, **TASKS[name])
    given = synthbench.tokens(task, split="test", form="causal-lm", batch_size=len(rows))[0]
    width = batch.inputs.shape[1]
    assert batch.inputs.tolist() == given["input_ids"][:, :width].tolist()
    assert batch.targets.tolist() == given["labels"][:, :width].tolist()
    assert batch.lengths.tolist() == given["attention_mask"].sum(axis=1).tolist()
    if batch.positions is not None:
        assert batch.positions.tolist() == given["position_ids"][:, :width].tolist()


@every_task
def test_the_loss_is_that_of_each_asked_token_given_those_before_it(name):
    form, rows, tensors = encoded(name)
    batch = take(tensors, np.arange(len(rows)))
    scores = torch.randn(*batch.targets.shape, len(form.output_tokens))
    places = (batch.targets >= 0).nonzero().tolist()
    logs = scores.log_softmax(dim=-1)
    expected = -sum(logs[row, at - 1, batch.targets[row, at]] for row, at in places) / len(places)
    torch.testing.assert_close(form.loss(scores, batch), expected)
    before = torch.zeros_like(batch.targets, dtype=torch.bool)
    for row, at in places:
        before[row, at - 1] = True
    disturbed = torch.where(before[..., None], scores, 9 * torch.randn(scores.shape))
    assert form.loss(disturbed, batch) == form.loss(scores, batch)
    assert form.measured(disturbed, batch).tolist() == form.measured(scores, batch).tolist()


@every_task
def test_a_batch_is_generated_as_row_by_row_and_token_by_token(name):
    form, _, tensors = encoded(name)
    model = decoder(form, tensors)
    answers = predict(model, tensors, form, Setting())
    end = form.input_tokens.index("<end>")
    words = [one for one in all_answer_tokens(form.task) if one != form.task.answer.ignored]
    allowed = sorted([*map(form.input_tokens.index, words), end])
    for index, answer in enumerate(answers):
        batch = take(tensors, np.array([index]))
        (start,) = (batch.inputs[0] == form.input_tokens.index("<separator>")).nonzero()[0].tolist()
        ids, written = batch.inputs[0, : start + 1].tolist(), []
        for place in range(start + 1, int(batch.lengths[0])):
            one = torch.tensor([ids])
            positions = None if batch.positions is None else batch.positions[:, : len(ids)]
            scores = model(one, torch.tensor([len(ids)]), None, positions).scores[0, -1]
            best = max(allowed, key=lambda token: scores[token].item())
            if batch.targets[0, place] < 0:
                best = int(batch.inputs[0, place])  # what nobody asks stands there anyway
            ids.append(best)
            written.append(form.input_tokens[best])
        upto = written.index("<end>") if "<end>" in written else len(written)
        if form.task.labels:
            assert answer == (written[0] if upto == 1 else None)
        else:
            assert answer == written[:upto]


@every_task
def test_the_quick_metric_is_whether_the_generated_answer_is_right(name):
    form, rows, tensors = encoded(name)
    batch = take(tensors, np.arange(len(rows)))
    right = [ids[:length] for ids, length in zip(batch.inputs.tolist(), batch.lengths, strict=True)]
    run = oracle(form, right)
    measured = form.measured(run(batch).scores, batch).tolist()
    scored = [
        form.task.score(row, answer)
        for row, answer in zip(rows, form.predict(run, batch), strict=True)
    ]
    assert measured == scored
    assert set(scored) == {0.0, 1.0}


def test_an_answer_without_its_end_is_one_token_too_long_and_wrong():
    form, rows, tensors = encoded("addition", 10)
    batch = take(tensors, np.arange(10))
    seven = form.input_tokens.index("7")

    def sevens(read):
        scores = torch.zeros(*read.inputs.shape, len(form.output_tokens))
        scores[..., seven] = 1.0
        return Output(scores)

    for row, answer in zip(rows, form.predict(sevens, batch), strict=True):
        assert answer == ["7"] * (1 + len(row["label"].split()))
        assert form.task.score(row, answer) == 0.0


def test_what_a_model_reads_has_nothing_of_the_right_answer():
    form, _, tensors = encoded("addition", 20)
    batch = take(tensors, np.arange(20))
    read = []

    def ends(given):
        read.append(given)
        scores = torch.zeros(*given.inputs.shape, len(form.output_tokens))
        scores[..., form.input_tokens.index("<end>")] = 1.0
        return Output(scores)

    assert form.predict(ends, batch) == [[]] * 20
    separators = batch.inputs == form.input_tokens.index("<separator>")
    known = {0, form.input_tokens.index("<end>")}
    for given in read:
        behind = (separators.cumsum(dim=1) > separators.int())[:, : given.inputs.shape[1]]
        assert set(given.inputs[behind].tolist()) <= known
        assert isinstance(given, Batch)
        assert (given.lengths <= batch.lengths).all()


CAUSAL = ("causal-transformer", "gru", "elman", "lstm", "dnc", "diagonal", "deltanet",
          "deltaproduct", "base-convolution", "stack-rnn")  # fmt: skip


def test_only_models_in_which_no_place_sees_what_follows_may_generate(tmp_path):
    form, _, tensors = encoded("addition", 10)

    def tried(name, options=()):
        recipe = Recipe(name, name, steps=1, options=dict(options))
        FreshModel(recipe, form, seed=0).build(tensors)

    for name in CAUSAL:
        tried(name)
    refused = [("transformer", {}), ("ndr", {}), ("bilstm", {}), ("geometric", {}),
               ("causal-transformer", {"causal": False}),
               ("gru", {"count_down": True, "position": "learned"}), ("tape-rnn", {})]  # fmt: skip
    for name, options in refused:
        with pytest.raises(UsageError, match=f"Model '{name}' sees the tokens .* causal-transf"):
            tried(name, options)
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "class Mean(torch.nn.Module):\n"
        "    def __init__(self, vocabulary, outputs, causal=True):\n"
        "        super().__init__()\n"
        "        self.embed = torch.nn.Embedding(vocabulary, outputs)\n"
        "        self.causal = causal\n"
        "    def forward(self, tokens):\n"
        "        x = self.embed(tokens)\n"
        "        return x.cumsum(1) if self.causal else x + x.mean(1, keepdim=True)\n"
        "class Flip(Mean):\n"
        "    def __init__(self, vocabulary, outputs, lowest=0.0):\n"
        "        super().__init__(vocabulary, outputs)\n"
        "        self.scale = torch.nn.Parameter(torch.full((8,), lowest))\n"
        "    def forward(self, tokens):\n"
        "        return self.embed(tokens.flip(1)) * (1 + self.scale.sqrt().sum())\n"
    )
    place = f"{tmp_path / 'mine.py'}:Mean"
    tried(place)
    with pytest.raises(UsageError, match="sees the tokens that it should predict"):
        tried(place, {"causal": False})
    with pytest.raises(UsageError, match="sees the tokens that it should predict"):
        tried(place.replace("Mean", "Flip"))  # moved, its scores are no numbers
    # In other forms they may see all tokens.
    form = form_of(form.task, "masked-lm")
    tensors = form.encode(form.task.rendered(Rounds(form.task, "test").rows(0).block))
    tried("transformer")


FAR = """
import torch
from torch import nn
class Far(nn.Module):
    def __init__(self, width, far):
        super().__init__()
        self.here, self.there = nn.Linear(width, width), nn.Linear(width, width)
        self.far = far
    def forward(self, states):
        later = nn.functional.pad(states, (0, 0, 0, self.far))[:, self.far:]
        return self.here(states) + self.there(later)
class Drawing(nn.Linear):
    def __init__(self, width):
        super().__init__(width, width)
    def forward(self, states):
        return nn.functional.dropout(super().forward(states), 0.3, training=True)
"""


def test_a_look_far_ahead_is_found_and_random_draws_are_not_taken_for_one(tmp_path):
    form, _, tensors = encoded("addition", 10)
    (tmp_path / "mine.py").write_text(FAR)

    def tried(name, **options):
        recipe = Recipe(name, f"layer {tmp_path / 'mine.py'}:{name}", steps=1, options=options)
        FreshModel(recipe, form, seed=0).build(tensors)

    assert int(tensors.lengths.max()) > 16
    for far in (1, 5, 13, 16):
        with pytest.raises(UsageError, match="sees the tokens that it should predict"):
            tried("Far", far=far)
    tried("Drawing")


def test_a_model_reads_the_tasks_positions_or_counts_tokens():
    form, _, tensors = encoded("addition", 10)
    batch = take(tensors, np.arange(10))
    bare = batch._replace(positions=None)
    torch.manual_seed(0)
    for options in ({"position": "learned"}, {"position": "rotary"}, {"position": "sinusoidal"}):
        for own in (True, False):
            chosen = {**OPTIONS, **options, "task_positions": own}
            model = build("causal-transformer", form, form.sizes(tensors), chosen).eval()
            same = torch.equal(apply(model, batch).scores, apply(model, bare).scores)
            assert same == (not own)


@pytest.mark.slow
def test_a_model_learns_to_generate(tmp_path):
    task = make_task("addition", train_digits=1, test_digits=(2,), order="reversed")
    result = train(
        task,
        model="decoder",
        study="reversed",
        out=tmp_path / "run",
        recipe={"steps": 400, "batch_size": 32, "learning_rate": 3e-3, "validate_every": 100},
        rows={"train": 80, "iid": 10, "test": 20},
        device="cpu",
        progress=False,
    )
    assert result["fit"]["metric"] == "exact_match"
    assert result["fit"]["chosen"] > 0.95
    report = result["splits"]["test"]
    assert set(report["by"]) == {"digits_a", "digits_b", "digits_a x digits_b", "place"}
    assert result["curve"][-1]["iid/exact_match"] == pytest.approx(
        result["splits"]["iid"]["exact_match"]
    )
