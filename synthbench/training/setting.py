"""Random state, code and machine of a run, and errors of too little memory."""

from __future__ import annotations

import contextlib
import functools
import platform
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from synthbench.engine.engine import usable_cores
from synthbench.errors import SynthbenchError
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe


def random_state() -> tuple[Any, ...]:
    """The state of PyTorch's default generator, of NumPy's and of Python's."""
    return torch.get_rng_state(), np.random.get_state(), random.getstate()


def set_random_state(state: tuple[Any, ...]) -> None:
    """Go back to a state of `random_state`."""
    torch.set_rng_state(state[0])
    np.random.set_state(state[1])
    random.setstate(state[2])


@contextlib.contextmanager
def isolated(seed: int, setting: Setting) -> Iterator[None]:
    """Seed all randomness and, on a CPU, allow only deterministic algorithms. Restore both.

    Ours is PyTorch's. Layers from elsewhere may draw from NumPy or Python's `random`.
    """
    mode = torch.get_deterministic_debug_mode()
    threads = torch.get_num_threads()
    device = setting.device
    outside = random_state()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % 2**32)
        if setting.compiled:  # the compiler has to know as well, but its import takes two seconds
            torch.use_deterministic_algorithms(mode > 0 or device.type == "cpu")
        elif device.type == "cpu":
            torch.set_deterministic_debug_mode("error")
        torch.set_num_threads(setting.threads or threads)
        try:
            yield
        finally:
            set_random_state(outside)
            if setting.compiled:
                torch.use_deterministic_algorithms(mode > 0)
            torch.set_deterministic_debug_mode(mode)
            torch.set_num_threads(threads)


@contextlib.contextmanager
def memory_errors(recipe: Recipe, setting: Setting) -> Iterator[None]:
    """Turn errors about memory into one line that says what to try.

    Raises:
        SynthbenchError: there is too little memory.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        short = isinstance(error, torch.OutOfMemoryError | MemoryError)
        if not short and "allocate memory" not in str(error):
            raise
        half = max(1, recipe.batch_size // 2)
        hint = "" if setting.precision == "bfloat16" else " or --precision bfloat16"
        raise SynthbenchError(
            f"Too little memory on {setting.device} for model {recipe.name!r} with batch size "
            f"{recipe.batch_size}: try --recipe batch_size={half}{hint}."
        ) from error


@functools.cache  # the code in memory stays that of the first call
def commit() -> str | None:
    """The Git commit of the checkout that this package is imported from, None outside a checkout.

    It ends in `-dirty` if a file differs from the commit.
    """
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    describe = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run([*describe, "--abbrev=40"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("ascii").strip()


def machine(setting: Setting) -> dict[str, Any]:
    """The machine and libraries of a run, as JSON values."""
    gpu = setting.device.type == "cuda"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": usable_cores(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name(setting.device) if gpu else None,
    }


def _processor() -> str:
    """The processor's name, or at least its kind."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
