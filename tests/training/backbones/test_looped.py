"""The looped Transformer: one set of weights for all rounds, and a loss after each of them."""

import dataclasses

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.backbones.heads import TokenModel
from synthbench.training.backbones.looped import LoopedTransformer
from synthbench.training.forms import form_of
from synthbench.training.recipes import find_study
from synthbench.training.recipes.base import Measure, Recipe, Study
from synthbench.training.runs import run_of
from synthbench.training.train import train
from tests.training.backbones.making import VOCABULARY, padded_rows
from tests.training.making import add_study


def looped(**options):
    torch.manual_seed(0)
    return LoopedTransformer(VOCABULARY, d_model=8, num_heads=2, **options).double()


def test_each_round_applies_the_same_blocks_to_the_state_and_the_input():
    tokens, lengths = padded_rows()
    backbone = looped(num_layers=2, rounds=3)
    states = embedded = backbone.embedding(tokens, lengths)
    expected = []
    for _ in range(3):
        for block in backbone.blocks:
            states = block(states, inputs=tokens, lengths=lengths, positions=None)
        expected.append(states)
        states = states + embedded
    given = backbone.train()(tokens, lengths)
    for one, right in zip((*given.earlier, given.states), expected, strict=True):
        torch.testing.assert_close(one, right)
    for rounds, right in enumerate(expected, 1):
        backbone.eval().test_rounds = rounds
        given = backbone(tokens, lengths)
        torch.testing.assert_close(given.states, right)
        assert given.earlier == ()


def test_parameters_do_not_depend_on_the_number_of_rounds():
    sizes = {sum(map(torch.numel, looped(rounds=n).parameters())) for n in (1, 8)}
    assert len(sizes) == 1
    with pytest.raises(UsageError, match="rounds"):
        looped(rounds=0)


def test_every_round_is_scored_by_the_head():
    tokens, lengths = padded_rows()
    model = TokenModel(looped(rounds=4), form_of(make_task("sudoku")).head).double().train()
    output = model(tokens, lengths)
    states = model.backbone(tokens, lengths)
    assert len(output.earlier) == 3
    for scores, after in zip(output.earlier, states.earlier, strict=True):
        torch.testing.assert_close(scores, model.head(states._replace(states=after), lengths))


@pytest.mark.parametrize(("task", "profile"), [("sudoku", "cpu"), ("maze", "cpu")])
def test_both_models_of_a_study_have_as_many_parameters_in_their_blocks(task, profile):
    from synthbench.training.models import build

    study = find_study(task, profile)
    form = form_of(study.tasks()[0])
    counts = []
    for recipe in study.recipes:
        model = build(recipe.model, form, {"vocabulary": 6, "outputs": 4}, recipe.options)
        matrices = [one for one in model.backbone.blocks.parameters() if one.ndim == 2]
        counts.append(sum(map(torch.numel, matrices)))
    assert counts[0] == counts[1] > 0


def test_the_loss_is_the_mean_of_all_rounds_and_more_rounds_are_measured(tmp_path, monkeypatch):
    options = {"d_model": 8, "num_heads": 2, "rounds": 2, "max_length": 16}
    recipe = Recipe("small", "looped-transformer", steps=2, batch_size=4, options=options)
    more = Measure("in three rounds", "test", "exact_match", rounds=3)
    study = Study(
        "sudoku",
        "tiny",
        "For tests",
        (recipe, dataclasses.replace(recipe, name="deep", options={**options, "test_rounds": 3})),
        (Measure("cells", "test", "position_accuracy"), more),
        variants=("4x4",),
        rows={"train": 8, "test": 8},
    )
    add_study(monkeypatch, study)
    small, deep = (
        train("sudoku", model=name, profile="tiny", out=tmp_path / name, progress=False)
        for name in ("small", "deep")
    )
    assert small["rounds"].keys() == deep["rounds"].keys() == {"3"}
    assert small["rounds"] == deep["rounds"]  # as trained alike
    last = {name: deep["splits"]["test"][name] for name in deep["metrics"]}
    assert deep["rounds"]["3"]["test"] == last
    figures = {one["measure"]: one["value"] for one in run_of(small, study)["figures"]}
    assert figures["in three rounds"] == last["exact_match"]
