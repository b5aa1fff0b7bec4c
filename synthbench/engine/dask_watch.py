"""Reaching a Dask scheduler, and watching a cluster, so that nothing waits without saying why."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pkgutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import distributed
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import connect
from distributed.comm.registry import get_backend
from distributed.core import send_recv

from synthbench import __version__
from synthbench.engine.dask_calls import PackedCall, disagreement
from synthbench.engine.error_origin import came_from_another_process
from synthbench.engine.source_digest import source_digest
from synthbench.errors import SynthbenchError, UsageError
from synthbench.text.progress import note

#: Seconds to wait for a scheduler, for a first worker, and for a result before saying so.
PATIENCE = 15.0
#: Seconds between two looks at a cluster, and for its scheduler to answer.
_LOOK = 5.0
#: Seconds until a reason for waiting is shown again.
_AGAIN = 60.0
#: Dask's reason for cancelling calls when the scheduler is gone.
_LOST = "scheduler-connection-lost"
_RUN_AGAIN = "run the same command again"


def find_scheduler(address: str) -> int:
    """Make sure that a Dask scheduler with workers is at an address.

    Returns:
        How many threads its workers have.

    Raises:
        UsageError: a malformed address.
        SynthbenchError: the scheduler is missing, or it lacks workers.
    """
    try:
        scheme, location = parse_address(address)
        get_backend(scheme)
        parse_host_port(location)
    except ValueError as error:
        text = str(error).splitlines()[0].rstrip(".")
        raise UsageError(
            f"No Dask scheduler at {address!r}: {text}. An address is, for example, "
            "tcp://127.0.0.1:8786."
        ) from None
    answer: Future[int] = Future()

    def find() -> None:
        try:
            answer.set_result(asyncio.run(_find_scheduler(address)))
        except Exception as error:
            answer.set_exception(error)

    # This thread may have a running event loop, and Control-C must not wait for the answer.
    threading.Thread(target=find, daemon=True).start()
    return answer.result()


async def _find_scheduler(address: str) -> int:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            # `connect` sets a time limit for the connection alone.
            identity = await asyncio.wait_for(_identity(address), PATIENCE + 1)
        except Exception as error:  # a server of another kind can cause any
            raise _unreachable(address, error) from None
        if identity.get("type") in ("Worker", "Nanny"):
            its = identity.get("scheduler")
            remedy = f"its scheduler is at {its}" if its else "give that of its scheduler"
            raise SynthbenchError(
                f"{address!r} is the address of a Dask {identity['type'].lower()}; {remedy}."
            )
        if "workers" not in identity:
            raise SynthbenchError(f"No Dask scheduler at {address!r}: a {identity.get('type')} is.")
        if identity["workers"]:
            return sum(worker["nthreads"] for worker in identity["workers"].values())
        if time.monotonic() > deadline:
            raise _no_workers(address)
        await asyncio.sleep(0.2)


async def _identity(address: str) -> dict[str, Any]:
    """The identity that the server at an address reports."""
    arguments = distributed.Security().get_connection_args("client")
    comm = await connect(address, timeout=PATIENCE, **arguments)
    try:
        answer: dict[str, Any] = await send_recv(comm, op="identity")
        return answer
    finally:
        comm.abort()


def _unreachable(address: str, error: Exception) -> SynthbenchError:
    """The error about an address at which no scheduler could be asked."""
    scheme = address.partition("://")[0] if "://" in address else "tcp"
    text = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    if isinstance(error, TimeoutError):
        reason = f"no scheduler responded within {PATIENCE:.0f} seconds"
    elif text.startswith("Timed out trying to connect"):
        cause = str(error.__cause__ or "")
        reason = f"no connection within {PATIENCE:.0f} seconds" + (f" ({cause})" if cause else "")
    elif scheme == "tls":
        reason = "tls needs certificates. Name them in Dask's configuration, distributed.comm.tls"
    elif scheme != "tcp":
        reason = f"Dask cannot use {scheme} here. Start the scheduler with tcp://"
    elif isinstance(error, OSError):
        reason = "the connection was closed. A scheduler with TLS has an address with tls://"
    else:
        reason = "the server there is not a Dask scheduler"
    return SynthbenchError(f"No Dask scheduler at {address!r}: {reason}.")


def _no_workers(address: str) -> SynthbenchError:
    return SynthbenchError(
        f"The Dask scheduler at {address} has no workers. Start some with "
        f"`dask worker {address}`, and {_RUN_AGAIN}."
    )


@contextlib.contextmanager
def quiet_logs() -> Iterator[None]:
    """Silence Dask's logs in this process. Its important messages become errors."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = {name: logging.getLogger(name).level for name in names}
    if os.environ.get("SYNTHBENCH_DEBUG") == "1":
        before = {}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


