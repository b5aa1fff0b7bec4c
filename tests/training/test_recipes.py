"""The recipes: each can be built, and its figures are those of the papers."""

import json
import re

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.figures import FIGURES
from synthbench.training.forms import form_of
from synthbench.training.layers.attention import Attention
from synthbench.training.models import MODELS, build
from synthbench.training.recipes import STUDIES, find_study
from synthbench.training.recipes.base import Published, Recipe
from synthbench.training.schedules import learning_rate
from tests.support import ROOT
from tests.training.making import FORMS

SIZES = {
    "tokens": {"vocabulary": 20, "outputs": 10},
    "images": {"classes": 10},
    "vectors": {"dims": 5},
    "grids": {},
    "points": {},
}
VISION = ("composites", "paper")
every_study = pytest.mark.parametrize(
    "study", STUDIES, ids=[f"{one.task}-{one.name}-{one.profile}" for one in STUDIES]
)


@every_study
def test_every_recipe_can_be_built_and_trained_from_its_first_to_its_last_step(study):
    form = form_of(make_task(study.task, study.variants[0], **study.parameters))
    for recipe in study.recipes:
        recipe.changed({}, {})  # checks itself
        with torch.device("meta"):  # sizes without numbers
            build(recipe.model, form, SIZES[form.reads], recipe.options)
        for step in (0, recipe.steps // 2, recipe.steps - 1) if recipe.steps else ():
            assert 0 <= learning_rate(recipe, step) <= recipe.learning_rate


@every_study
def test_a_study_fits_its_task(study):
    task = make_task(study.task, study.variants[0], **study.parameters)
    evaluated = {split.name for split in task.splits if split.evaluation}
    assert set(study.eval_splits) <= evaluated
    assert study.select is None or study.select in study.eval_splits
    assert set(study.variants) <= set(task.variants)
    assert set(study.rows) <= {split.name for split in task.splits}
    names = [recipe.name for recipe in study.recipes]
    assert len(set(names)) == len(names)
    columns = {breakdown.name for breakdown in task.group_by}
    for measure in study.measures:
        assert measure.split in evaluated
        assert measure.where is None or measure.where[0] in columns
    assert {measure.headline for measure in study.measures} <= {"", "in", "out"}


@every_study
def test_every_published_figure_names_its_table_and_belongs_to_a_measure(study):
    measures = {measure.name for measure in study.measures}
    for recipe in study.recipes:
        for (variant, measure), figure in recipe.published.items():
            assert variant in study.variants
            assert measure in measures
            assert any(word in figure.source for word in ("table", "section", "figure"))


def test_the_guide_lists_every_study_and_every_figure():
    guide = (ROOT / "docs/pages/guides/reproduce.md").read_text(encoding="utf-8")
    names = {study.name for study in STUDIES if study.name != "main"} | set(FIGURES)
    assert {name for name in names if f"`{name}`" not in guide} == set()


def test_pages_that_explain_papers_name_studies_and_figures_that_exist():
    pages = sorted((ROOT / "docs/pages/results/explained").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert len(pages) == 4 and "{" not in text.replace("{ .paper }", "")
    assert set(re.findall(r"--figure ([\w-]+)", text)) <= set(FIGURES)
    for task, name, profile in re.findall(
        r"reproduce ([\w-]+) --study ([\w-]+)(?: --profile (\w+))?", text
    ):
        assert find_study(task, profile or "cpu", name)


def test_every_task_with_studies_has_one_of_both_profiles():
    of_papers = {study.task for study in STUDIES if study.profile == "paper"}
    without = {"automaton", "copying", "dyck", "lists"}
    assert of_papers == {study.task for study in STUDIES} - without
    assert find_study("copying").name == "plain"
    for profile in ("cpu", "paper"):
        for task in of_papers:
            assert find_study(task, profile).name == "main"


def test_every_recipe_has_a_model_and_only_sequence_layers_have_no_recipe():
    used = {recipe.model for study in STUDIES for recipe in study.recipes}
    assert used <= set(MODELS)
    assert all(MODELS[name].reads == "tokens" for name in set(MODELS) - used)


def test_options_are_read_from_text():
    given = {"d_model": "8", "dropout": "0.5", "begin_end": "false", "widths": "8,16,32,64"}
    read = find_study("ctl", "cpu").recipe("ndr").changed({}, given).options
    expected = {"d_model": 8, "dropout": 0.5, "begin_end": False, "widths": (8, 16, 32, 64)}
    assert {name: read[name] for name in given} == expected


def test_a_recipe_survives_json():
    for study in STUDIES:
        for recipe in study.recipes:
            values = json.loads(json.dumps(recipe.to_dict()))
            again = Recipe.from_dict(values)
            assert again.to_dict() == values
            assert (again.heat, again.steps) == (recipe.heat, recipe.steps)


@pytest.mark.parametrize(
    ("task", "variant", "model", "measure", "published"),
    [
        ("ctl", "forward", "ndr", "test", Published(1.0, "NDR, table 1", 0.0, 5)),
        ("ctl", "backward", "transformer", "iid", Published(0.82, "NDR, table 1", 0.39, 5)),
        ("arithmetic", "default", "lstm", "test", Published(0.74, "NDR, table 2", 0.02, 5)),
        ("arithmetic", "default", "ndr", "test", Published(0.98, "NDR, table 2", 0.01, 5)),
        ("listops", "default", "ndr", "test", Published(0.99, "NDR, table 3", 0.01, 5)),
        (
            "parity",
            "default",
            "heat",
            "Eureka-ratio",
            Published(0.8, "Eureka, section 5.3", None, 5),
        ),
        ("composites", "main", "vit", "Eureka-ratio", Published(0.7, "Eureka, table 4", None, 10)),
        (
            "grid-count",
            "default",
            "counting-standard",
            "20x20",
            Published(0.3076, "Counting, table I"),
        ),
        (
            "chomsky",
            "odds-first",
            "lstm",
            "test",
            Published(0.556, "Chomsky hierarchy, table 2"),
        ),
    ],
)
def test_the_papers_figures_stand_beside_the_models(task, variant, model, measure, published):
    for profile in ("cpu", "paper"):
        assert find_study(task, profile).recipe(model).published[variant, measure] == published


def test_a_model_that_is_read_from_another_column_stands_beside_no_figure_of_table_1():
    for recipe in find_study("ctl").recipes:
        sources = {one.source for (way, _), one in recipe.published.items() if way == "backward"}
        other = recipe.for_variant("backward").options.get("readout") == "first"
        assert ("NDR, table 1" in sources) != other


def test_the_tables_of_ndr_are_in_the_recipes():
    ndr = find_study("listops", "paper").recipe("ndr")
    assert (ndr.steps, ndr.batch_size, ndr.clip, ndr.weight_decay) == (100_000, 512, 1.0, 0.09)
    assert ndr.learning_rate == pytest.approx(2e-4)
    sizes = {"d_model": 512, "d_ff": 1024, "num_heads": 16, "num_layers": 20, "test_layers": 24}
    assert sizes.items() <= ndr.options.items()
    layers = find_study("ctl", "paper", "layers")
    assert [recipe.options["num_layers"] for recipe in layers.recipes] == [14, 12, 10, 8, 6, 4]
    act = find_study("ctl", "paper", "act").recipe("transformer-relative-act")
    assert (act.steps, act.ponder, act.options["num_layers"]) == (60_000, 0.03, 14)


@pytest.mark.parametrize(
    ("task", "model", "expected"),
    [
        # What the published programs have where a paper has another value or none.
        ("ctl", "bilstm", {"d_model": 200}),
        ("ctl", "transformer-gated-position", {"d_ff": 1024, "key_dropout": 0.1}),
        ("ctl", "ndr", {"d_ff": 512, "gate_drop": 0.1, "one_length": True}),
        ("ctl", "transformer", {"input_dropout": 0.1, "one_length": False}),
        ("arithmetic", "lstm", {"clip": 5.0}),
        ("arithmetic", "transformer-relative", {"readout": "first", "key_dropout": 0.1}),
        ("arithmetic", "ndr", {"clip": 1.0, "gate_drop": 0.1, "one_length": True}),
        ("listops", "bilstm", {"d_model": 512, "one_length": True}),
        ("listops", "transformer-gated-position", {"d_ff": 2048, "gate_drop": 0.05}),
        ("listops", "ndr", {"test_layers": 24, "gate_drop": 0.05, "one_length": True}),
        ("parity", "heat", {"beta2": 0.98, "warmup": 10, "heat": (1 / 3, 2.0, 0.5)}),
        ("composites", "vit", {"learning_rate": 5e-4, "min_learning_rate": 1e-6}),
        ("composites", "vit-heat", {"learning_rate": 1e-4, "label_smoothing": 0.1}),
        ("composites", "vit-normsoftmax", {"learning_rate": 1e-5, "decay_weights_only": True}),
        ("grid-count", "counting", {"clip": 1.0, "one_length": True, "balanced": True}),
    ],
)
def test_the_paper_profile_follows_the_published_programs(task, model, expected):
    recipe = find_study(task, "paper").recipe(model)
    values = {**recipe.to_dict(), **recipe.options, "heat": recipe.heat}
    assert {name: values[name] for name in expected} == expected


def test_normsoftmax_takes_the_spread_of_the_map_on_parity_and_of_each_query_on_images():
    reasoner = build("parity-normsoftmax", FORMS["tokens"], {"vocabulary": 13, "outputs": 12}, {})
    images = build("vit-normsoftmax", FORMS["images"], {"classes": 10}, {"num_layers": 1})
    spreads = {
        name: [one.spread for one in model.modules() if isinstance(one, Attention)]
        for name, model in {"parity": reasoner, "images": images}.items()
    }
    assert spreads == {"parity": ["map"], "images": ["query"]}


def test_fresh_rows_and_their_parameters_come_with_the_paper_profile():
    assert all(study.stream for study in STUDIES if (study.task, study.profile) == VISION)
    grids = find_study("grid-count", "paper")
    assert grids.stream and grids.parameters == {"colored_limit": 999}


#: Tasks whose papers give each model a budget of its own. A learning rate may be chosen anywhere.
OWN_BUDGETS = {"ctl", "arithmetic", "listops", "composites", "grid-count"}


@pytest.mark.parametrize("task", sorted({study.task for study in STUDIES} - OWN_BUDGETS))
def test_all_models_of_a_study_for_two_cores_see_the_same_rows_as_often(task):
    for study in STUDIES:
        if (study.task, study.profile) == (task, "cpu"):
            for variant in study.variants:
                recipes = [one.for_variant(variant) for one in study.recipes]
                budgets = {
                    (one.steps, one.batch_size, one.schedule, one.warmup, one.clip)
                    for one in recipes
                }
                assert len(budgets) == 1, (study.name, variant)


@pytest.mark.usefixtures("short_rounds")
def test_variants_of_chomsky_with_one_answer_have_twice_the_steps():
    import synthbench

    steps = {}
    for variant in find_study("chomsky", "cpu").variants:
        recipe = find_study("chomsky", "cpu").recipe("lstm").for_variant(variant)
        rows = next(synthbench.stream(synthbench.task("chomsky", variant), batch_size=200))
        longest = max(len(answer) for answer in rows["label"])
        steps.setdefault("one" if longest == 1 else "several", set()).add(recipe.steps)
    assert steps == {"one": {4_000}, "several": {2_000}}


def test_four_learning_rates_are_tried_for_every_model_of_mqar():
    for size in ("main", "64-8", "64-16"):
        chosen = find_study("mqar", "cpu", size)
        tried = find_study("mqar", "cpu", "rates" if size == "main" else f"rates-{size}")
        assert tried.parameters == chosen.parameters and tried.seeds == 1
        for recipe in chosen.recipes:
            alike = [one for one in tried.recipes if one.options == recipe.options]
            rates = [one.learning_rate for one in alike if one.model == recipe.model]
            assert len(set(rates)) == 4 and recipe.learning_rate in rates


def test_the_schedules_of_eureka_are_nine_for_each_model_of_table_2():
    study = find_study("composites", "paper", "schedules")
    lines = [recipe.title for recipe in study.recipes]
    assert {lines.count(line) for line in lines} == {9}
    assert study.seeds * 9 == study.recipes[0].published["main", "Eureka-ratio"].runs == 36


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("clt",), "Unknown task 'clt'.*Did you mean 'ctl'"),
        (("ctl", "papr"), "Unknown profile of ctl 'papr'.*Did you mean 'paper'"),
        (("ctl", "paper", "layer"), "Did you mean 'layers'"),
    ],
)
def test_a_wrong_name_is_refused_and_the_nearest_offered(words, message):
    with pytest.raises(UsageError, match=message):
        find_study(*words)


