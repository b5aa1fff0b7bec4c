"""Labels that are sequences: a class for each token, or tokens at masks, in loss, metric, answers.

`Recall` asks some places of a row alone; `Sorting` has an answer of another length than its text.
"""

import dataclasses

import numpy as np
import pytest
import torch

import synthbench
from synthbench.streaming.rounds import Rounds
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import take
from synthbench.training.forms import form_of
from synthbench.training.forms.rows import concatenate
from synthbench.training.recipes.base import Measure, Recipe, Study
from synthbench.training.train import train
from tests.support import plain_rows
from tests.tasks.test_forms import Recall
from tests.tasks.test_sequences import Sorting
from tests.training.making import add_study

RECIPE = Recipe(
    "small",
    "transformer",
    steps=150,
    batch_size=16,
    learning_rate=3e-3,
    validate_every=50,
    options={
        "d_model": 32, "num_heads": 2, "num_layers": 2, "d_ff": 64, "dropout": 0.0,
        "begin_end": False, "init": "default",
    },
)  # fmt: skip
FORMS = [
    ("sudoku", "token-classification"),
    ("maze", "token-classification"),
    ("maze", "masked-lm"),
    ("recall", "token-classification"),
    ("recall", "masked-lm"),
    ("sorting", "masked-lm"),
    ("parity", "masked-lm"),
]
every_form = pytest.mark.parametrize(("name", "form"), FORMS)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for task in (Recall, Sorting):
        monkeypatch.setitem(registry._registered, task.name, task)


def encoded(name, form, rows=30):
    """A form, rows as dicts, and the batch of them."""
    task = make_task(name)
    columns = task.rendered(Rounds(task, "test").rows(0).block.take(slice(rows)))
    made = form_of(task, form)
    parts = [made.encode({name: column[first : first + 10] for name, column in columns.items()})
             for first in range(0, rows, 10)]  # fmt: skip
    return made, plain_rows(columns), take(concatenate(parts), np.arange(rows))


@every_form
def test_batches_are_those_of_synthbench_tokens(name, form):
    _, rows, batch = encoded(name, form)
    given = synthbench.tokens(name, split="test", form=form, batch_size=len(rows))[0]
    width = batch.inputs.shape[1]
    assert batch.inputs.tolist() == given["input_ids"][:, :width].tolist()
    assert batch.targets.tolist() == given["labels"][:, :width].tolist()
    assert batch.lengths.tolist() == given["attention_mask"].sum(axis=1).tolist()
    assert (batch.positions is None) == ("position_ids" not in given)
    if batch.positions is not None:
        assert batch.positions.tolist() == given["position_ids"][:, :width].tolist()


@every_form
def test_the_quick_metric_of_every_row_is_the_tasks_own(name, form):
    made, rows, batch = encoded(name, form)
    outputs = len(made.output_tokens)
    right = torch.nn.functional.one_hot(batch.targets.clamp_min(0), outputs)
    scores = right + torch.randn(right.shape, generator=torch.Generator().manual_seed(1))
    measured = made.measured(scores, batch).tolist()
    for row, answer, quick in zip(rows, made.answers(scores, batch), measured, strict=True):
        read = made.task.read_answer(row, answer)
        assert read is not None
        assert made.task.measure(row, read)[made.metric] == pytest.approx(quick, rel=1e-5)
    assert len(set(measured)) > 1
    assert made.measured(50.0 * right, batch).tolist() == [1.0] * len(rows)
    assert made.loss(50.0 * right, batch) < 1e-6 < made.loss(scores, batch)


@every_form
def test_places_that_nobody_asks_count_for_nothing(name, form):
    made, _, batch = encoded(name, form)
    scores = torch.randn(*batch.targets.shape, len(made.output_tokens))
    noise = 9 * torch.randn(scores.shape)
    disturbed = torch.where((batch.targets < 0)[..., None], noise, scores)
    assert made.loss(disturbed, batch) == made.loss(scores, batch)
    assert made.answers(disturbed, batch) == made.answers(scores, batch)


@every_form
def test_the_loss_is_the_mean_over_asked_places(name, form):
    made, _, batch = encoded(name, form)
    scores = torch.randn(*batch.targets.shape, len(made.output_tokens))
    places = (batch.targets >= 0).nonzero().tolist()
    logs = scores.log_softmax(dim=-1)
    expected = -sum(logs[row, place, batch.targets[row, place]] for row, place in places)
    torch.testing.assert_close(made.loss(scores, batch), expected / len(places))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form", "model"),
    [
        ("recall", "token-classification", "lstm"),
        ("sorting", "masked-lm", "transformer"),
        ("parity", "masked-lm", "lstm"),
    ],
)
def test_a_model_of_tokens_learns_every_form(name, form, model, tmp_path, monkeypatch):
    task = make_task(name)
    options = RECIPE.options if model == "transformer" else {"d_model": 64, "dropout": 0.0}
    steps = {"parity": 400, "sorting": 600}.get(name, 800)
    recipe = dataclasses.replace(RECIPE, model=model, options=options, form=form, steps=steps)
    study = Study(
        name,
        "tiny",
        "For tests",
        (recipe,),
        (Measure("test", "test", task.metrics[0]),),
        select="test",
        eval_splits=("test",),
        rows={"train": 100, "test": 20},
    )
    add_study(monkeypatch, study)
    result = train(
        name, model="small", profile="tiny", out=tmp_path / "run", device="cpu", progress=False
    )
    metric = form_of(task, form).metric
    assert result["fit"]["metric"] == metric
    assert result["fit"]["chosen"] > 0.9
    last = result["curve"][-1]
    if result["best_step"] == last["step"]:
        assert last[f"test/{metric}"] == pytest.approx(result["splits"]["test"][metric], abs=1e-6)
