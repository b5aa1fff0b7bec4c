"""Steps of training a second: `python -m tests.benchmarks steps ctl [listops ...]`.

What `synthbench train` takes for each model of a study, from a dataset and from a stream of fresh
rows. A short and a long run differ by steps alone: starting, compiling and the one look at the
evaluation splits cost both the same, and are left out.
"""

import argparse
import tempfile
from pathlib import Path

from synthbench.engine.engine import usable_cores
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table, render
from synthbench.training.recipes import find_study
from synthbench.training.setting import PRECISIONS, Setting, find_device, machine
from synthbench.training.train import train

#: Rows of every evaluation split, on which the speed does not depend.
_EVALUATED = 100


def main(words):
    """Measure the models of the tasks named."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks steps", description=__doc__)
    parser.add_argument("tasks", nargs="+", choices=list_tasks())
    parser.add_argument("--model", action="append", help="default: all of the study")
    parser.add_argument("--profile", default="cpu", choices=["cpu", "paper"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="float32", choices=PRECISIONS)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=50, help="of the short run; the long has 3x")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="that make the stream")
    chosen = parser.parse_args(words)
    setting = Setting(find_device(chosen.device), chosen.precision, chosen.compile)
    made_with = machine(setting)
    print(made_with["gpu"] or f"{made_with['processor']}, {made_with['cores']} cores", end=", ")
    print(f"PyTorch {made_with['torch']}, {chosen.precision}{', compiled' * chosen.compile}")
    lines = []
    with tempfile.TemporaryDirectory() as place:
        for task in chosen.tasks:
            study = find_study(task, chosen.profile)
            for recipe in study.recipes:
                if recipe.steps and (not chosen.model or recipe.name in chosen.model):
                    lines.append(_line(Path(place), study, recipe, chosen))
    head = ("task", "model", "rows a step", "steps/s", "of a stream")
    print(render(Table(head, lines, right=(2, 3, 4))))


def _line(place, study, recipe, chosen):
    speeds = [_speed(place, study, recipe, chosen, stream) for stream in (False, True)]
    return (
        study.task,
        recipe.name,
        str(recipe.batch_size),
        *(f"{speed:.3g}" for speed in speeds),
    )


def _speed(place, study, recipe, chosen, stream):
    """Steps a second, from the difference of two runs."""
    evaluated = {*study.watched, *(one.split for one in study.measures)} - {"train"}
    seconds = []
    for steps in (chosen.steps, 3 * chosen.steps):
        result = train(
            study.task,
            model=recipe.name,
            out=place / f"{study.task}-{recipe.name}-{stream}-{steps}",
            dataset=place / study.task,
            profile=study.profile,
            recipe={"steps": steps, "validate_every": steps, "warmup": 0},
            rows=dict.fromkeys(sorted(evaluated), _EVALUATED),
            stream=stream,
            device=chosen.device,
            precision=chosen.precision,
            compile=chosen.compile,
            workers=chosen.workers,
            progress=False,
        )
        seconds.append(result["seconds"])
    return 2 * chosen.steps / (seconds[1] - seconds[0])
