"""Algorithmic-reasoning benchmarks: deterministic, free of leaks, ready for `datasets`.

    >>> import synthbench
    >>> manifest = synthbench.generate("ctl", seed=0, preset="small")  # in the directory `ctl`
    >>> rows = synthbench.DatasetDirectory.open("ctl").rows("forward", "test")
    >>> predictions = {row["id"]: synthbench.solve("ctl", row["text"]) for row in rows}
    >>> synthbench.evaluate("ctl", predictions, split="test").accuracy
    1.0

Importing this package is light: what a name needs is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthbench.auditing.audit import Audit, audit
    from synthbench.dataset.dataset import DatasetDirectory, Manifest
    from synthbench.errors import DatasetError, ParameterError, SynthbenchError, UsageError
    from synthbench.evaluation.evaluate import Report, evaluate, score, solve
    from synthbench.evaluation.held_out import held_out
    from synthbench.generation.cache import load_dataset
    from synthbench.generation.generate import generate
    from synthbench.sharing.export import export
    from synthbench.sharing.push import push
    from synthbench.streaming.rounds import stream
    from synthbench.tasks.base import Task
    from synthbench.tasks.registry import list_tasks, register
    from synthbench.training.train import train
    from synthbench.training.validate import validate
    from synthbench.verification.verify import VerificationReport, verify

from synthbench.version import __version__ as __version__

__all__ = [
    "Audit",
    "DatasetDirectory",
    "DatasetError",
    "Manifest",
    "ParameterError",
    "Report",
    "SynthbenchError",
    "Task",
    "UsageError",
    "VerificationReport",
    "audit",
    "evaluate",
    "export",
    "generate",
    "held_out",
    "list_tasks",
    "load_dataset",
    "push",
    "register",
    "score",
    "solve",
    "stream",
    "train",
    "validate",
    "verify",
]

_MODULES = {
    "Audit": "auditing.audit",
    "DatasetDirectory": "dataset.dataset",
    "DatasetError": "errors",
    "Manifest": "dataset.dataset",
    "ParameterError": "errors",
    "Report": "evaluation.report",
    "SynthbenchError": "errors",
    "Task": "tasks.base",
    "UsageError": "errors",
    "VerificationReport": "verification.verify",
    "audit": "auditing.audit",
    "evaluate": "evaluation.evaluate",
    "export": "sharing.export",
    "generate": "generation.generate",
    "held_out": "evaluation.held_out",
    "list_tasks": "tasks.registry",
    "load_dataset": "generation.cache",
    "push": "sharing.push",
    "register": "tasks.registry",
    "score": "evaluation.evaluate",
    "solve": "evaluation.evaluate",
    "stream": "streaming.rounds",
    "train": "training.train",
    "validate": "training.validate",
    "verify": "verification.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
