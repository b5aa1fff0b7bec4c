"""Where blocks are made: in this process, in worker processes, or on a Dask cluster.

Nothing else knows about parallelism. An engine runs pure functions on small values and returns
futures; results never depend on the engine.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from synthbench.errors import UsageError, check_whole_number, unknown_name

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")

ENGINES = ("local", "dask")
#: The maximum number of workers. Each worker takes three file descriptors of this process; many
#: systems allow a process 1,024.
MAX_WORKERS = 256


class Asked(Protocol[T_co]):
    """A requested result: the interface that the futures of all engines share."""

    def result(self) -> T_co:
        """Wait for the result; raises what the function raised."""
        ...

    def done(self) -> bool:
        """Whether the result or its error has arrived."""
        ...

    def cancel(self) -> object:
        """Give up the result."""
        ...


@dataclasses.dataclass(frozen=True)
class RemoteResult(Generic[T, V]):
    """A large result that may stay where it is made.

    Attributes:
        handle: stands for the result in the arguments of further calls; a future if the engine is
            not remote.
        view: the small part of the result that is sent here.
    """

    handle: Any
    view: Asked[V]


class Engine:
    """Runs up to `workers` functions at once.

    Attributes:
        workers: how many functions run at once.
        ahead: how many results of a sequence to ask for before they are needed.
        batch: how many consecutive blocks to ask for at once.
        remote: whether kept results stay out of this process.
    """

    batch = 1
    remote = False

    def __init__(self, executor: Executor | None, workers: int) -> None:
        self._executor = executor
        self.workers = workers
        self.ahead = 0 if executor is None else workers + 1

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Asked[T]:
        """Ask for `function(*args, **kwargs)`; without workers it is called here and now."""
        if self._executor is not None:
            return self._executor.submit(function, *args, **kwargs)
        future: Future[T] = Future()
        future.set_result(function(*args, **kwargs))
        return future

    def keep(
        self, view: Callable[[T], V], function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteResult[T, V]:
        """Ask for `function(*args, **kwargs)`; only `view` of the result need be sent here."""
        asked = self.submit(function, *args, **kwargs)
        return RemoteResult(asked, _View(view, asked))


@dataclasses.dataclass(frozen=True)
class _View(Generic[T, V]):
    """The view of a result, computed in this process."""

    view: Callable[[T], V]
    asked: Asked[T]

    def result(self) -> V:
        return self.view(self.asked.result())

    def done(self) -> bool:
        return self.asked.done()

    def cancel(self) -> object:
        return self.asked.cancel()


def usable_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_workers() -> int:
    """How many workers to start if the caller gives no number."""
    return 1 if _is_daemonic() else min(usable_cores(), MAX_WORKERS)


def check_engine(name: str, workers: int | None, scheduler: str | None) -> None:
    """Make sure that an engine can be opened with these options; `open_engine` explains them.

    Raises:
        UsageError: the engine cannot be opened.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    check_workers(workers)
    if scheduler is not None and name != "dask":
        raise UsageError("A scheduler address goes with engine 'dask' only; add --engine dask.")
    if name == "dask" and scheduler is None and _is_daemonic():
        raise UsageError(f"Engine 'dask': {_NO_CHILDREN}; give the address of a scheduler.")


def check_workers(workers: int | None) -> None:
    """Make sure that a number of workers is allowed in this process; None always is.

    Raises:
        UsageError: it is not a whole number from 1 to `MAX_WORKERS`, or more than 1 in a daemonic
            process, which may start no processes.
    """
    if workers is None:
        return
    check_whole_number("Workers", workers, least=1, most=MAX_WORKERS)
    if workers > 1 and _is_daemonic():
        raise UsageError(f"Workers {workers}: {_NO_CHILDREN}; allowed is 1.")


#: multiprocessing itself only raises an AssertionError.
_NO_CHILDREN = (
    "a daemonic process, such as a worker of multiprocessing.Pool or of a DataLoader, may start no "
    "processes of its own"
)


def _is_daemonic() -> bool:
    return multiprocessing.current_process().daemon
