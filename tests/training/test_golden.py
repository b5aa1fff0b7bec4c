"""Golden trainings: ten steps of every model have the losses that they always had.

`tests/golden/losses.json` holds the training losses of ten steps of every model, made small:
sequence layers on one small study of this file, all others with the recipe of one of our studies.
A change of the trainer that moves one of them by more than `TOLERANCE` moves stored results, too:
it needs a line in the changelog, and results that are made again. For a new model, or when the
change is wanted, write the file anew and commit it; losses that still hold stay as they are:

    python -m tests.training.test_golden --write

A change that only rounds elsewhere stays within the tolerance, as another processor does; over
thousands of steps it still leads to other figures.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.registry import task as make_task
from synthbench.training.directory import RunDirectory
from synthbench.training.models import MODELS
from synthbench.training.options import Setting
from synthbench.training.plan import plan_runs
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.train import train
from tests.tasks.tiny_sources import write_sources

GOLDEN = Path(__file__).parents[1] / "golden" / "losses.json"
TOLERANCE = 1e-4  # relative, because processors round differently
STEPS = 10

#: What makes a recipe cheap, and its parts strong enough to show in ten steps.
RECIPE = {
    "steps": STEPS,
    "batch_size": 8,
    "learning_rate": 1e-2,
    "min_learning_rate": 1e-4,
    "weight_decay": 0.5,
    "clip": 0.2,
    "warmup": 2,
    "validate_every": STEPS,
}
#: Clipped, or with a larger rate, the ViT with NormSoftmax multiplies the rounding of processors
#: until their losses differ by a thousandth; with a larger rate the delta rule does, too.
GENTLY = {
    "models.vision:ViT": {"learning_rate": 1e-3, "clip": 0.0},
    "backbones.delta:Delta": {"learning_rate": 1e-3},
}
#: What makes a model small, by its class.
SMALL = {
    "backbones.encoder:Encoder": {"d_model": 16, "num_heads": 2, "d_ff": 32, "dropout": 0.1},
    "backbones.lstm:LSTM": {"d_model": 16, "dropout": 0.1},
    "backbones.dnc:DNC": {"d_model": 16, "cells": 8, "width": 8, "dropout": 0.1},
    "backbones.convolution:BaseConvolutions": {"d_model": 16},
    "backbones.looped:LoopedTransformer": {"d_model": 16, "num_heads": 2, "dropout": 0.1},
    "models.vision:ViT": {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32, "patch": 14},
    "models.vision:ResNet": {"widths": (8, 8, 8, 16)},
}
#: The sequence layers, which need no recipe.
LAYERS = [
    name
    for name, model in MODELS.items()
    if model.kind == "mixer" or model.reference.endswith("transformer:Transformer")
]
#: Their study: ten steps on products of permutations of 1 to 3.
PRODUCTS = Study(
    task="state-tracking",
    profile="golden",
    title="Ten steps of a sequence layer",
    recipes=(Recipe("layer", "", STEPS, options={"d_model": 16, "dropout": 0.1}),),
    measures=(),
    variants=("S3",),
    parameters={"train_lengths": (5, 6, 7, 8), "validation_lengths": (9,), "test_lengths": (10,)},
    rows={"train": 200, "iid": 20, "validation": 20, "test": 20},
)
#: The others have recipes.
WITH_RECIPES = [name for name in MODELS if name not in LAYERS]
#: What is held: the models, and positions of the Transformer beside its own.
HELD = [
    *MODELS,
    *(
        f"causal-transformer position={one}"
        for one in ("none", "learned", "sinusoidal", "alibi", "relative")
    ),
]
#: One model of each class, which is trained in the fast tests, too.
FAST = {MODELS[name].reference: name for name in reversed(MODELS)}.values()
every_model = pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in FAST else pytest.mark.slow) for one in HELD],
)


def place_of(name):
    """Where the class of a model is, in the trainer."""
    return MODELS[name].reference.removeprefix("synthbench.training.")


def trained(held, directory):
    """The losses of ten steps of a model; what it says on each split if it is not trained.

    `held` is the model's name, perhaps with options.
    """
    name, *options = held.split()
    if name in LAYERS:
        return trained_layer(name, dict(one.split("=") for one in options), directory)
    study, recipe = next(
        (study, recipe) for study in STUDIES for recipe in study.recipes if recipe.model == name
    )
    place = place_of(name)
    splits = make_task(study.task, study.variants[0], **study.parameters).splits
    sources = write_sources(directory / "images") if study.task == "composites" else None
    with use_source_dir(sources):
        result = train(
            study.task,
            model=recipe.name,
            out=directory / "run",
            profile=study.profile,
            study=study.name,
            recipe={**RECIPE, **GENTLY.get(place, {})} if recipe.steps else {},
            options=SMALL.get(place, {}),
            rows={
                split.name: 20 if split.evaluation else 200
                for split in splits
                if split.evaluation or not study.stream
            },
            device="cpu",
            progress=False,
        )
    if not recipe.steps:
        reports = result["splits"].values()
        return [report[metric] for report in reports for metric in result["metrics"]]
    return [line["train/loss"] for line in RunDirectory(directory / "run").metrics()]


def trained_layer(name, options, directory):
    """The losses of ten steps of a sequence layer; layers with a memory answer at masks."""
    recipe = dataclasses.replace(
        PRODUCTS.recipes[0].changed({**RECIPE, **GENTLY.get(place_of(name), {})}, options),
        model=name,
        form="masked-lm" if name in ("stack-rnn", "tape-rnn") else "token-classification",
    )
    study = dataclasses.replace(PRODUCTS, recipes=(recipe,))
    (run,) = plan_runs(
        study,
        PlannedDataset(directory / "data", study.tasks(), study.rows_made),
        [0],
        Setting(progress=False, threads=1),
        lambda *_: RunDirectory(directory / "run", directory / "data"),
        workers=1,
        overwrite=False,
        progress=False,
    )
    run.finish()
    return [line["train/loss"] for line in run.directory.metrics()]


def drawn():
    """A few numbers of PyTorch's generator, as initial weights and dropout draw them."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.empty(100)
    bits = torch.empty(100, dtype=torch.int64).random_(-(2**63), None, generator=generator)
    return {
        "uniform": weights.uniform_(-1, 1, generator=generator)[-3:].tolist(),
        "normal": weights.normal_(generator=generator)[-3:].tolist(),
        "integers": bits[-3:].tolist(),
        "permutation": torch.randperm(100, generator=generator)[-3:].tolist(),
    }


