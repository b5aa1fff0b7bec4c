"""Algorithmic-reasoning benchmarks: deterministic, free of leaks, ready for `datasets`.

    >>> import synthbench
    >>> manifest = synthbench.generate("ctl", seed=0, preset="small")  # in the directory `ctl`
    >>> rows = synthbench.Dataset.open("ctl").rows("forward", "test")
    >>> predictions = {row["id"]: synthbench.solve("ctl", row["text"]) for row in rows}
    >>> synthbench.evaluate("ctl", predictions, split="test").accuracy
    1.0

Importing this package is light: what a name needs is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthbench.auditing import Audit, audit
    from synthbench.dataset import Dataset, Manifest
    from synthbench.errors import SynthbenchError, UsageError
    from synthbench.evaluation import Report, evaluate, score, solve
    from synthbench.generation import generate
    from synthbench.registry import register
    from synthbench.streaming import stream
    from synthbench.tasks.base import Task
    from synthbench.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Dataset",
    "Manifest",
    "Report",
    "SynthbenchError",
    "Task",
    "UsageError",
    "audit",
    "evaluate",
    "generate",
    "register",
    "score",
    "solve",
    "stream",
    "verify",
]

_MODULES = {
    "Audit": "auditing",
    "Dataset": "dataset",
    "Manifest": "dataset",
    "Report": "evaluation",
    "SynthbenchError": "errors",
    "Task": "tasks.base",
    "UsageError": "errors",
    "audit": "auditing",
    "evaluate": "evaluation",
    "generate": "generation",
    "register": "registry",
    "score": "evaluation",
    "solve": "evaluation",
    "stream": "streaming",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
