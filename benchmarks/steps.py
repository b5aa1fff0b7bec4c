"""Steps of training a second: `python -m benchmarks steps ctl [listops ...]`.

What `synthbench train` takes for each model of a study, from a dataset and from a stream of fresh
rows: the median of ten steps each. The first ten, in which a model may be compiled, do not count.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from torch.optim.optimizer import register_optimizer_step_post_hook

from benchmarks.recipes import recipes_of
from synthbench.engine.engine import usable_cores
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table, render
from synthbench.training.options import PRECISIONS, Setting
from synthbench.training.recipes import find_study
from synthbench.training.setting import machine
from synthbench.training.train import train

#: Rows of every evaluation split, on which the speed does not depend.
_EVALUATED = 100
#: Steps that are timed together, since a GPU computes them later than they are asked for.
_TOGETHER = 10


def main(words):
    """Measure the models of the tasks named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks steps", description=__doc__)
    parser.add_argument("tasks", nargs="+", choices=list_tasks())
    parser.add_argument("--model", action="append", help="default: all of the study")
    parser.add_argument("--profile", default="cpu", choices=["cpu", "paper"])
    parser.add_argument("--study", default="main")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="float32", choices=PRECISIONS)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=150, help="of each run, 30 or more")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="that make the stream")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count the seconds that this process computes, on a machine that does other work too; "
        "leaves out the stream, which other processes make",
    )
    chosen = parser.parse_args(words)
    studies = [find_study(task, chosen.profile, chosen.study) for task in chosen.tasks]
    recipes = recipes_of(studies, chosen.model)
    setting = Setting(chosen.device, chosen.precision, chosen.compile)
    made_with = machine(setting)
    print(made_with["gpu"] or f"{made_with['processor']}, {made_with['cores']} cores", end=", ")
    print(f"PyTorch {made_with['torch']}, {chosen.precision}{', compiled' * chosen.compile}")
    with tempfile.TemporaryDirectory() as place:
        lines = [_line(Path(place), study, recipe, chosen) for study, recipe in recipes]
    head = ("task", "model", "rows a step", "steps/s", "of a stream")
    print(render(Table(head, lines, right=(2, 3, 4))))


def _line(place, study, recipe, chosen):
    speeds = [
        ""
        if stream and chosen.processor_time
        else f"{_speed(place, study, recipe, chosen, stream):.3g}"
        for stream in (False, True)
    ]
    return study.task, recipe.name, str(recipe.batch_size), *speeds


def _speed(place, study, recipe, chosen, stream):
    """Steps a second."""
    evaluated = {*study.eval_splits, *(one.split for one in study.measures)} - {"train"}
    clock = time.process_time if chosen.processor_time else time.perf_counter
    ends = []
    hook = register_optimizer_step_post_hook(lambda *_: ends.append(clock()))
    try:
        train(
            study.task,
            model=recipe.name,
            out=place / f"{study.task}-{recipe.name}-{stream}",
            dataset=place / study.task,
            profile=study.profile,
            study=study.name,
            recipe={"steps": chosen.steps, "validate_every": chosen.steps, "warmup": 0},
            rows=dict.fromkeys(sorted(evaluated), _EVALUATED),
            stream=stream,
            device=chosen.device,
            precision=chosen.precision,
            compile=chosen.compile,
            workers=chosen.workers,
            progress=False,
        )
    finally:
        hook.remove()
    return _TOGETHER / np.median(np.diff(ends[_TOGETHER::_TOGETHER]))
