"""The global random states: seeded, compared and restored.

PyTorch's state counts only where PyTorch has been imported, since importing it is slow.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def global_states() -> dict[str, object]:
    """The states by the names of their modules, as values that can be compared."""
    _, key, *rest = np.random.get_state()
    states: dict[str, object] = {
        "np.random": (np.asarray(key).tobytes(), *rest),
        "random": random.getstate(),
    }
    if (torch := _torch()) is not None:
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    return states


def seed_global_states(seed: int) -> None:
    """Seed `random`, `np.random` and, if it has been imported, PyTorch."""
    random.seed(seed)
    np.random.seed(seed)
    if (torch := _torch()) is not None:
        torch.manual_seed(seed)


@contextmanager
def restored_state() -> Iterator[None]:
    """Restore the global random state. Even importing a library such as `rich` may change it."""
    before, torch = (random.getstate(), np.random.get_state()), _torch()
    of_torch = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
        if torch is not None:
            torch.set_rng_state(of_torch)


def _torch() -> Any:
    """PyTorch if it has been imported wholly, or else None."""
    module = sys.modules.get("torch")
    return module if hasattr(module, "get_rng_state") else None