class Watch:
    """Waits for results of a cluster, explains a long wait, and ends a hopeless wait.

    Its coroutines run on the event loop of the client.

    Args:
        client: of the cluster.
        address: of its scheduler.
    """

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._waiting = 0
        self._heard = time.monotonic()  # when the last result came, or the first was asked for
        self._told, self._told_at = "", 0.0
        # By worker, when the scheduler last heard of it, and since when we know of nothing later.
        self._beats: dict[str, tuple[float, float]] = {}
        self._without_workers = 0  # how many looks in sequence found no workers
        loop = client.loop.asyncio_loop
        self._hopeless: asyncio.Future[SynthbenchError] = loop.create_future()

    async def result(self, future: Any) -> Any:
        """The result of a Dask future.

        Raises:
            SynthbenchError: the cluster is gone, or cannot make the call.
        """
        self.check_connection()
        # Not the client's `gather`, whose coroutines complain on the terminal when cancelled.
        coming = asyncio.ensure_future(future)
        if not self._waiting:
            self._heard = time.monotonic()
        self._waiting += 1
        try:
            await asyncio.wait([coming, self._hopeless], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                raise self._hopeless.result()
            return coming.result()
        except Exception as error:
            if isinstance(error, SynthbenchError) or came_from_another_process(error):
                raise
            raise await self._explained(error) from None
        finally:
            self._waiting -= 1
            self._heard = time.monotonic()
            coming.cancel()

    def check_connection(self) -> None:
        """Make sure that calls still reach the scheduler.

        When the connection is lost, the client cancels the calls it knows of, then tries for a
        while to connect again. A call asked for meanwhile would wait for nothing.

        Raises:
            SynthbenchError: the connection was lost.
        """
        if self._client.status != "running":
            raise self._lost()

    async def run(self) -> None:
        """Look at the cluster now and then, until cancelled."""
        while not self._hopeless.done():
            await asyncio.sleep(_LOOK)
            if self._waiting:
                await self._look()

    async def _look(self) -> None:
        reason = await self._reason()
        now = time.monotonic()
        waited = now - self._heard
        if self._without_workers * _LOOK > PATIENCE:
            self._hopeless.set_result(_no_workers(self._address))
        elif waited >= PATIENCE and (reason != self._told or now - self._told_at >= _AGAIN):
            self._told, self._told_at = reason, now
            note(f"No result from Dask for {waited:.0f} s: {reason}. Still waiting.")

    async def _reason(self) -> str:
        """The reason for which the results are waiting."""
        try:
            identity = await asyncio.wait_for(self._client.scheduler.identity(), _LOOK)
        except Exception:  # of a connection. If it is lost, the client cancels its futures
            return f"the scheduler at {self._address} does not answer"
        workers = identity["workers"]
        now = time.monotonic()
        for address, worker in workers.items():
            if self._beats.get(address, (0, 0))[0] != worker["last_seen"]:
                self._beats[address] = worker["last_seen"], now
        silent = [address for address in workers if now - self._beats[address][1] >= PATIENCE]
        paused = [address for address in workers if workers[address]["status"] == "paused"]
        self._without_workers = 0 if workers else self._without_workers + 1
        if not workers:
            return f"the scheduler at {self._address} has no workers now"
        reasons = []
        if paused:
            limit = (workers[paused[0]]["memory_limit"] or 0) / 2**30
            reasons.append(
                f"{len(paused)} of {len(workers)} workers are paused, as their memory is nearly "
                f"full ({paused[0]} may use {limit:.1f} GiB)"
            )
        if silent:
            reasons.append(f"worker {silent[0]} does not report to its scheduler")
        return "; ".join(reasons) or f"{self._waiting} calls are at {len(workers)} workers"

    async def _explained(self, error: Exception) -> SynthbenchError:
        """An error of Dask itself, in our words."""
        if isinstance(error, distributed.KilledWorker):
            return SynthbenchError(
                f"Every Dask worker that tried a call died ({error.allowed_failures + 1}, the last "
                f"at {error.last_worker.address}), perhaps for lack of memory.\nThe logs of the "
                f"workers may say why. Then {_RUN_AGAIN}."
            )
        if isinstance(error, CancelledError | OSError):
            reason = getattr(error, "reason", _LOST)
            if reason == _LOST:
                return self._lost()
            return SynthbenchError(f"Dask cancelled a call ({reason}); {_RUN_AGAIN}.")
        with contextlib.suppress(Exception):  # the cluster may go at any moment
            async with asyncio.timeout(PATIENCE):
                if (cause := await asyncio.to_thread(self._other_worker)) is not None:
                    return cause
        return SynthbenchError(f"A call failed on the Dask cluster: {_in_a_line(error)}.")

    def _lost(self) -> SynthbenchError:
        return SynthbenchError(
            f"The Dask scheduler at {self._address} is gone: the connection was lost. "
            f"Start it again, and {_RUN_AGAIN}."
        )

    def _other_worker(self) -> SynthbenchError | None:
        """Find a worker that cannot read our calls: its synthbench is another, or missing."""
        name, calls = pkgutil.resolve_name, PackedCall.__module__
        for what, function, argument, here in (
            ("version of synthbench", name, "synthbench:__version__", __version__),
            ("module of calls", name, f"{calls}:__name__", calls),
            ("source code of synthbench", source_digest, "synthbench", source_digest("synthbench")),
        ):
            answers = self._client.run(function, argument, on_error="return")
            for worker, there in answers.items():
                if isinstance(there, Exception):
                    return SynthbenchError(
                        f"Dask worker {worker} cannot load synthbench {__version__} "
                        f"({_in_a_line(there)}).\nInstall it there, restart the worker, and "
                        f"{_RUN_AGAIN}."
                    )
                if there != here:
                    return disagreement(worker, what, there, here)
        return None


def _in_a_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__
