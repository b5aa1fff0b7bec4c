"""Small datasets and runs for the tests of the trainer."""

import contextlib
import dataclasses
import json

import torch

from synthbench.generation.generate import generate
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.training import plan, recipes
from synthbench.training.backbones.heads import RowHead, TokenModel
from synthbench.training.forms import form_of
from synthbench.training.recipes.base import Measure, Recipe, Study
from synthbench.training.train import train
from tests.support import is_free_text, take_task

#: Lengths 1 to 3 for training, so few rows that a small model learns them in seconds.
CTL = {
    "parameters": {
        "functions": 3,
        "train_lengths": (1, 2, 3),
        "validation_lengths": (4,),
        "test_lengths": (5,),
    },
    "rows": {"train": 200, "iid": 20, "validation": 40, "test": 40},
}
RECIPE = Recipe(
    "small",
    "transformer-relative",
    steps=40,
    batch_size=32,
    learning_rate=3e-3,
    weight_decay=0.01,
    clip=5.0,
    validate_every=10,
    options={"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32, "dropout": 0.1},
)
STUDY = Study(
    task="ctl",
    profile="tiny",
    title="For tests",
    variants=("forward",),
    select="validation",
    eval_splits=("iid", "validation"),
    seeds=2,
    measures=(
        Measure("iid", "iid", "accuracy", headline="in"),
        Measure("test", "test", "accuracy"),
    ),
    recipes=(
        RECIPE,
        dataclasses.replace(RECIPE, name="lstm", model="lstm", options={"d_model": 8}),
    ),
    **CTL,
)


#: A form for each kind of rows that models read, of the first task with such rows.
FORMS = {
    form.reads: form
    for form in (
        form_of(make_task(name)) for name in reversed(list_tasks()) if not is_free_text(name)
    )
}


def classifier(backbone, classes):
    """A model of tokens that gives rows one of so many classes."""
    return TokenModel(backbone, lambda d_model: RowHead(d_model, classes))


def add_study(monkeypatch, *studies):
    """Make studies known for one test."""
    monkeypatch.setattr(recipes, "STUDIES", (*recipes.STUDIES, *studies))


def make_ctl(path, **changes):
    """The dataset of `STUDY`."""
    task, options = take_task("ctl", {**CTL, **changes})
    generate(task, out=path, workers=1, progress=False, **options)
    return path


def run(out, data, **changes):
    """A run of `STUDY`, which must have been added."""
    options = {"model": "small", "profile": "tiny", "device": "cpu", "progress": False}
    return train(changes.pop("task", "ctl"), out=out, dataset=data, **{**options, **changes})


def parameters(run):
    """The chosen parameters of a finished run."""
    return torch.load(run / "model.pt", weights_only=True)


def without_times(values):
    """JSON values of a run or a comparison without what differs between two equal ones."""
    times = ("seconds", "run_seconds", "steps_per_second")

    def timeless(one):
        return {name: value for name, value in one.items() if name not in times}

    return json.loads(json.dumps(values), object_hook=timeless)


def recorded_bars(monkeypatch):
    """The bars that count steps of runs, as they are opened, with all that they have shown."""
    bars = []

    class Recorded:
        is_shown = True

        def __init__(self, title, unit, total, done):
            self.title, self.unit, self.total, self.done = title, unit, total, done
            self.seen, self.titles = [done], [title]

        def update(self, done=1, now=None):
            self.done += done
            self.seen.append(self.done)
            self.titles.append(self.title)

    @contextlib.contextmanager
    def recorded(_shown, title, unit, total, done=0):
        bars.append(Recorded(title, unit, total, done))
        yield bars[-1]

    monkeypatch.setattr(plan, "progress_bar", recorded)
    return bars
