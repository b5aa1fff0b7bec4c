"""An engine by its name, for the length of a `with` block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from synthbench.engine.engine import (
    _NO_CHILDREN,
    ENGINES,
    Engine,
    _is_daemonic,
    check_workers,
    default_workers,
)
from synthbench.engine.pool import WorkerPool
from synthbench.errors import SynthbenchError, UsageError, unknown_name


@contextlib.contextmanager
def open_engine(
    name: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    calls: int | None = None,
) -> Iterator[Engine]:
    """An engine for the length of a `with` block.

    Args:
        name: `local` (worker processes; with one worker, this process) or `dask`.
        workers: how many, at most `MAX_WORKERS`; default: the usable cores, in a daemonic process
            1. A running Dask cluster has its own number.
        scheduler: address of a running Dask scheduler; without it a local cluster is started.
        calls: how many calls can be under way at once; no more workers are started than that.

    Raises:
        UsageError: unknown engine, or a number of workers that is not allowed.
        SynthbenchError: Dask is not installed or not to be reached, or all worker processes died.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    check_workers(workers)
    if scheduler is not None and name != "dask":
        raise UsageError("A scheduler address goes with engine 'dask' only; add --engine dask.")
    count = workers or default_workers()
    if calls is not None:
        count = max(1, min(count, calls))
    if name == "dask":
        if scheduler is None and _is_daemonic():
            raise UsageError(f"Engine 'dask': {_NO_CHILDREN}; give the address of a scheduler.")
        with _dask_engine(count, scheduler) as engine:
            yield engine
    elif count == 1:
        yield Engine(None, 1)
    else:
        with WorkerPool(count) as pool:
            yield Engine(pool, count)


def _dask_engine(workers: int, scheduler: str | None) -> contextlib.AbstractContextManager[Engine]:
    try:
        from synthbench.engine import dask
    except ImportError:
        raise SynthbenchError("Engine 'dask' needs Dask: pip install 'synthbench[dask]'.") from None
    return dask.open_cluster(workers, scheduler)
