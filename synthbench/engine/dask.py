"""A Dask cluster as an engine: large results stay with the workers that made them.

Dask moves a result to the worker whose call needs it, and remakes the results of a dead worker.
One call draws several consecutive blocks, because each call costs Dask some milliseconds. Every
worker compares its code with ours (`dask_calls`). Some results are made here again and compared.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import logging
import operator
import pickle
import signal
import uuid
import weakref
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from multiprocessing import resource_tracker
from typing import Any, ParamSpec, TypeVar

import distributed

from synthbench.engine.dask_calls import RUN, Made, Terms, is_same, pack, terms_of
from synthbench.engine.dask_watch import PATIENCE, Watch, find_scheduler, quiet_logs
from synthbench.engine.engine import Engine, Remote
from synthbench.errors import SynthbenchError
from synthbench.tasks.base import Task

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

#: Consecutive blocks that one call draws.
_BATCH = 8
#: One call in so many is made here again, besides the first of each function from each worker.
_COMPARED = 128


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
        SynthbenchError: the address lacks a scheduler, or the scheduler lacks workers.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(quiet_logs())
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
            scheduler = stack.enter_context(cluster).scheduler_address
        threads = find_scheduler(scheduler)
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout=PATIENCE))
        except (OSError, TimeoutError, ValueError) as error:
            raise SynthbenchError(f"No Dask scheduler at {scheduler!r}: {error}") from None
        yield stack.enter_context(_ClusterEngine(client, threads, terms_of(tasks)))


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Control-C. Threads and processes that are started in the block never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _ClusterEngine(Engine):
    """Runs functions on the workers of a Dask cluster.

    Args:
        client: of the cluster.
        threads: how many the workers have.
        terms: properties that the workers share with this process.
    """

    batch = _BATCH

    def __init__(self, client: Any, threads: int, terms: Terms) -> None:
        super().__init__(None, threads)
        self._client, self._terms = client, terms
        self._watch = Watch(client, client.scheduler.address)
        self._numbers = itertools.count()
        # Functions and the workers whose results of them were compared.
        self._compared: set[tuple[str, str]] = set()
        self._coming: weakref.WeakSet[Future[Any]] = weakref.WeakSet()
        self._start(self._watch.run())
        self.ahead = self.makers = self.workers + 1

    def __exit__(self, *exception: object) -> None:
        for coming in list(self._coming):
            coming.cancel()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`.

        Raises:
            SynthbenchError: the scheduler is lost.
        """
        request = self._ask(None, function, args, kwargs)
        return self._fetch(request, request.made)

    def submit_remote(
        self, view: Callable[[T], V], function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Remote[V]:
        """Ask for `function(*args, **kwargs)`. Only `view` of the result is sent here.

        Raises:
            SynthbenchError: the scheduler is lost.
        """
        request = self._ask(view, function, args, kwargs)
        seen = operator.itemgetter(Made._fields.index("view"), Made._fields.index("worker"))
        viewed = self._client.submit(seen, request.made, key=_key(view))
        return Remote(request.made, self._fetch(request, viewed))

    def run_near(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Ask for `function(*args)`. Handles in lists of the arguments are replaced, too."""
        return self.submit(function, *args)

    def _ask(self, view: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> _Asked:
        self._watch.check_connection()
        packed, handles = pack(self._terms, view, function, args, kwargs)
        words = [packed, handles], pickle.loads
        future = self._client.submit(*RUN, *words, key=_key(function))
        return _Asked(next(self._numbers), function.__name__, packed, handles, future)

    def _fetch(self, request: _Asked, there: Any) -> Future[Any]:
        return self._start(self._arrived(request, there))

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the client's event loop, without blocking this thread."""
        loop = self._client.loop.asyncio_loop
        coming = asyncio.run_coroutine_threadsafe(coroutine, loop)
        self._coming.add(coming)
        return coming

    async def _arrived(self, request: _Asked, there: Any) -> Any:
        """The result of a call, as soon as it is here, and compared if its turn has come."""
        *_, view, worker = await self._watch.result(there)
        first = (request.name, worker) not in self._compared
        if first or request.number % _COMPARED == 0:
            self._compared.add((request.name, worker))
            await self._compare(request, view, worker)
        return view

    async def _compare(self, request: _Asked, view: Any, worker: str) -> None:
        """Make a call here, too.

        Raises:
            SynthbenchError: the worker's result is another.
        """
        results = [(await self._watch.result(handle)).value for handle in request.handles]
        _, here = await asyncio.to_thread(pickle.loads(request.packed).run, results)
        if not is_same(view, here):
            raise SynthbenchError(
                f"Dask worker {worker} made other rows than this machine does from the same call "
                f"of {request.name}: it runs other code, or its hardware fails.\nStop it, run the "
                "same command again, and check the dataset with `synthbench verify`: parts that "
                "this worker finished before may be wrong, too."
            )


@dataclasses.dataclass(frozen=True)
class _Asked:
    """A call that a worker was asked for.

    Attributes:
        number: how many calls were asked for before.
        name: the function's name.
        packed: the call as bytes.
        handles: Dask futures of the results among its arguments.
        made: the Dask future of its result, a `Made`.
    """

    number: int
    name: str
    packed: bytes
    handles: list[Any]
    made: Any


def _key(function: Callable[..., Any]) -> str:
    # Dask estimates how long a call takes from calls with the same name before the dash.
    return f"{function.__name__}-{uuid.uuid4().hex}"
