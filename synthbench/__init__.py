"""Algorithmic-reasoning benchmarks: deterministic, free of leaks, ready for `datasets`.

    >>> import synthbench
    >>> manifest = synthbench.generate("ctl", seed=0, preset="small")  # in the directory `ctl`
    >>> rows = synthbench.DatasetDirectory.open("ctl").rows("forward", "test")
    >>> predictions = {row["id"]: synthbench.solve("ctl", row["text"]) for row in rows}
    >>> synthbench.evaluate("ctl", predictions, split="test").accuracy
    1.0

Importing this package is light: what a name needs is loaded when it is first used.
"""

import ast
import importlib
import pkgutil
from typing import Any

__version__ = "0.2.0"


def _public_names() -> dict[str, str]:
    """The public names and the modules that define them."""
    stub = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"")
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {one.name: str(line.module) for line in lines for one in line.names}


_MODULES = _public_names()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
