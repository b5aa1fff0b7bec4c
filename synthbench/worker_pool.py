"""Worker processes of this machine: nothing is lost with one that dies, none outlives the run.

The standard library's pool has one pipe and one lock for all workers; one that is killed while it
writes there leaves half a message, and everybody waits for the rest. Here each worker has a pipe
of its own, and a thread that waits at its end. What a lost worker was at is done by another: it
is a pure function.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from synthbench.allocator import keep_freed_memory
from synthbench.errors import SynthbenchError
from synthbench.interruption import held

P = ParamSpec("P")
T = TypeVar("T")


class WorkerPool(Executor):
    """Runs pure functions in worker processes; use it in a `with` block.

    Args:
        count: how many processes.
    """

    def __init__(self, count: int) -> None:
        self._workers: list[_Worker] = []
        try:
            with held():  # what a handler raises during a fork, Python drops
                for _ in range(count):
                    self._workers.append(_Worker())
        except BaseException:
            self._end_workers()
            raise
        self._left, self._counting = count, threading.Lock()
        # The workers that have nothing to do; None once all are lost.
        self._idle: queue.SimpleQueue[_Worker | None] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`."""
        return self._threads.submit(self._run, function, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End all workers at once; what they are at is given up."""
        self._end_workers()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.pipe.close()

    def _end_workers(self) -> None:
        # Not by SIGTERM: one that has only just started would not end, and be waited for at exit.
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()

    def __exit__(self, *exception: Any) -> None:
        if self._left < len(self._workers) and exception[0] is None:
            print(
                f"{len(self._workers) - self._left} of {len(self._workers)} worker processes ended "
                "abruptly, perhaps for lack of memory; the others did their work.",
                file=sys.stderr,
            )
        self.shutdown()

    def _run(self, function: Callable[..., T], args: Any, kwargs: Any) -> T:
        request = pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)
        while (worker := self._idle.get()) is not None:
            try:
                reply = worker.ask(request)
            except (EOFError, OSError):
                self._lose_one()
                continue
            self._idle.put(worker)
            value, error, where = pickle.loads(reply)
            if error is not None:
                raise error from _WorkerError(where)
            return value  # type: ignore[no-any-return]
        self._idle.put(None)  # for the next that asks
        raise SynthbenchError(
            "All worker processes ended abruptly, perhaps for lack of memory; what is finished is "
            f"kept. Run the same command to go on, with fewer workers than {len(self._workers)}."
        )

    def _lose_one(self) -> None:
        with self._counting:
            self._left -= 1
            if self._left == 0:
                self._idle.put(None)


class _WorkerError(Exception):
    """Where in a worker an error was raised, as a traceback shows it."""


class _Worker:
    """One worker process, and this process's end of its pipe."""

    def __init__(self) -> None:
        # Forked workers start at once and need no importable main module; elsewhere the
        # platform's own way must do.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
        self.pipe, its_end = context.Pipe()
        self.process = context.Process(target=_work, args=(its_end,), daemon=True)
        self.process.start()
        its_end.close()  # closed everywhere as soon as the worker ends

    def ask(self, request: bytes) -> bytes:
        """The answer to a request; raises EOFError or OSError if the worker has died."""
        self.pipe.send_bytes(request)
        return self.pipe.recv_bytes()


def _work(pipe: Connection) -> None:
    """What a worker does until it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    with contextlib.suppress(EOFError, OSError):  # the main process has gone
        while True:
            function, args, kwargs = pickle.loads(pipe.recv_bytes())
            pipe.send_bytes(_answer(function, args, kwargs))


def _answer(function: Callable[..., Any], args: Any, kwargs: Any) -> bytes:
    """What a function returns or raises, pickled."""
    try:
        return pickle.dumps((function(*args, **kwargs), None, ""), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((None, error, traceback.format_exc()), pickle.HIGHEST_PROTOCOL)


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)
