"""The sizes that a rule chooses give no model more than another."""

import pytest

from synthbench.errors import UsageError
from synthbench.tasks.registry import task_from
from synthbench.training.options import Setting
from synthbench.training.paper_size import task_differences
from synthbench.training.recipes import find_study
from synthbench.training.recipes.borrowed import find_recipe, own_recipes
from synthbench.training.recipes.by_rule import NAME, RATES, STUDIES
from synthbench.training.reproduce import _command, _narrowed

TRIALS = [one for one in STUDIES if one.name != NAME]
FOUND = [one for one in STUDIES if one.name == NAME]


@pytest.mark.parametrize("study", TRIALS, ids=[f"{one.task}-{one.name}" for one in TRIALS])
def test_a_trial_differs_from_the_published_task_in_its_depth_alone(study):
    depth = int(study.name.removeprefix("depth-"))
    parameters = task_from(study.task, None, study.parameters).parameters.to_dict()
    data = {"parameters": parameters, "rows": dict(study.rows), "stream": study.stream}
    about = {"task": study.task, "study": study.name, "profile": "cpu", "data": data}
    names = [one.partition(" ")[0] for one in task_differences(about)]
    assert names == ["`train_depths`", "`validation_depths`", "`test_depths`"]
    assert max(parameters["train_depths"]) == depth
    assert (study.select, study.seeds) == ("iid", 1)


@pytest.mark.parametrize("study", TRIALS, ids=[f"{one.task}-{one.name}" for one in TRIALS])
def test_each_model_has_the_same_number_of_settings(study):
    tried = {}
    for recipe in study.recipes:
        tried.setdefault(recipe.model, []).append(recipe)
    assert set(tried) == {"lstm", "transformer", "ndr"}
    for model, recipes in tried.items():
        assert tuple(one.learning_rate for one in recipes) == RATES
        assert len({(one.steps, one.validate_every) for one in recipes}) == 1
        small = find_study(study.task).recipe(model)
        assert recipes[0].options == small.options
        assert recipes[0].batch_size == small.batch_size


def test_train_and_reproduce_mean_the_same_recipe_by_a_name_and_by_a_line():
    study = find_study("arithmetic", "cpu", NAME)
    recipe = study.recipe("lstm-0.0015")
    assert find_recipe(study, "lstm") == find_recipe(study, "lstm-0.0015") == recipe
    for models in (["lstm"], ["lstm-0.0015"], ["lstm", "lstm-0.0015"]):
        assert own_recipes(study, models, (), {}) == []
        narrowed = _narrowed(study, study.tasks(), models, [], None, None)
        assert narrowed.recipes == (recipe,)
        assert "--model lstm " in _command(study, narrowed, Setting(), None) + " "
    with pytest.raises(UsageError, match="Options are for models and layers of your own"):
        own_recipes(study, ["lstm-0.0015"], (), {"d_model": "8"})
    several = find_study("composites", "paper", "schedules")
    with pytest.raises(UsageError, match="has several recipes in study 'schedules'"):
        find_recipe(several, "vit")
    one = _narrowed(several, several.tasks(), ["vit-0.001-1e-05"], [], None, None)
    assert "--model vit-0.001-1e-05" in _command(several, one, Setting(), None)


@pytest.mark.parametrize("study", FOUND, ids=[one.task for one in FOUND])
def test_the_size_that_was_found_trains_each_model_as_in_its_trial(study):
    trials = find_study(study.task, "cpu", f"depth-{max(study.parameters['train_depths'])}")
    assert [one.title for one in study.recipes] == ["lstm", "transformer", "ndr"]
    for recipe in study.recipes:
        assert recipe.to_dict() == trials.recipe(recipe.name).to_dict()
        assert recipe.published == find_study(study.task).recipe(recipe.title).published
    assert (study.tasks(), study.rows, study.seeds) == (trials.tasks(), trials.rows, 3)
