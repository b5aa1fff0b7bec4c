"""A Dask cluster as an engine: large results stay with the workers that made them.

Dask moves a result to the worker whose call needs it, and remakes the results of a dead worker.
One call draws several consecutive blocks, because each call costs Dask some milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from multiprocessing import resource_tracker
from typing import Any, ParamSpec, TypeVar

import distributed

from synthbench import __version__
from synthbench.engine.engine import Engine, Remote
from synthbench.engine.error_origin import for_another_process
from synthbench.engine.worker_pool import keep_freed_memory
from synthbench.errors import SynthbenchError
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import carried_source_dirs, carry_source_dirs

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

#: Consecutive blocks that one call draws.
_BATCH = 8
#: Seconds to wait for a scheduler, for a first worker, and for a result before checking workers.
_PATIENCE = 15


@contextlib.contextmanager
def open_cluster(
    workers: int, scheduler: str | None, tasks: Sequence[Task] = ()
) -> Iterator[Engine]:
    """An engine on a running cluster, or on a new cluster on this machine.

    Args:
        workers: the number of workers of a new cluster.
        scheduler: address of a running scheduler; None starts a new cluster.
        tasks: tasks for which the workers must make the same rows as this process.

    Raises:
        SynthbenchError: there is no scheduler at the address, it has no workers, or a worker would
            make other rows.
    """
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            with _no_interrupts():
                cluster: Any = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    # The scheduler's web server starts without a dashboard, too.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    host="127.0.0.1",
                    silence_logs=logging.CRITICAL,  # what matters is raised as an error
                )
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        else:
            try:
                client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE))
            except (OSError, TimeoutError, ValueError) as error:
                raise SynthbenchError(f"No Dask scheduler at {scheduler!r}: {error}") from None
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise _no_workers(client) from None
        for task in tasks:
            _check_workers(client, task)
        yield stack.enter_context(_ClusterEngine(client))


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Control-C; threads and processes that are started in the block never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _no_workers(client: Any) -> SynthbenchError:
    address = client.scheduler.address
    return SynthbenchError(
        f"The Dask scheduler at {address} has no workers; start some with "
        f"`dask worker {address}`. Finished parts are kept."
    )


def _check_workers(client: Any, task: Task) -> None:
    """Make sure that the workers would make the same rows of a task as this process."""
    expected = _versions(task)
    try:
        found = client.run(_call, carried_source_dirs(), _versions, (task,), {})
    except Exception as error:
        raise SynthbenchError(f"A Dask worker cannot make {task.name}: {error}") from None
    for worker, there in found.items():
        if there != expected:
            raise SynthbenchError(
                f"Dask worker {worker} would make different rows of {task.name}: it has synthbench "
                f"{there[0]} (here {expected[0]})"
                f"{' and other source images' if there[1] != expected[1] else ''}."
            )


class _ClusterEngine(Engine):
    """Runs functions on the workers of a Dask cluster."""

    batch = _BATCH

    def __init__(self, client: Any) -> None:
        super().__init__(None, sum(client.nthreads().values()))
        self._client = client
        self._sources = carried_source_dirs()
        self._coming: weakref.WeakSet[Future[Any]] = weakref.WeakSet()
        self.ahead = self.makers = self.workers + 1

    def __exit__(self, *exception: object) -> None:
        for coming in list(self._coming):
            coming.cancel()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`."""
        return self._fetch(self._ask(function, *args, **kwargs))

    def submit_remote(
        self, view: Callable[[T], V], function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Remote[V]:
        """Ask for `function(*args, **kwargs)`; only `view` of the result is sent here."""
        handle = self._ask(function, *args, **kwargs)
        return Remote(handle, self._fetch(self._ask(view, handle)))

    def run_near(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Ask for `function(*args)`; Dask replaces handles in lists of the arguments."""
        return self.submit(function, *args)

    def _ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        # Dask estimates how long a call takes from calls with the same name before the dash.
        key = f"{function.__name__}-{uuid.uuid4().hex}"
        return self._client.submit(_call, self._sources, function, args, kwargs, key=key)

    def _fetch(self, there: Any) -> Future[Any]:
        """Have a result sent here as soon as it is ready, without blocking this thread."""
        loop = self._client.loop.asyncio_loop
        coming = asyncio.run_coroutine_threadsafe(_result(self._client, there), loop)
        self._coming.add(coming)
        return coming


async def _result(client: Any, there: Any) -> Any:
    """Wait for the result of a Dask future as long as there are workers.

    Raises:
        SynthbenchError: the cluster has gone.
    """
    # Not the client's `gather`, whose coroutines complain on the terminal when cancelled.
    coming = asyncio.ensure_future(there)
    alone = False  # whether there were no workers the last time; Dask may be starting new ones
    try:
        while not (await asyncio.wait([coming], timeout=_PATIENCE))[0]:
            without = not (await client.scheduler.identity())["workers"]
            if alone and without:
                raise _no_workers(client)
            alone = without
        return coming.result()
    except distributed.KilledWorker as error:
        raise SynthbenchError(
            "Every Dask worker that tried died, perhaps for lack of memory; finished "
            f"parts are kept. Run the same command to continue.\nDask says: {error}"
        ) from None
    except (CancelledError, OSError) as error:
        raise SynthbenchError(
            f"The Dask scheduler is gone ({type(error).__name__}); finished parts are "
            "kept. Run the same command to continue."
        ) from None
    finally:
        coming.cancel()


def _call(
    sources: str | None,
    function: Callable[..., T],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> T:
    """Call a function on a worker, with the source directories of this run."""
    keep_freed_memory()
    carry_source_dirs(sources)
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise for_another_process(error)  # noqa: B904 - mostly the same error


def _versions(task: Task) -> tuple[str, dict[str, Any]]:
    return __version__, task.tables
