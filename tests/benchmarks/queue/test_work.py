"""The queue in pieces."""

import dataclasses
import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks.queue.folder import Folder
from benchmarks.queue.rows import Composites, data_of
from benchmarks.queue.trainer import Trainer, check
from benchmarks.queue.trainings import TRAININGS
from benchmarks.queue.work import work
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.forms import form_of
from synthbench.training.setting import Setting
from tests.benchmarks.queue.making import CPU, run, run_until_killed, small, without_times

pytestmark = pytest.mark.usefixtures("small_splits")
_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def queue():
    """A ViT with heat, drop path and smoothing, a residual network, and an NDR with dropout."""
    ndr = small("ctl", "ndr")
    return small("composites", "vit-heat"), small("composites", "resnet"), ndr


@pytest.mark.slow
def test_a_training_that_is_killed_and_continued_has_the_losses_of_one_that_was_not(
    queue, tmp_path
):
    whole, done = run(tmp_path / "whole", *queue)
    assert done
    for training in queue:
        path = tmp_path / training.name
        for at in (1, 7, 11):  # within a measurement, and between two
            run_until_killed(path, at, training)
            assert 0 < Folder(path).under_way()["step"] <= at
        pieces, done = run(path, training)
        assert done
        expected, found = (one.results()[training.name] for one in (whole, pieces))
        assert without_times(found) == without_times(expected)
        assert [line["step"] for line in found["curve"]] == [3, 6, 9, 12]
        losses = [line["train/loss"] for line in found["curve"]]
        assert len(set(losses)) == 4


def test_a_piece_without_time_takes_no_step_and_the_next_goes_on(tmp_path):
    training, other = small("composites", "vit"), small("composites", "vit", seed=1)
    folder, done = run(tmp_path, training, other, seconds=-1.0)
    assert not done and folder.under_way()["step"] == 0 and not folder.results()
    folder, done = run(tmp_path, other, training)  # the one under way goes on first
    assert done and list(folder.results()) == [training.name, other.name]
    assert folder.under_way() is None
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]
    first, second = (folder.results()[one.name]["curve"] for one in (training, other))
    assert first[0]["train/loss"] != second[0]["train/loss"]


def test_a_seed_after_another_in_the_same_process_is_the_seed_alone(tmp_path):
    first, second = (small("composites", "vit", seed=seed) for seed in (0, 1))
    together, _ = run(tmp_path / "together", first, second)
    alone, _ = run(tmp_path / "alone", second)
    expected, found = (one.results()[second.name] for one in (alone, together))
    assert without_times(found) == without_times(expected)


def test_a_result_is_written_at_every_mark_and_says_that_the_recipe_is_not_at_its_end(tmp_path):
    training = small("composites", "vit", steps=30, marks=(6, 9))
    found = []

    class Noting:
        def __init__(self, folder):
            self._folder = folder

        def __getattr__(self, name):
            return getattr(self._folder, name)

        def add(self, name, result):
            found.append((name, result["steps"]))
            self._folder.add(name, result)

    folder = Noting(Folder(tmp_path))
    assert work([training], folder, CPU, time.monotonic() + 600, commit="abc")
    assert found == [(training.name, 6), (training.name, 9)]
    result = folder.results()[training.name]
    assert result["fit"]["state"] == "not fitted" and result["commit"] == "abc"
    assert (result["stream"], result["select"]) == (True, "validation")
    assert result["images_per_second"] > 0 and result["machine"]["torch"] == torch.__version__
    assert result["splits"]["test"]["rows"] == 100
    assert work([training], folder, CPU, time.monotonic() - 1)  # nothing is left


def test_the_eureka_epoch_is_the_first_at_which_validation_passes_the_threshold(tmp_path):
    training = small("composites", "vit")
    always = dataclasses.replace(training, study=dataclasses.replace(training.study, eureka=1e-9))
    (result,) = run(tmp_path / "a", always)[0].results().values()
    assert result["eureka"] == {"split": "validation", "step": 3, "epoch": 3 * 32 / 60_000}
    (result,) = run(tmp_path / "b", training)[0].results().values()
    assert result["eureka"] is None


def test_a_state_of_a_training_that_is_not_in_the_queue_is_refused(tmp_path):
    run(tmp_path, small("composites", "vit"), seconds=-1.0)
    with pytest.raises(DatasetError, match="no training 'composites-main-vit-0'"):
        run(tmp_path, small("composites", "resnet"))


@pytest.mark.parametrize(
    "task, model, of_recipe, of_study, said",
    [
        ("ctl", "ndr", {"ponder": 0.1, "balance_gradients": True}, {}, "ponder, balance_gradients"),
        ("ctl", "ndr", {"form": "masked-lm"}, {}, "form=masked-lm"),
        ("composites", "vit", {"one_length": True}, {}, "one_length of images"),
        ("composites", "vit", {"balanced": True}, {}, "balanced of images"),
        ("composites", "vit", {}, {"stream": False}, "a train split of images"),
        ("ctl", "ndr", {}, {"stream": True}, "a stream of texts"),
        ("ctl", "ndr", {}, {"select": None}, "a study without select"),
        ("ctl", "ndr", {}, {"rows": {"train": 100}}, "a study with rows of its own"),
    ],
)
def test_what_the_queue_cannot_train_is_refused(task, model, of_recipe, of_study, said, tmp_path):
    made = small(task, model)
    changed = dataclasses.replace(
        made,
        recipe=dataclasses.replace(made.recipe, **of_recipe),
        study=dataclasses.replace(made.study, **of_study),
    )
    with pytest.raises(UsageError, match=f"{made.name}: the queue does not know {said}; "):
        run(tmp_path, changed)
    assert not list(tmp_path.iterdir())


