"""Small trainings for the queue, and ways to stop them."""

import dataclasses
import time

import pytest
import torch

from benchmarks.queue import trainer, trainings
from benchmarks.queue.folder import Folder
from benchmarks.queue.work import work
from synthbench.training.setting import Setting

#: A step of every kind of training takes milliseconds with these.
_SMALL_VIT = {"patch": 14, "d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32}
_SMALL_ENCODER = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32}
CPU = Setting(torch.device("cpu"), precision="float32")


def small(task, model, seed=0, steps=12, marks=(12,), **options):
    """A training of the queue's kind with a small model: validated every three steps."""
    made = trainings.training(task, model, seed)
    sizes = _SMALL_VIT if model.startswith("vit") else _SMALL_ENCODER
    if model == "resnet":
        sizes = {"widths": (4, 4, 8, 8)}
    recipe = dataclasses.replace(
        made.recipe,
        steps=steps,
        batch_size=32,
        warmup=2,
        validate_every=3,
        options={**made.recipe.options, **sizes, **options},
    )
    return dataclasses.replace(made, recipe=recipe, marks=marks)


def run(path, *queue, seconds=600.0, setting=CPU):
    """Work through a queue; its folder, and whether it was done."""
    folder = Folder(path)
    return folder, work(queue, folder, setting, time.monotonic() + seconds)


class KilledError(Exception):
    """Stands for the end of the process."""


def run_until_killed(path, at, *queue):
    """Work through a queue that saves before every step, and end before step `at` of the first."""
    whole = trainer.Trainer.step

    def step(self, seed, number, batch):
        if number == at:
            raise KilledError
        whole(self, seed, number, batch)

    with pytest.MonkeyPatch.context() as patched, pytest.raises(KilledError):
        patched.setattr(trainer, "_SAVE_EVERY", 0.0)
        patched.setattr(trainer.Trainer, "step", step)
        run(path, *queue)


def without_times(result):
    """A result without what differs between two runs of the same training."""
    times = {
        "seconds", "evaluation_seconds", "steps_per_second", "images_per_second", "machine"
    }  # fmt: skip
    kept = {name: value for name, value in result.items() if name not in times}
    curve = [{name: x for name, x in one.items() if name != "seconds"} for one in result["curve"]]
    return {**kept, "curve": curve}
