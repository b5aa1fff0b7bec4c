"""Where blocks are made: in this process, in worker processes, or on a Dask cluster.

Nothing else knows about parallelism. An engine runs pure functions on small values and hands
back futures; what is made of the results never depends on it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from synthbench.errors import SynthbenchError, UsageError, check_whole_number, unknown_name
from synthbench.tasks.base import Task
from synthbench.worker_pool import WorkerPool

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")

ENGINES = ("local", "dask")


class Asked(Protocol[T_co]):
    """A result that was asked for, as the futures of all engines have it."""

    def result(self) -> T_co:
        """The result, waited for; raises what the function raised."""
        ...

    def done(self) -> bool:
        """Whether there is nothing to wait for."""
        ...

    def cancel(self) -> object:
        """Give it up."""
        ...


@dataclasses.dataclass(frozen=True)
class Kept(Generic[T, V]):
    """A large result that may stay where it is made.

    Attributes:
        handle: stands for the result in the arguments of further calls; where the engine is not
            remote, a future.
        view: the small part of the result that comes here.
    """

    handle: Any
    view: Asked[V]


class Engine:
    """Runs functions in `workers` places at once.

    Attributes:
        workers: how many functions run at once.
        ahead: how many results of one sequence it pays to ask for before they are needed.
        batch: how many consecutive blocks it pays to ask for at once.
        remote: whether kept results stay out of this process.
    """

    batch = 1
    remote = False

    def __init__(self, executor: Executor | None, workers: int) -> None:
        self._executor = executor
        self.workers = workers
        self.ahead = 0 if executor is None else workers + 1

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Asked[T]:
        """Ask for `function(*args, **kwargs)`; without workers it runs at once, here."""
        if self._executor is not None:
            return self._executor.submit(function, *args, **kwargs)
        future: Future[T] = Future()
        future.set_result(function(*args, **kwargs))
        return future

    def keep(
        self, view: Callable[[T], V], function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Kept[T, V]:
        """Ask for `function(*args, **kwargs)`, of which only `view` need come here."""
        asked = self.submit(function, *args, **kwargs)
        return Kept(asked, _View(view, asked))

    def check(self, task: Task) -> None:
        """Make sure that the workers would make the same rows of a task as this process.

        Raises:
            SynthbenchError: a worker that would not, and why.
        """


@dataclasses.dataclass(frozen=True)
class _View(Generic[T, V]):
    """The view of a result that comes here as a whole."""

    view: Callable[[T], V]
    asked: Asked[T]

    def result(self) -> V:
        return self.view(self.asked.result())

    def done(self) -> bool:
        return self.asked.done()

    def cancel(self) -> object:
        return self.asked.cancel()


def usable_cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def open_engine(
    name: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    source_dir: str | Path | None = None,
) -> Iterator[Engine]:
    """An engine for the length of a `with` block.

    Args:
        name: `local` (worker processes; with one worker, this process) or `dask`.
        workers: how many; default: the usable cores. A running Dask cluster has its own number.
        scheduler: address of a running Dask scheduler; without it a local cluster is started.
        source_dir: where source images lie, for workers that do not inherit it.

    Raises:
        UsageError: unknown engine, or a number of workers below 1.
        SynthbenchError: Dask is not installed or not to be reached, or all worker processes died.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if workers is not None:
        check_whole_number("Workers", workers, least=1)
    if scheduler is not None and name != "dask":
        raise UsageError("A scheduler address goes with engine 'dask' only; add --engine dask.")
    count = workers or usable_cores()
    if name == "dask":
        with _dask_engine(count, scheduler, source_dir) as engine:
            yield engine
    elif count == 1:
        yield Engine(None, 1)
    else:
        with WorkerPool(count) as pool:
            yield Engine(pool, count)


def _dask_engine(
    workers: int, scheduler: str | None, source_dir: str | Path | None
) -> contextlib.AbstractContextManager[Engine]:
    try:
        from synthbench import cluster
    except ImportError:
        raise SynthbenchError("Engine 'dask' needs Dask: pip install 'synthbench[dask]'.") from None
    return cluster.open_cluster(workers, scheduler, source_dir)
