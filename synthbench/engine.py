"""Where blocks are made: in this process, in worker processes, or on a Dask cluster.

Nothing else knows about parallelism. An engine runs pure functions on small values and hands
back futures; what is made of the results never depends on it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.worker_pool import WorkerPool

P = ParamSpec("P")
T = TypeVar("T")

ENGINES = ("local", "dask")


class Engine:
    """Runs functions in `workers` places at once.

    Attributes:
        workers: how many functions run at once.
        ahead: how many results of one sequence it pays to ask for before they are needed.
    """

    def __init__(self, executor: Executor | None, workers: int) -> None:
        self._executor = executor
        self.workers = workers
        self.ahead = 0 if executor is None else workers + 1

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`; without workers it runs at once, here."""
        if self._executor is not None:
            return self._executor.submit(function, *args, **kwargs)
        future: Future[T] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def usable_cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def open_engine(
    name: str = "local", workers: int | None = None, scheduler: str | None = None
) -> Iterator[Engine]:
    """An engine for the length of a `with` block.

    Args:
        name: `local` (worker processes; with one worker, this process) or `dask`.
        workers: how many; default: the usable cores. A running Dask cluster has its own number.
        scheduler: address of a running Dask scheduler; without it a local cluster is started.

    Raises:
        UsageError: unknown engine, or a number of workers below 1.
        SynthbenchError: Dask is not installed or not to be reached, or all worker processes died.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise UsageError(f"Workers {workers}: allowed are whole numbers from 1.")
    if scheduler is not None and name != "dask":
        raise UsageError("A scheduler address goes with engine 'dask' only; add --engine dask.")
    count = workers or usable_cores()
    if name == "dask":
        with _dask_engine(count, scheduler) as engine:
            yield engine
    elif count == 1:
        yield Engine(None, 1)
    else:
        with WorkerPool(count) as pool:
            yield Engine(pool, count)


@contextlib.contextmanager
def _dask_engine(workers: int, scheduler: str | None) -> Iterator[Engine]:
    try:
        import distributed
    except ImportError:
        raise SynthbenchError("Engine 'dask' needs Dask: pip install 'synthbench[dask]'.") from None
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            cluster: Any = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
            )
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        else:
            try:
                client = stack.enter_context(distributed.Client(scheduler, timeout="10s"))
            except (OSError, TimeoutError, ValueError) as error:
                raise SynthbenchError(f"No Dask scheduler at {scheduler!r}: {error}") from None
        places = sum(client.nthreads().values())
        yield Engine(client.get_executor(), max(1, places))
