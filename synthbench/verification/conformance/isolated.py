"""Runs the checks of a task in a process of their own, with a time limit for each.

A task may end its process, crash it or never return. The process says which check it is at, and
writes down where it is when the time is up or when it crashes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import inspect
import multiprocessing
import os
import pickle
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from synthbench.engine.error_origin import where_raised
from synthbench.engine.worker_pool import end_with_parent
from synthbench.errors import SynthbenchError, TaskError
from synthbench.tasks import registry
from synthbench.tasks.base import Task
from synthbench.text.lines import one_line

#: Seconds that a process has to say for itself that its time is up, and to start.
_GRACE, _START = 2, 60


@dataclasses.dataclass(frozen=True)
class Step:
    """A check that has begun."""

    variant: str
    statement: str


@dataclasses.dataclass(frozen=True)
class Stopped:
    """The process ended in a check, or was ended: a sentence that says so."""

    step: Step
    problem: str


def run_isolated(
    checks: Callable[[str | Task], Iterator[Any]], task: str | Task, seconds: float
) -> Iterator[Any]:
    """The results of `checks(task)`, from another process.

    Args:
        checks: a function of a module. It gives a `Step` before each check, and its result.
        task: the task, or its name.
        seconds: the most seconds from one value to the next.

    Yields:
        The values. If the process ends early or takes too long, the last is `Stopped`.

    Raises:
        SynthbenchError: as `checks` raises it.
    """
    # As in `WorkerPool`: a fork knows every task that this process has registered.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    name = task.name if isinstance(task, Task) else task
    known = None if sys.platform == "linux" else registry._registered.get(name)
    pipe, its_end = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="synthbench-check-") as directory:
        trace = Path(directory) / "trace.txt"
        arguments = (its_end, trace, checks, task, name, seconds, known)
        process = context.Process(target=_work, args=arguments)
        process.start()
        its_end.close()
        try:
            yield from _received(pipe, process, trace, seconds)
        finally:
            process.kill()
            process.join()
            pipe.close()


def _received(pipe: Connection, process: Any, trace: Path, seconds: float) -> Iterator[Any]:
    step, limit = Step("", "Starts"), max(seconds, _START)
    while True:
        try:
            if not pipe.poll(limit + _GRACE):
                problem = f"It did not end within {seconds:g} seconds{_where(trace)}."
                yield Stopped(step, problem)
                return
            value = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            process.join()
            yield Stopped(step, f"It ended the process ({_end(process.exitcode)}){_where(trace)}.")
            return
        if value is None:
            return
        if isinstance(value, SynthbenchError):
            raise value
        if isinstance(value, str):
            yield Stopped(step, value)
            return
        if isinstance(value, Step):
            step, limit = value, seconds
        yield value


def in_words(error: BaseException) -> str:
    """An error of a task's code, and the method that raised it."""
    if isinstance(error, TaskError):  # which names the method
        return str(error)
    where = where_raised(error)
    raised_in = "" if where is None else f", raised in {where}"
    return one_line(f"{type(error).__name__}: {error}") + raised_in


def _end(code: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit status {code}"


def _where(trace: Path) -> str:
    """The place in the task where the process was, as far as it could write it down."""
    try:
        line = trace.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    frames = _FRAMES.findall(line)
    files = line.partition("\n")[0].split(os.pathsep)
    for file, number, function in frames:
        if file in files:
            return f", in {function}, {file} line {number}"
    return ""


_FRAMES = re.compile(r'File "(.*)", line ([0-9]+) in (\S+)')


def _work(
    pipe: Connection,
    trace: Path,
    checks: Callable[[str | Task], Iterator[Any]],
    task: str | Task,
    name: str,
    seconds: float,
    known: type[Task] | None,
) -> None:
    """Send what the checks give; None at their end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    if known is not None and name not in registry.list_tasks():
        registry.register(known)
    value: Any = None
    with trace.open("w", encoding="utf-8") as file:
        try:
            faulthandler.dump_traceback_later(seconds, file=file)
            _note_files(name, file)
            faulthandler.enable(file)
            for result in checks(task):
                faulthandler.dump_traceback_later(seconds, file=file)
                pipe.send_bytes(pickle.dumps(result))
        except SynthbenchError as error:
            value = error
        except (Exception, SystemExit) as error:  # whatever the task raises
            value = in_words(error)
        finally:
            faulthandler.cancel_dump_traceback_later()
        with contextlib.suppress(OSError):  # the main process has gone
            pipe.send_bytes(pickle.dumps(value))


def _note_files(name: str, file: IO[str]) -> None:
    """Write down the files of the task's classes, one of which may be the place to look at."""
    ours = str(Path(registry.__file__).parents[1])
    files = []
    for cls in registry.task_class(name).__mro__:
        with contextlib.suppress(TypeError, OSError):
            files.append(inspect.getfile(cls))
    file.write(os.pathsep.join(path for path in files if not path.startswith(ours)) + "\n")
    file.flush()
