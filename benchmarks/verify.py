"""How long proving takes: `python -m benchmarks verify --other PATH [TASK ...]`.

The checkout in PATH, such as an older one, makes each task. So does this checkout, which then
verifies its dataset, entirely and with `--fast`. Figures are processor seconds of all processes,
medians of `--repeat` turns. The ratios are those of `verify` to `generate` of the other checkout.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import synthbench
from synthbench.checks import check_name
from synthbench.errors import SynthbenchError, UsageError
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table, render

HERE = Path(synthbench.__file__).parents[1]
_HEAD = (
    "task", "other generate", "generate", "verify", "verify --fast",
    "verify / other", "--fast / other",
)  # fmt: skip


def main(words):
    """Measure the tasks named, or all that need no source images."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks verify", description=__doc__)
    parser.add_argument("tasks", nargs="*", help="default: all that need no source images")
    parser.add_argument("--other", type=Path, required=True, metavar="PATH", help="a checkout")
    parser.add_argument("--preset", choices=["paper", "small"], default="paper")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--repeat", type=int, choices=range(1, 100), default=1, metavar="N")
    arguments = parser.parse_args(words)
    if not (arguments.other / "synthbench" / "__init__.py").is_file():
        raise UsageError(f"--other {arguments.other}: it has no package synthbench.")
    for name in arguments.tasks:
        check_name("task", name, list_tasks())
    names = arguments.tasks or [name for name in list_tasks() if _needs_no_images(name)]
    lines = []
    for name in names:
        if not _has(arguments.other, name):
            print(f"{name}: not measured, the other checkout lacks it")
            continue
        turns = [_turn(name, arguments) for _ in range(arguments.repeat)]
        other, *ours = (statistics.median(column) for column in zip(*turns, strict=True))
        seconds = (f"{figure:.2f}" for figure in (other, *ours))
        lines.append((name, *seconds, *(f"{own / other:.2f}" for own in ours[1:])))
    print(f"processor seconds, {arguments.workers} workers, medians of {arguments.repeat}")
    print(render(Table(_HEAD, lines, right=range(1, len(_HEAD)))))


def _needs_no_images(name):
    return not isinstance(make_task(name), ImageTask)


def _has(checkout, name):
    try:
        _seconds(checkout, ["info", name])
    except SynthbenchError:
        return False
    return True


def _turn(name, arguments):
    """Processor seconds of all four programs, one after another."""
    with tempfile.TemporaryDirectory() as place:
        theirs, ours = (str(Path(place) / folder) for folder in ("theirs", "ours"))
        workers = ["--workers", str(arguments.workers)]
        make = ["generate", name, "--preset", arguments.preset, *workers, "--out"]
        return (
            _seconds(arguments.other, [*make, theirs]),
            _seconds(HERE, [*make, ours]),
            _seconds(HERE, ["verify", ours, *workers]),
            _seconds(HERE, ["verify", ours, "--fast", *workers]),
        )


def _seconds(checkout, words):
    """Processor seconds of a command of a checkout, with those of its workers.

    Raises:
        SynthbenchError: the command fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "synthbench", *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout.resolve())},
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SynthbenchError(f"{checkout}: {' '.join(words)}: {done.stderr.strip()[-300:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
