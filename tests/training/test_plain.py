"""A task of texts without recipes has a plain study."""

import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.tasks import registry
from synthbench.training.forms import form_of
from synthbench.training.models import build
from synthbench.training.recipes import find_study
from synthbench.training.recipes.plain import PLAIN, plain_studies
from tests.support import TEXTS
from tests.tasks.test_forms import Recall


def test_a_task_of_texts_without_recipes_has_five_plain_models(monkeypatch):
    monkeypatch.setitem(registry._registered, Recall.name, Recall)
    for profile, steps in (("cpu", 3_000), ("quick", 30)):
        study = find_study(Recall.name, profile)
        assert study.name == PLAIN and find_study(Recall.name, profile, PLAIN) == study
        names = [recipe.name for recipe in study.recipes]
        assert names == ["lstm", "gru", "transformer", "causal-transformer", "deltanet"]
        assert {recipe.steps for recipe in study.recipes} == {steps}
    with pytest.raises(UsageError, match="Unknown profile"):
        find_study(Recall.name, "paper")


@pytest.mark.parametrize("task", TEXTS)
def test_every_plain_model_is_built_for_every_kind_of_label(task):
    made = synthbench.task(task)
    (study, _) = plain_studies(made)
    form = form_of(made)
    for recipe in study.recipes:
        assert build(recipe.model, form, {"vocabulary": 99, "outputs": 9}, recipe.options)


def test_a_task_of_arrays_has_no_plain_study():
    assert plain_studies(synthbench.task("identity")) == ()
