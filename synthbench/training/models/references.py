"""Classes by their reference: `package.module:Class` or `path/to/file.py:Class`."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.training.models.blame import blamed


def is_reference(name: str) -> bool:
    """True if a name is such a reference."""
    return ":" in name


def resolved(reference: str) -> str:
    """A reference whose file has its whole path, so that it means the same from everywhere.

    Raises:
        UsageError: the class or the file does not exist.
    """
    source, _, name = reference.rpartition(":")
    if not source or not name.isidentifier():
        raise UsageError(
            f"{reference!r}: expected a file and a class such as my_model.py:Make, or a module and "
            "a class such as my_package.models:Make."
        )
    if not source.endswith(".py"):
        return reference
    file = Path(source)
    if not file.is_file():
        raise UsageError(f"{reference!r}: there is no file {source!r} here.")
    return f"{file.resolve()}:{name}"


def short_name(reference: str) -> str:
    """A name for tables and directories, such as `my_model.Make`."""
    source, _, name = reference.rpartition(":")
    stem = Path(source).stem if source.endswith(".py") else source
    return f"{stem}.{name}"


def digest(reference: str) -> str | None:
    """The SHA-256 of a reference's file, which shows whether it has changed. None for a module.

    Raises:
        UsageError: the file cannot be read.
    """
    source = reference.rpartition(":")[0]
    return hashlib.sha256(_read(source)).hexdigest() if source.endswith(".py") else None


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file!r} cannot be read: {error.strerror}.") from error


def load(reference: str) -> Callable[..., Any]:
    """The class or function at a reference. Files are read as they are now.

    Raises:
        UsageError: no such file, module or class.
        SynthbenchError: the module raises an error.
    """
    source, _, name = resolved(reference).rpartition(":")
    module = _file(source, _read(source)) if source.endswith(".py") else _module(source)
    member = getattr(module, name, None)
    if member is None:
        known = [key for key, value in vars(module).items() if _is_defined_in(module, value)]
        raise unknown_name(f"class or function of {source}", name, known)
    if not (callable(member) and (hasattr(member, "__name__") or isinstance(member, partial))):
        raise UsageError(
            f"{reference!r} is {type(member).__name__}: expected a class or a function."
        )
    return member  # type: ignore[no-any-return]


def _is_defined_in(module: Any, value: Any) -> bool:
    """True for a class, and for a function that the module itself defines."""
    is_class, owner = isinstance(value, type), getattr(value, "__module__", None)
    return is_class or (inspect.isfunction(value) and owner == module.__name__)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"There is no module {error.name!r} to import.") from error
        raise SynthbenchError(blamed(error, f"import of {name}")) from error
    except Exception as error:  # whatever a module of another package raises
        raise SynthbenchError(blamed(error, f"import of {name}")) from error


#: The folders of modules that were imported from beside a file, by their names.
_beside: dict[str, str] = {}


@functools.lru_cache(maxsize=64)
def _file(path: str, text: bytes) -> Any:
    """The module in a file. Modules beside it can be imported, as when Python runs it."""
    name = f"synthbench_model_{hashlib.sha256(path.encode() + text).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look a class's module up by its name
    linecache.checkcache(path)  # for the lines of errors, if it was another file before
    beside = str(Path(path).parent)
    for other, folder in list(_beside.items()):
        if folder != beside:  # a module of this name may lie beside this file, too
            del _beside[other]
            sys.modules.pop(other, None)
    before = set(sys.modules)
    sys.path.insert(0, beside)
    try:
        exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    except Exception as error:  # whatever the file raises
        del sys.modules[name]
        raise SynthbenchError(blamed(error, f"import of {path}", path)) from error
    finally:
        sys.path.remove(beside)
        for new in sys.modules.keys() - before - {name}:
            file = getattr(sys.modules[new], "__file__", None)
            if file and Path(file).is_relative_to(beside):
                _beside[new] = beside
    return module
