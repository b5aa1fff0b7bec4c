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
    arguments = parser.parse_args(words)
    studies = [find_study(task, arguments.profile, arguments.study) for task in arguments.tasks]
    recipes = recipes_of(studies, arguments.model)
    setting = Setting(arguments.device, arguments.precision, arguments.compile)
    made_with = machine(setting)
    print(made_with["gpu"] or f"{made_with['processor']}, {made_with['cores']} cores", end=", ")
    print(f"PyTorch {made_with['torch']}, {arguments.precision}{', compiled' * arguments.compile}")
    with tempfile.TemporaryDirectory() as place:
        lines = [_line(Path(place), study, recipe, arguments) for study, recipe in recipes]
    head = ("task", "model", "rows a step", "steps/s", "of a stream")
    print(render(Table(head, lines, right=(2, 3, 4))))


def _line(place, study, recipe, arguments):
    speeds = [
        ""
        if stream and arguments.processor_time
        else f"{_speed(place, study, recipe, arguments, stream):.3g}"
        for stream in (False, True)
    ]
    return study.task, recipe.name, str(recipe.batch_size), *speeds


def _speed(place, study, recipe, arguments, stream):
    """Steps a second."""
    evaluated = {*study.eval_splits, *(measure.split for measure in study.measures)} - {"train"}
    clock = time.process_time if arguments.processor_time else time.perf_counter
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
            recipe={"steps": arguments.steps, "validate_every": arguments.steps, "warmup": 0},
            rows=dict.fromkeys(sorted(evaluated), _EVALUATED),
            stream=stream,
            device=arguments.device,
            precision=arguments.precision,
            compile=arguments.compile,
            workers=arguments.workers,
            progress=False,
        )
    finally:
        hook.remove()
    return _TOGETHER / np.median(np.diff(ends[_TOGETHER::_TOGETHER]))
