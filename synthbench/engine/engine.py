"""Engines make blocks and shards: in this process, in worker processes, or on a Dask cluster.

Nothing else knows about parallelism. An engine runs pure functions on values and returns futures.
Results never depend on the engine.
"""

from __future__ import annotations

import collections
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future
from typing import Any, Generic, ParamSpec, Self, TypeVar, cast

from synthbench.checks import check_name, check_whole_number
from synthbench.errors import UsageError

A = TypeVar("A", bound=tuple[object, ...])
P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

ENGINES = ("local", "dask")
#: The maximum number of workers. Each worker takes three file descriptors of this process. Many
#: systems allow a process 1,024.
MAX_WORKERS = 256
#: The maximum number of threads that use remote results.
MAX_MAKERS = 8


@dataclasses.dataclass(frozen=True)
class Remote(Generic[V]):
    """A large result that stays where it is made.

    Attributes:
        handle: stands for the result in the arguments of `Engine.run_near`.
        view: the small part of the result that comes here.
    """

    handle: Any
    view: Future[V]


class Engine:
    """Runs up to `workers` functions at once, on this machine.

    Args:
        executor: runs what is submitted; None runs it here and now.
        workers: how many functions run at once.
        makers: how many threads of this process run what uses remote results; 0 runs it at once.

    Attributes:
        ahead: how many results of a sequence to ask for before they are needed.
        batch: how many consecutive blocks one call draws.
    """

    batch = 1

    def __init__(self, executor: Executor | None, workers: int, makers: int = 0) -> None:
        self._executor = executor
        self._threads = futures.ThreadPoolExecutor(makers) if makers else None
        self.workers, self.makers = workers, makers
        self.ahead = 0 if executor is None else workers + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`. Without an executor it is called here and now."""
        return _submit(self._executor, function, *args, **kwargs)

    def submit_remote(
        self, view: Callable[[T], V], function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Remote[V]:
        """Ask for `function(*args, **kwargs)`, of which only `view` is needed here.

        Args:
            view: leaves out parts of the result.
            function: gives the result.
            args: its arguments.
            kwargs: its arguments by name.
        """
        future = self.submit(function, *args, **kwargs)
        # It comes here whole, with all that its view has.
        return Remote(future, cast("Future[V]", future))

    def run_near(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Ask for `function(*args)` where the remote results are. These replace their handles."""
        return _submit(self._threads, function, *_fetched(list(args)))

    def in_order(self, function: Callable[..., T], calls: Iterable[A]) -> Iterator[tuple[A, T]]:
        """The arguments and the result of each call, in order. A few are asked for ahead."""
        ahead: collections.deque[tuple[A, Future[T]]] = collections.deque()
        for arguments in calls:
            ahead.append((arguments, self.submit(function, *arguments)))
            if len(ahead) > self.ahead:
                arguments, future = ahead.popleft()
                yield arguments, future.result()
        for arguments, future in ahead:
            yield arguments, future.result()


def _submit(
    executor: Executor | None, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> Future[T]:
    if executor is not None:
        return executor.submit(function, *args, **kwargs)
    future: Future[T] = Future()
    future.set_result(function(*args, **kwargs))
    return future


def _fetched(value: Any) -> Any:
    """A value with the results in place of futures, in lists, too."""
    if isinstance(value, list):
        return [_fetched(element) for element in value]
    return value.result() if isinstance(value, Future) else value


def usable_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_workers() -> int:
    """Number of workers to start by default."""
    return 1 if _is_daemonic() else min(usable_cores(), MAX_WORKERS)


def check_engine(name: str, workers: int | None, scheduler: str | None) -> None:
    """Make sure that an engine can be opened with these options; `open_engine` explains them.

    Raises:
        UsageError: the engine cannot be opened.
    """
    check_name("engine", name, ENGINES)
    check_workers(workers)
    if scheduler is not None and name != "dask":
        raise UsageError("A scheduler address needs engine 'dask'. Add --engine dask.")
    if name == "dask" and scheduler is None and _is_daemonic():
        raise UsageError(f"Engine 'dask': {_NO_CHILDREN}. Give the address of a scheduler.")


def check_workers(workers: int | None) -> int:
    """A number of workers that is allowed in this process. For None, `default_workers`.

    Raises:
        UsageError: it is not a whole number from 1 to `MAX_WORKERS`, or more than 1 in a daemonic
            process, which may start no processes.
    """
    if workers is None:
        return default_workers()
    count = check_whole_number("Workers", workers, least=1, most=MAX_WORKERS)
    if count > 1 and _is_daemonic():
        raise UsageError(f"Workers {count}: {_NO_CHILDREN}. Allowed is 1.")
    return count


#: multiprocessing itself only raises an AssertionError.
_NO_CHILDREN = (
    "a daemonic process, such as a worker of multiprocessing.Pool or of a DataLoader, cannot start "
    "processes of its own"
)


def _is_daemonic() -> bool:
    import multiprocessing  # late: a stream may need no workers

    return multiprocessing.current_process().daemon
