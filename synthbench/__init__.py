"""Algorithmic-reasoning benchmarks: deterministic, free of leaks, ready for `datasets`.

    >>> import synthbench
    >>> manifest = synthbench.generate("ctl", preset="small")  # in the directory `ctl`
    >>> rows = synthbench.DatasetDirectory.open("ctl").rows("forward", "test")
    >>> predictions = {row["id"]: synthbench.solve("ctl", row["text"]) for row in rows}
    >>> synthbench.evaluate("ctl", predictions, split="test").accuracy
    1.0

Importing this package is light: the modules of a name are loaded at its first use.
"""

import importlib as _importlib

#: The version of this package, which manifests and runs name.
__version__ = "0.3.0"

#: The public names and the modules that define them, as `__init__.pyi` has them for type checkers.
_MODULES = {
    "Audit": "synthbench.auditing.audit",
    "audit": "synthbench.auditing.audit",
    "DatasetDirectory": "synthbench.dataset.dataset",
    "Manifest": "synthbench.dataset.manifest",
    "DatasetError": "synthbench.errors",
    "ParameterError": "synthbench.errors",
    "SynthbenchError": "synthbench.errors",
    "UsageError": "synthbench.errors",
    "evaluate": "synthbench.evaluation.evaluate",
    "Report": "synthbench.evaluation.report",
    "is_held_out": "synthbench.evaluation.single_rows",
    "score": "synthbench.evaluation.single_rows",
    "solve": "synthbench.evaluation.single_rows",
    "generate": "synthbench.generation.generate",
    "load_dataset": "synthbench.generation.load_dataset",
    "probe": "synthbench.probing.probe",
    "export": "synthbench.sharing.export",
    "push": "synthbench.sharing.push",
    "curve": "synthbench.streaming.accuracy_curve",
    "stream": "synthbench.streaming.columns",
    "tokens": "synthbench.streaming.token_streams",
    "Task": "synthbench.tasks.base",
    "list_tasks": "synthbench.tasks.registry",
    "register": "synthbench.tasks.registry",
    "task": "synthbench.tasks.registry",
    "reproduce": "synthbench.training.reproduce",
    "train": "synthbench.training.train",
    "VerificationReport": "synthbench.verification.verify",
    "verify": "synthbench.verification.verify",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