def test_a_model_that_does_not_exist_is_refused_and_the_nearest_offered():
    with pytest.raises(UsageError, match=r"Unknown model 'bilstn'.*Did you mean 'bilstm'"):
        build("bilstn", FORMS["tokens"], SIZES["tokens"], {})


def test_a_variant_may_need_options_of_its_own():
    recipe = find_study("ctl", "cpu").recipe("ndr")
    backward, forward = (recipe.for_variant(name) for name in ("backward", "forward"))
    assert backward.options == {**forward.options, "readout": "first"}
    assert forward.options == recipe.options


def test_beside_a_changed_model_stands_the_papers_line_with_the_same_change():
    first = find_study("ctl", "paper", "readout").recipe("transformer-relative-gate-first")
    ours = find_study("ctl", "cpu").recipe("transformer-relative-gate").published
    assert ours["backward", "test"] == first.published["backward", "test"]
    assert ours["forward", "test"] != first.published["forward", "test"]


def test_pictures_of_a_paper_are_no_figures():
    assert not any(recipe.published for recipe in find_study("clusters", "paper").recipes)


@pytest.mark.parametrize(
    ("task", "variant", "model", "count"),
    [
        # The paper's networks: 3 symbols, 256 units with two biases, 2 digits.
        ("chomsky", "parity-check", "rnn", 67_330),
        # A stack of cells of 8, three actions; the program adds a bias to the recurrent map.
        ("chomsky", "reverse-string", "stack-rnn", 67_330 - 256 + 256 * 8 + 257 * (3 + 8)),
        ("chomsky", "parity-check", "lstm", 4 * 256 * (3 + 256 + 2) + 2 * 257),
        # Embeddings of 512 and 2,048 units: 5.4 and 15.9 million.
        ("state-tracking", "Z60", "rnn", 5_401_148),
        ("state-tracking", "A5", "gru", 15_895_100),
    ],
)
def test_recurrent_networks_have_the_papers_number_of_parameters(task, variant, model, count):
    study = find_study(task, "paper")
    form = form_of(study.tasks([variant])[0])
    recipe = study.recipe(model).for_variant(variant)
    made = build(recipe.model, form, form.sizes(None), recipe.options)
    assert sum(parameter.numel() for parameter in made.parameters()) == count


def test_only_at_the_profile_paper_are_tokens_one_hot_vectors():
    for profile, expected in (("paper", True), ("cpu", False)):
        for name in ("rnn", "stack-rnn", "tape-rnn", "lstm"):
            options = find_study("chomsky", profile).recipe(name).options
            assert options.get("one_hot", False) is expected
