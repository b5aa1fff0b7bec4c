"""Processes that have imported a library already, for thousands of calls of `Elsewhere`.

Each call runs in a fork of a server. A probe compares processes, so it needs several servers: a
second fork of the same server would share the addresses of objects with the first.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from synthbench.errors import SynthbenchError
from synthbench.verification.elsewhere import ElsewhereError

#: The most processor seconds of a fork, whose parent may have ended.
_PROCESSOR_SECONDS = 300
_CODE = f"import sys\nfrom {__name__} import serve\nserve(*sys.argv[1:])"


class Servers:
    """Servers by their `PYTHONHASHSEED`.

    Args:
        preload: a module, and a function of it without arguments, that servers call.
        hash_seeds: the hash seed of each server.
        seconds: the most seconds of a call.
    """

    def __init__(self, preload: tuple[str, str], hash_seeds: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        self._directory = tempfile.TemporaryDirectory(prefix="synthbench-")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._paths: dict[str, list[str]] = {}
        for number, hash_seed in enumerate(hash_seeds):
            path = str(Path(self._directory.name) / str(number))
            self._paths.setdefault(hash_seed, []).append(path)
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-c", _CODE, path, *preload],
                    env={**os.environ, "PYTHONHASHSEED": hash_seed},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            )
        for process in self._processes:
            assert process.stdout is not None
            if not process.stdout.read(1):
                raise ElsewhereError(f"{'.'.join(preload)} cannot be called")

    def call(
        self, function: Callable[[Any], Any], request: Any, hash_seed: str = "0"
    ) -> ServedCall:
        """The call of a function, by the server of this hash seed that waits longest."""
        path = self._paths[hash_seed].pop(0)
        self._paths[hash_seed].append(path)
        return ServedCall(path, function, request, self._seconds)

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._directory.cleanup()


class ServedCall:
    """A call that runs in a fork of a server, with the interface of `Elsewhere`."""

    def __init__(
        self, path: str, function: Callable[[Any], Any], request: Any, most: float
    ) -> None:
        self._most = most
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._stream = self._socket.makefile("rwb")
        pickle.dump((function.__module__, function.__qualname__, request), self._stream)
        self._stream.flush()
        self._group: int = pickle.load(self._stream)

    def result(self, seconds: float) -> Any:
        """The function's value.

        Raises:
            ElsewhereError: the process failed, or did not end within so many seconds.
            SynthbenchError: the function raised it.
        """
        seconds = min(seconds, self._most)
        self._socket.settimeout(seconds)
        try:
            value = pickle.load(self._stream)
        except TimeoutError:
            raise ElsewhereError(f"it did not end within {seconds:g} seconds") from None
        except EOFError:
            raise ElsewhereError("it ended without a value") from None
        if isinstance(value, BaseException):
            raise value if isinstance(value, SynthbenchError) else ElsewhereError(repr(value))
        return value

    def __enter__(self) -> ServedCall:
        return self

    def __exit__(self, *exception: object) -> None:
        """End the process and those that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self._group, signal.SIGKILL)
        self._stream.close()
        self._socket.close()


def serve(path: str, module: str, preload: str) -> None:
    """Answer each connection by a fork of this process, until its parent ends."""
    getattr(importlib.import_module(module), preload)()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    os.write(1, b"+")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended forks leave nothing behind
    while select.select([listener, 0], [], [])[0] == [listener]:  # until its parent ends
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _answer(connection)
        connection.close()


def _answer(connection: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS))
    os.setpgid(0, 0)
    stream = connection.makefile("rwb")
    module, name, request = pickle.load(stream)
    pickle.dump(os.getpid(), stream)
    stream.flush()
    try:
        value = getattr(importlib.import_module(module), name)(request)
    except Exception as error:
        value = error
    pickle.dump(value, stream)
    stream.flush()
    os._exit(0)
