"""What the queue has, what it costs, and what becomes of its results."""

import json

import pytest
import torch

from benchmarks.collect import collect
from benchmarks.queue.expected import cost_of
from benchmarks.queue.folder import Folder
from benchmarks.queue.images import pack, unpacked
from benchmarks.queue.tables import costs_table, status_table
from benchmarks.queue.trainings import TRAININGS, training
from docs.results import read_comparisons, results_section
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.images.source_dirs import SOURCE_VARIABLE
from synthbench.tasks.registry import task as make_task
from synthbench.training.forms import form_of
from synthbench.training.models import build
from synthbench.training.recipes import find_study
from tests.benchmarks.queue.making import run, run_until_killed, small

pytestmark = pytest.mark.usefixtures("small_splits")


def test_the_queue_begins_with_composites_and_goes_on_with_large_models_of_ndr():
    names = [one.name for one in TRAININGS]
    assert len(set(names)) == len(names)
    composites = [one for one in TRAININGS if one.study.task == "composites"]
    assert composites == list(TRAININGS[: len(composites)])
    assert all(one.marks[0] == 34 * 117 for one in composites)  # two million in whole epochs
    seeds = {}
    for one in composites:
        seeds.setdefault(one.recipe.name, set()).add(one.seed)
    assert seeds == {name: {0, 1, 2} for name in ("vit-normsoftmax", "vit", "resnet")}
    assert [(one.name, one.marks[1]) for one in composites if len(one.marks) > 1] == [
        ("composites-main-vit-0", 201 * 117)
    ]
    others = TRAININGS[len(composites) :]
    assert {one.study.task for one in others} == {"ctl", "arithmetic", "listops"}
    assert all(one.recipe.options["d_model"] >= 256 for one in others)
    assert all(one.marks == (one.recipe.steps,) for one in others)


def test_rows_are_rounded_up_to_whole_validations_of_the_recipe_at_most():
    assert training("composites", "vit", rows=(1, 512 * 117, 512 * 117 + 1)).marks == (
        117,
        117,
        234,
    )
    assert training("composites", "vit", rows=(10**9,)).marks == (35_100,)


def test_costs_are_those_of_the_models_formulas():
    recipe = training("composites", "vit").recipe
    cost = cost_of(recipe, make_task("composites"))
    assert cost.parameters == sum(
        one.numel()
        for one in build("vit", form_of(make_task("composites")), {"classes": 10}, {}).parameters()
    )
    # Forward and backward: six operations a weight and token, and four products with the maps.
    tokens, weights = 512 * 197, 7 * (4 * 256**2 + 2 * 256 * 512)
    maps = 512 * 7 * 2 * 2 * 197**2 * 256
    assert cost.operations == pytest.approx(6 * tokens * weights + 3 * maps, rel=0.02)
    assert cost.seconds("A100") > cost.seconds("H200") > cost.operations / 989e12


def test_a_dry_run_says_what_is_left(tmp_path):
    queue = (small("composites", "vit", marks=(3,)), small("ctl", "ndr"))
    run(tmp_path, queue[0])
    text = costs_table(queue, Folder(tmp_path), "H200")
    assert "H200" in text and "PFLOP" in text and "TB" in text
    steps = {words[0]: words[1] for line in text.splitlines() if len(words := line.split()) > 1}
    assert (steps["composites-main-vit-0"], steps["ctl-forward-ndr-0"]) == ("0", "12")


def test_a_packed_file_has_the_images_that_it_was_made_from(sources, tmp_path, monkeypatch):
    expected = make_task("composites").tables
    file = tmp_path / "images.tar.xz"
    assert pack(file) == file.stat().st_size
    monkeypatch.setenv(SOURCE_VARIABLE, str(tmp_path))  # where there are none
    with unpacked(file):
        assert make_task("composites").tables == expected
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(DatasetError, match=r"images\.tar\.xz is broken"), unpacked(file):
        pass


def test_a_packed_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.queue.images._MOST", 1_000)
    with pytest.raises(DatasetError, match="allowed are 1,000"):
        pack(tmp_path / "images.tar.xz")
    assert not list(tmp_path.iterdir())


def test_results_become_a_comparison_that_the_documentation_reads(tmp_path):
    queue = [small("composites", "vit", seed) for seed in (0, 1)]
    queue.append(small("composites", "resnet"))
    folder, _ = run(tmp_path / "folder", *queue)
    study = find_study("composites", "paper", "main")
    results = [  # of the whole trainings
        {**one, "recipe": study.recipe(one["recipe"]["name"]).to_dict()}
        for one in folder.results().values()
    ]
    (file,) = collect(results, tmp_path, "python -m benchmarks queue run")
    assert file.name == "composites-paper.json"
    made = json.loads(file.read_text(encoding="utf-8"))
    resnet, vit = made["models"]  # in the order of the study
    assert [run["seed"] for run in vit["runs"]] == [0, 1] and len(resnet["runs"]) == 1
    result = folder.results()[queue[1].name]
    assert vit["measures"]["Eureka-ratio"]["values"] == [0.0, 0.0]
    kept = vit["runs"][1]
    for name in ("seconds", "images_per_second", "machine", "commit", "fit", "curve"):
        assert kept[name] == result[name]
    assert kept["machine"]["torch"] == torch.__version__
    text = results_section(read_comparisons(tmp_path))
    assert "### composites, profile paper" in text and "`python -m benchmarks queue run`" in text
    text = status_table(queue, folder)
    assert "12 of 12" in text and "Under way" not in text


def test_the_status_shows_the_last_measurements_of_the_training_under_way(tmp_path):
    training = small("composites", "vit")
    run_until_killed(tmp_path, 7, training)
    text = " ".join(status_table([training], Folder(tmp_path)).split())
    assert "7 of 12" in text
    assert f"Under way: {training.name}, step 7. Last: step 6, epoch 0.0032" in text


def test_without_results_nothing_is_collected(tmp_path):
    with pytest.raises(UsageError, match="no results yet"):
        collect([], tmp_path)
    with pytest.raises(UsageError, match="no such directory"):
        collect([{}], tmp_path / "none")
