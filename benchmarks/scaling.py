"""How many workers are of use: `python -m benchmarks scaling [TASK] [--rows N]`.

A dataset is made with `rows` and with twice as many rows of the largest split, by each engine; all
figures are of the difference, so that starting up does not count; nor does what a Dask cluster
takes while it only waits. The main process and, on Dask, the scheduler do what cannot be shared
out; the busier of them bounds how many workers are of use. Processor seconds hardly depend on what
else the machine does, rows a second do.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from synthbench.errors import SynthbenchError
from synthbench.generation.generate import run
from synthbench.generation.request import Request
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table, render

#: Engines with their numbers of workers.
SETTINGS = (("local", 1), ("local", 2), ("dask", 1), ("dask", 2))


class Seconds(NamedTuple):
    """Seconds of a run: on the clock, and of processors."""

    wall: float
    main: float
    scheduler: float
    workers: float


def main(words):
    """Measure one task."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling", description=__doc__)
    parser.add_argument("task", nargs="?", default="listops")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args(words)
    lines = [measure(arguments.task, arguments.rows, *setting) for setting in SETTINGS]
    print(
        f"{arguments.task}: processor seconds a million rows, from {arguments.rows:,} rows "
        "to twice that"
    )
    head = ("engine", "workers", "rows/s", "main", "scheduler", "workers", "of use")
    print(render(Table(head, lines, right=range(1, len(head)))))


def measure(task, rows, engine, workers):
    """One line of the table."""
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(_cluster(place, workers)) if engine == "dask" else None
        idle = _idle(cluster) if cluster else (0.0, 0.0, 0.0)
        sizes = (rows // 10, rows, 2 * rows)  # the first only starts everything up
        _, once, twice = (_run(place, task, size, workers, cluster) for size in sizes)
    wall = twice.wall - once.wall
    main, scheduler, there = (
        (more - less - wall * idling) / (rows / 1e6)
        for less, more, idling in zip(once[1:], twice[1:], idle, strict=True)
    )
    busier = max(main, scheduler)
    return (
        engine,
        f"{workers}",
        f"{rows / wall:,.0f}",
        f"{main:.2f}",
        f"{scheduler:.2f}" if cluster else "",
        f"{there:.2f}" if there else "",
        f"{there / busier:.0f}" if there and busier > 0 else "",
    )


def _idle(cluster, seconds=5.0):
    """Processor seconds a second that a connected cluster takes without any work.

    They belong to the time that a run takes, not to its rows, and hardly count on a large cluster.
    """
    import distributed

    with distributed.Client(cluster.address) as client:
        client.wait_for_workers(1, timeout=60)
        time.sleep(1)
        before = _processors(cluster)
        time.sleep(seconds)
        after = _processors(cluster)
    return tuple((more - less) / seconds for less, more in zip(before, after, strict=True))


class _Cluster(NamedTuple):
    address: str
    scheduler: psutil.Process
    workers: psutil.Process


def _run(place, task, rows, workers, cluster):
    """Make a dataset, and say how long its largest split took."""
    task = make_task(task)
    largest = max(task.splits, key=lambda split: split.rows).name
    before = _processors(cluster)
    outcome = run(
        Request(
            (task,),
            out=place / f"{rows}",
            rows={largest: rows},
            workers=workers,
            engine="dask" if cluster else "local",
            scheduler=cluster.address if cluster else None,
            progress=False,
        )
    )
    used = [after - start for start, after in zip(before, _processors(cluster), strict=True)]
    return Seconds(outcome.seconds[task.variant][largest], *used)


def _processors(cluster):
    """Processor seconds so far: of this process, the scheduler, and all workers."""
    here = psutil.Process().cpu_times()
    main = here.user + here.system
    if cluster is None:
        return main, 0.0, here.children_user + here.children_system
    nanny = cluster.workers
    return main, _seconds(cluster.scheduler), sum(map(_seconds, nanny.children(recursive=True)))


def _seconds(process):
    times = process.cpu_times()
    return float(times.user + times.system)


@contextlib.contextmanager
def _cluster(place, workers):
    """A scheduler and workers as processes of their own.

    Raises:
        SynthbenchError: the scheduler has ended before it could be reached.
    """
    file = place / "scheduler.json"
    with (
        _process(place, "dask_scheduler", "--port=0") as scheduler,
        _process(place, "dask_worker", f"--nworkers={workers}", "--nthreads=1") as nanny,
    ):
        while not file.exists() or not file.read_text():
            if scheduler.poll() is not None:
                said = (place / "dask_scheduler.log").read_text().splitlines()
                raise SynthbenchError(f"Dask's scheduler has ended: {said[-1] if said else '-'}")
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        yield _Cluster(address, psutil.Process(scheduler.pid), psutil.Process(nanny.pid))


@contextlib.contextmanager
def _process(place, module, *words):
    options = ["--scheduler-file=scheduler.json", "--no-dashboard", "--host=127.0.0.1"]
    with (place / f"{module}.log").open("w") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *words, *options],
            cwd=place,
            stderr=log,
        )
        try:
            yield started
        finally:
            started.terminate()
            started.wait()