def golden():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@every_model
def test_ten_steps_have_the_losses_that_they_always_had(name, tmp_path):
    stored = golden()
    if torch.__version__.partition("+")[0] != stored["torch"]:
        for kind, numbers in drawn().items():
            if numbers != pytest.approx(stored["drawn"][kind], rel=TOLERANCE):
                pytest.skip(f"PyTorch {torch.__version__} draws other numbers than the stored")
    losses = stored["losses"].get(name)
    assert losses, f"{name} has no golden losses yet; see this file's docstring"
    assert trained(name, tmp_path) == pytest.approx(losses, rel=TOLERANCE)


def test_golden_losses_are_of_models_that_exist_and_have_learned_something():
    stored = golden()
    assert list(stored["losses"]) == HELD
    for name, losses in stored["losses"].items():
        if MODELS[name.split()[0]].reads != "points":
            assert len(losses) == STEPS == len(set(losses)), name


def write():
    losses, before = {}, golden()["losses"]
    for name in HELD:
        with tempfile.TemporaryDirectory() as directory:
            losses[name] = trained(name, Path(directory))
        if name in before and losses[name] == pytest.approx(before[name], rel=TOLERANCE):
            losses[name] = before[name]
    version = torch.__version__.partition("+")[0]
    stored = {"torch": version, "drawn": drawn(), "losses": losses}
    GOLDEN.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.training.test_golden --write")
    write()