def test_labels_that_are_no_classes_are_refused():
    with pytest.raises(UsageError, match="the queue does not know labels that are no classes"):
        check(small("composites", "vit"), form_of(make_task("mqar")))


def test_the_queue_can_train_all_that_it_has():
    for one in TRAININGS:
        check(one, form_of(make_task(one.study.task, one.variant)))


def test_a_step_asks_for_no_value_of_the_device():
    """On the device `meta` there are no values: whatever waits for one fails."""
    training, there = small("composites", "vit-normsoftmax"), torch.device("meta")
    task = make_task("composites")
    data = Composites(task, torch.device("cpu"))
    trainer = Trainer(training, task, data, CPU)
    batch = data.batches(training.recipe, 0)(0)
    data.pictures = data.pictures.to(there)
    trainer._model.to(there)
    loss, right = trainer._loss(*(part.to(there) for part in batch))
    loss.backward()
    assert loss.device == right.device == there
    assert all(one.grad is not None for one in trainer._model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("model", ["vit", "vit-normsoftmax", "resnet"])
def test_the_step_of_a_composites_model_is_compiled_as_one_graph(model):
    training, task = small("composites", model), make_task("composites")
    data = data_of(task, torch.device("cpu"))
    trainer = Trainer(training, task, data, CPU)
    trainer._model.train()
    batch = data.batches(training.recipe, 0)(0)
    whole = torch.compile(trainer._loss, fullgraph=True, backend="eager")
    torch.manual_seed(3)
    loss, _ = whole(*batch)
    torch.manual_seed(3)
    torch.testing.assert_close(loss, trainer._loss(*batch)[0])


@pytest.mark.slow
def test_a_compiled_training_has_the_losses_of_one_that_is_not(tmp_path, monkeypatch):
    # Of the graphs, forward and backward; the code that is made of them is PyTorch's.
    graphs = functools.partial(torch.compile, backend="aot_eager")
    monkeypatch.setattr(torch, "compile", graphs)
    training = small("composites", "vit", num_layers=1)  # without drop path, so nothing is random
    losses = []
    for compiled in (False, True):
        setting = dataclasses.replace(CPU, compiled=compiled)
        (result,) = run(tmp_path / str(compiled), training, setting=setting)[0].results().values()
        losses.append([line["train/loss"] for line in result["curve"]])
        assert result["compiled"] == compiled
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("model", ["vit", "vit-normsoftmax", "resnet"])
def test_no_step_waits_for_the_gpu(model):
    there, training, task = torch.device("cuda"), small("composites", model), "composites"
    data = data_of(make_task(task), there)
    trainer = Trainer(training, make_task(task), data, Setting(there, "bfloat16"))
    trainer._start(0)
    batches = data.batches(training.recipe, 0)
    trainer.step(0, 0, batches(0))
    torch.cuda.set_sync_debug_mode("error")
    try:
        for step in range(1, 700):  # more than two rounds
            trainer.step(0, step, batches(step))
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_matrix_products_are_in_bfloat16_if_the_setting_says_so():
    training, task = small("composites", "vit"), make_task("composites")
    data = data_of(task, torch.device("cpu"))
    trainer = Trainer(training, task, data, Setting(torch.device("cpu"), "bfloat16"))
    kinds = []
    trainer._model.layers[0].feedforward[0].register_forward_hook(
        lambda module, given, made: kinds.append(made.dtype)
    )
    loss, _ = trainer._loss(*data.batches(training.recipe, 0)(0))
    assert kinds == [torch.bfloat16] and loss.dtype == torch.float32


@pytest.mark.slow
def test_the_commands_run_from_one_file_of_images_without_datasets(sources, tmp_path):
    folder, images = tmp_path / "folder", tmp_path / "images.tar.xz"
    piece = ["run", folder, "--minutes", 0, "--device", "cpu", "--no-compile"]
    steps = [  # a command, and what it says
        (["pack", images], " MB"),
        (piece, "MNIST is missing"),
        ([*piece, "--images", folder], "no such file"),
        ([*piece, "--images", images], "The time is used."),
        (["status", folder], "0 of 3,978"),
        (["collect", folder], "no results yet"),
    ]
    program = (
        "import json, os, sys\n"
        "sys.modules.update(dict.fromkeys(['datasets', 'pandas', 'sklearn']))\n"
        "from benchmarks.queue import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    os.environ['SYNTHBENCH_DATA'] = sys.argv[2 if words[0] == 'pack' else 3]\n"
        "    try:\n"
        "        main(words)\n"
        "    except SystemExit as error:\n"
        "        print(error)\n"
        "    print('----')\n"
    )
    words = json.dumps([list(map(str, one)) for one, _ in steps])
    done = subprocess.run(
        [sys.executable, "-c", program, words, str(sources), str(tmp_path)],  # no image is there
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("----\n")
    assert parts.pop() == ""
    for (_, expected), printed in zip(steps, parts, strict=True):
        assert expected in printed
