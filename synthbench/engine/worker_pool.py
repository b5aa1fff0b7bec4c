"""Worker processes on this machine. If one dies, another repeats its work. None outlives the run.

In the standard library's pool all workers share one pipe and one lock: a worker killed while it
writes leaves half a message, and all others wait for the rest. Here each worker has its own pipe,
and a thread waits for its answer. Work can be repeated because the functions are pure.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from synthbench.engine.error_origin import for_another_process
from synthbench.engine.signals import defer_signals
from synthbench.errors import SynthbenchError, UsageError
from synthbench.text.progress import note

P = ParamSpec("P")
T = TypeVar("T")

#: The maximum number of files that the error about a dead worker names.
_SHOWN_FILES = 3


class WorkerPool(Executor):
    """Runs pure functions in worker processes. Use it in a `with` block.

    The workers belong to the process that started them. Its forks can neither use nor end them.

    Args:
        count: how many processes.
        patience: how many seconds workers have to save their work once Control-C came. They get
            SIGTERM, which ends a worker at once unless the function that it runs has a handler.
    """

    def __init__(self, count: int, patience: float = 0) -> None:
        self._patience = patience
        self._workers: list[_Worker] = []
        self._inherited = False
        _give_back_freed_memory()
        try:
            for _ in range(count):
                with defer_signals():  # Python drops what a signal handler raises during a fork
                    self._workers.append(_Worker())
        except BaseException:
            self._end_workers()
            raise
        self._left, self._counting = count, threading.Lock()
        self._last_lost_at = ""
        # Idle workers; None once all have died.
        self._idle: queue.SimpleQueue[_Worker | None] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count)
        _open_pools.add(self)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Ask for `function(*args, **kwargs)`.

        Raises:
            UsageError: this process is a fork of the process that started the workers.
        """
        if self._inherited:
            raise UsageError(
                "The worker processes belong to the process that started them, and this is a fork "
                "of it. Call stream() again in this process. start=N skips the first N batches."
            )
        return self._threads.submit(self._run, function, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Kill all workers. Unfinished work is dropped."""
        _open_pools.discard(self)
        if self._inherited:
            return
        self._end_workers()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.pipe.close()

    def _end_workers(self) -> None:
        # Not SIGTERM, which a worker that has only just started would ignore.
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()

    def leave_to_parent(self) -> None:
        """Let go of the workers, in a fork of the process that owns them."""
        self._inherited = True
        for worker in self._workers:
            worker.pipe.close()
            # Otherwise multiprocessing would end them when this process exits.
            multiprocessing.process._children.discard(worker.process)  # type: ignore[attr-defined]

    def __exit__(self, *exception: Any) -> None:
        if self._left < len(self._workers) and exception[0] is None:
            note(
                f"{len(self._workers) - self._left} of {len(self._workers)} worker processes ended "
                "abruptly, perhaps for lack of memory. The others did their work."
            )
        if self._patience and isinstance(exception[1], KeyboardInterrupt) and not self._inherited:
            self._let_workers_save()
        self.shutdown()

    def _let_workers_save(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.process.terminate()
        latest = time.monotonic() + self._patience
        for worker in self._workers:
            worker.process.join(max(0, latest - time.monotonic()))

    def _run(self, function: Callable[..., T], args: Any, kwargs: Any) -> T:
        request = pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)
        while (worker := self._idle.get()) is not None:
            try:
                reply = worker.ask(request)
            except (EOFError, OSError):
                self._lose_one(_files(args))
                continue
            self._idle.put(worker)
            value, error, where = pickle.loads(reply)
            if error is not None:
                raise error from _WorkerError(where)
            return value  # type: ignore[no-any-return]
        self._idle.put(None)  # for the next caller
        raise SynthbenchError(
            f"All worker processes ended abruptly, perhaps for lack of memory{self._last_lost_at}; "
            "finished parts are kept. Run the same command to continue, with fewer workers than "
            f"{len(self._workers)}."
        )

    def _lose_one(self, files: list[Path]) -> None:
        with self._counting:
            self._left -= 1
            if self._left == 0:
                if files:
                    names = ", ".join(map(str, files[:_SHOWN_FILES]))
                    more = f" and {len(files) - _SHOWN_FILES} more" * (len(files) > _SHOWN_FILES)
                    self._last_lost_at = f", the last of them while it read {names}{more}"
                self._idle.put(None)


def _files(args: Iterable[Any]) -> list[Path]:
    """The files that a request names: paths among its arguments, alone or in lists."""
    each = itertools.chain.from_iterable(
        argument if isinstance(argument, list) else [argument] for argument in args
    )
    return [argument for argument in each if isinstance(argument, Path)]


#: The pools of this process, which a fork of this process must leave alone.
_open_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_open_pools):
        pool.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _WorkerError(Exception):
    """The traceback of an error in a worker, as text."""


class _Worker:
    """One worker process, and this process's end of its pipe."""

    def __init__(self) -> None:
        # Forked workers start at once and need no importable main module. Other platforms use
        # their default.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
        self.pipe, its_end = context.Pipe()
        self.process = context.Process(target=_work, args=(its_end,), daemon=True)
        self.process.start()
        its_end.close()  # so that the pipe closes when the worker ends

    def ask(self, request: bytes) -> bytes:
        """The answer to a request. Raises EOFError or OSError if the worker has died."""
        self.pipe.send_bytes(request)
        return self.pipe.recv_bytes()


def _work(pipe: Connection) -> None:
    """Answer requests until the process is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    keep_freed_memory()
    # The main process has gone, or asked a function with a handler of its own to end.
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            function, args, kwargs = pickle.loads(pipe.recv_bytes())
            pipe.send_bytes(_answer(function, args, kwargs))


def _answer(function: Callable[..., Any], args: Any, kwargs: Any) -> bytes:
    """A function's result or error, pickled."""
    try:
        return pickle.dumps((function(*args, **kwargs), None, ""), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        sent = for_another_process(error)
        return pickle.dumps((None, sent, traceback.format_exc()), pickle.HIGHEST_PROTOCOL)


def end_with_parent() -> None:
    """Let this process end when its parent ends."""

    def wait() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _give_back_freed_memory() -> None:
    """Give freed memory back to the system, before a fork.

    The first write to a page that a fork shares copies it, which is for nothing if it was free.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not the GNU C library
        if (pyarrow := sys.modules.get("pyarrow")) is not None:
            pyarrow.default_memory_pool().release_unused()
        ctypes.CDLL(None).malloc_trim(0)


#: Parameters of `mallopt`, as in <malloc.h>, and an advice of `madvise`, as in <sys/mman.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _MADV_HUGEPAGE = -1, -3, 14
#: Bytes of the smallest block outside the heap, of a huge page, and of the part of the heap that
#: gets such pages.
_OUTSIDE_HEAP, _HUGE_PAGE, _IN_HUGE_PAGES = 32 << 20, 2 << 20, 31 << 20


def keep_freed_memory() -> None:
    """Have the C library keep up to 128 MiB that this process frees, for its next block.

    Returning pages to the system and getting new pages takes a quarter of the time, and half of a
    Dask worker's, because its nanny sets the environment variable MALLOC_TRIM_THRESHOLD_. The
    first pages are huge where Linux has such. On a virtual machine, where every page costs more,
    that saves an eighth of the command `generate arithmetic`.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not the GNU C library
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _OUTSIDE_HEAP)
        library.mallopt(_M_TRIM_THRESHOLD, 128 << 20)
        library.malloc.restype = ctypes.c_void_p
        # Freed at once, the block stays in the heap, with the advice for its pages.
        block = library.malloc(ctypes.c_size_t(_IN_HUGE_PAGES))
        first = -(-block // _HUGE_PAGE) * _HUGE_PAGE
        size = ctypes.c_size_t(_IN_HUGE_PAGES - _HUGE_PAGE)
        library.madvise(ctypes.c_void_p(first), size, _MADV_HUGEPAGE)
        library.free(ctypes.c_void_p(block))
