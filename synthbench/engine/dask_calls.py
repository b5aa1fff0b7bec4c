"""Calls as a Dask worker gets them: it runs them only with the code that the main process has.

A call travels as bytes that only Dask's `RUN` reads. A worker that cannot read what Dask sends it
would end at once. What `RUN` cannot read is an error. So the scheduler does not need our code.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import io
import json
import operator
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import cloudpickle
import distributed
import numpy as np
import pyarrow as pa

from synthbench import __version__
from synthbench.engine.error_origin import for_another_process
from synthbench.engine.source_digest import source_digest, source_packages
from synthbench.engine.worker_pool import keep_freed_memory
from synthbench.errors import SynthbenchError
from synthbench.tasks.base import Task

#: Of one in hexadecimal, of which an error shows the beginning.
_SHA256_LENGTH = 64


@dataclasses.dataclass(frozen=True)
class Terms:
    """Properties that a worker must share with the main process to make the same bytes.

    Attributes:
        version: of synthbench.
        pyarrow: the version of PyArrow, which writes its number into every shard.
        code: by package, the digest of its source.
        tables: by task and variant, the digest of its tables.
        tasks: the tasks, pickled, with the source directories of the main process.
    """

    version: str
    pyarrow: str
    code: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, str], ...]
    tasks: bytes


def terms_of(tasks: Sequence[Task]) -> Terms:
    """The terms of this process for some tasks."""
    code = tuple((name, source_digest(name)) for name in source_packages(tasks))
    tables = tuple((_label(task), _tables(task)) for task in tasks)
    return Terms(__version__, pa.__version__, code, tables, cloudpickle.dumps(tasks))


#: Function and first argument of a Dask task. Then a list follows with a packed call and the list
#: of its results: `pickle.loads(packed)(results)`, by nothing but the standard library.
RUN = functools.reduce, operator.call


class Made(NamedTuple):
    """The result of a packed call on its worker.

    Attributes:
        value: the result.
        view: the part that the main process needs.
        worker: the address of the worker.
    """

    value: Any
    view: Any
    worker: str


def pack(
    terms: Terms, view: Callable[[Any], Any] | None, function: Any, args: Any, kwargs: Any
) -> tuple[bytes, list[Any]]:
    """A call as bytes, and the Dask futures among its arguments.

    Args:
        terms: properties that the worker shares with this process.
        view: leaves out parts of the result; None keeps all of it.
        function: gives the result.
        args: its arguments. Futures may be in lists.
        kwargs: its arguments by name.
    """
    futures: list[Any] = []

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> int | None:
            if not isinstance(value, distributed.Future):
                return None
            futures.append(value)
            return len(futures) - 1

    file = io.BytesIO()
    Packer(file, protocol=pickle.HIGHEST_PROTOCOL).dump((view, function, args, kwargs))
    return pickle.dumps(PackedCall(terms, file.getvalue())), futures


@dataclasses.dataclass(frozen=True)
class PackedCall:
    """A call, as bytes that need the packages of its function and of its arguments.

    Attributes:
        terms: properties that the worker shares with the main process.
        content: view, function and arguments, pickled. Numbers stand for futures.
    """

    terms: Terms
    content: bytes

    def __call__(self, results: Sequence[Made]) -> Made:
        """Make the call on a worker.

        Args:
            results: those of the futures among the arguments.

        Raises:
            SynthbenchError: the worker would make other bytes than the main process.
        """
        worker = distributed.get_worker().address
        keep_freed_memory()
        try:
            _check(self.terms, worker)
            return Made(*self.run([result.value for result in results]), worker)
        except Exception as error:
            raise for_another_process(error)  # noqa: B904 - mostly the same error

    def run(self, results: Sequence[Any]) -> tuple[Any, Any]:
        """Make the call in this process. Gives the result and its view."""

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, number: Any) -> Any:
                return results[number]

        view, function, args, kwargs = Unpacker(io.BytesIO(self.content)).load()
        value = function(*args, **kwargs)
        return value, value if view is None else view(value)


@functools.lru_cache(maxsize=8)  # a worker does this for its first call of a run
def _check(terms: Terms, worker: str) -> None:
    try:
        different = next((triple for triple in _compared(terms) if triple[1] != triple[2]), None)
    except Exception as error:  # a module is missing, or source images are
        tasks = ", ".join(label for label, _ in terms.tables)
        raise SynthbenchError(f"Dask worker {worker} cannot make {tasks}: {error}") from error
    if different is not None:
        raise disagreement(worker, *different)


def _compared(terms: Terms) -> Iterator[tuple[str, str, str]]:
    """The compared properties, on this worker and in the main process."""
    yield "version of synthbench", __version__, terms.version
    yield "version of PyArrow", pa.__version__, terms.pyarrow
    for package, digest in terms.code:
        yield f"source code of {package}", source_digest(package), digest
    tables = dict(terms.tables)
    for task in pickle.loads(terms.tasks):
        label = _label(task)
        yield f"tables of {label}, such as source images", _tables(task), tables[label]


def disagreement(worker: str, what: str, there: str, here: str) -> SynthbenchError:
    """The error about a worker that differs from the main process.

    Args:
        worker: its address.
        what: the property that differs.
        there: a version or a SHA-256 of the worker.
        here: that of the main process.
    """
    there, here = (text[:12] if len(text) == _SHA256_LENGTH else text for text in (there, here))
    return SynthbenchError(
        f"Dask worker {worker} could make other rows: its {what} differs ({there}, here {here}).\n"
        "Give it what this machine has, restart it, and run the same command again."
    )


def _label(task: Task) -> str:
    return f"{task.name} {task.variant}"


def _tables(task: Task) -> str:
    """The digest of a task's tables, which have the checksums of source images."""
    return hashlib.sha256(json.dumps(task.tables, sort_keys=True).encode()).hexdigest()


def is_same(result: Any, other: Any) -> bool:
    """True if two results are the same: arrays, data classes, lists of these, and plain values."""
    if type(result) is not type(other):
        return False
    if isinstance(result, np.ndarray):
        return result.dtype == other.dtype and np.array_equal(result, other)
    if isinstance(result, list | tuple):
        return len(result) == len(other) and all(map(is_same, result, other))
    if dataclasses.is_dataclass(result):
        names = [field.name for field in dataclasses.fields(result)]
        return all(is_same(getattr(result, name), getattr(other, name)) for name in names)
    return bool(result == other)
