"""How a run computes: device, precision, random state, code; and errors of too little memory."""

from __future__ import annotations

import contextlib
import dataclasses
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
from synthbench.errors import SynthbenchError, UsageError
from synthbench.training.options import PRECISIONS, check_computing, check_names
from synthbench.training.recipes.base import Recipe

_CPU = torch.device("cpu")


@dataclasses.dataclass(frozen=True)
class Setting:
    """How a run computes.

    Raises:
        UsageError: an unknown precision.
    """

    device: torch.device = _CPU  # where the model is
    precision: str = "float32"  # `float32` or `bfloat16`
    compiled: bool = False  # whether training steps go through `torch.compile`
    progress: bool = True  # whether to show a bar on standard error, if that is a terminal
    threads: int | None = None  # the number of PyTorch's threads on a CPU; None: PyTorch's default
    workers: int = 1  # how many processes make the rows of a stream

    def __post_init__(self) -> None:
        check_names(precision=(self.precision, PRECISIONS))

    def autocast(self, cache: bool = True) -> torch.autocast:
        """The context in which the model computes.

        `cache`: whether parameters are cast once; not where they change in this context, or where
        some of what is computed in it has gradients and some has not.
        """
        dtype: torch.dtype = getattr(torch, self.precision)
        enabled = dtype is not torch.float32
        return torch.autocast(self.device.type, dtype, enabled=enabled, cache_enabled=cache)


def find_device(name: str) -> torch.device:
    """The device of this name; `auto` is a GPU if there is one.

    Raises:
        UsageError: there is no such device here.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    check_computing(name, PRECISIONS[0])
    kind, _, number = name.partition(":")
    if kind == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(number or 0) >= count:
            there = f"finds {count}" if count else "finds no GPU"
            raise UsageError(f"Device {name!r}: PyTorch {there} here; try --device cpu.")
    return torch.device(name)


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
    """Seed all randomness and, on a CPU, allow only deterministic algorithms; restore both.

    Ours is PyTorch's; layers from elsewhere may draw from NumPy or Python's `random`.
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
