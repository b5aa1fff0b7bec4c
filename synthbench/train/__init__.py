"""Training and validating the papers' models; needs PyTorch, the extra `train`.

Example:
    >>> from synthbench.train import train
    >>> result = train("clusters", model="clusters-dnas", out="run", rows={"test": 4})
    >>> result["splits"]["test"]["separated"]  # clusters that stay apart
    1.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthbench.train.training import train
    from synthbench.train.validation import validate

__all__ = ["train", "validate"]

_MODULES = {"train": "training", "validate": "validation"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
