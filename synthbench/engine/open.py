"""An engine by its name, for the length of a `with` block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

from synthbench.checks import needs
from synthbench.engine.engine import MAX_MAKERS, Engine, default_workers, usable_cores
from synthbench.tasks.base import Task


@contextlib.contextmanager
def open_engine(
    name: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    calls: int | None = None,
    tasks: Sequence[Task] = (),
    patience: float = 0,
    makers: int | None = None,
) -> Iterator[Engine]:
    """An engine for the length of a `with` block. Callers check the options with `check_engine`.

    Args:
        name: `local` (worker processes, or this process for one worker) or `dask`.
        workers: how many, at most `MAX_WORKERS`. Default: the usable cores, in a daemonic process
            1. A running Dask cluster keeps its own number.
        scheduler: address of a running Dask scheduler. Without it a local cluster is started.
        calls: how many calls can be under way at once. No more workers are started than that.
        tasks: tasks for which a cluster must make the same rows as this process.
        patience: see `WorkerPool`.
        makers: see `Engine`. Default: a thread for each core, at most `MAX_MAKERS`.

    Raises:
        SynthbenchError: Dask is not installed, its scheduler cannot be reached, a Dask worker would
            make other rows, or all worker processes died.
    """
    count = workers or default_workers()
    if calls is not None:
        count = max(1, min(count, calls))
    threads = min(usable_cores(), MAX_MAKERS) if makers is None else makers
    if name == "dask":
        with needs("Engine 'dask'", "Dask", "dask"):
            from synthbench.engine import dask
        with dask.open_cluster(count, scheduler, tasks) as engine:
            yield engine
    else:
        with (
            _pool(count, patience) if count > 1 else contextlib.nullcontext() as pool,
            Engine(pool, count, threads) as engine,
        ):
            yield engine


def _pool(count: int, patience: float) -> Executor:
    from synthbench.engine.worker_pool import WorkerPool  # late: a stream may need no workers

    return WorkerPool(count, patience)
