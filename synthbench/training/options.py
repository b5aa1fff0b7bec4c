"""Options of models and of how a run computes, checked before PyTorch is imported."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from synthbench.checks import check_whole_number
from synthbench.engine.engine import check_workers
from synthbench.errors import ParameterError, UsageError, unknown_name

if TYPE_CHECKING:
    import torch

#: The types that models compute in.
PRECISIONS = ("float32", "bfloat16")


def check_sizes(least: int = 1, **sizes: object) -> None:
    """Check that sizes, named by their option, are whole numbers from `least`.

    Raises:
        UsageError: one is not.
    """
    for name, size in sizes.items():
        check_whole_number(name, size, least)


def check_heads(d_model: int, num_heads: int) -> None:
    """Check that heads divide a state.

    Raises:
        ParameterError: they do not.
        UsageError: one of them is not a whole number from 1.
    """
    check_sizes(d_model=d_model, num_heads=num_heads)
    if d_model % num_heads:
        raise ParameterError(
            f"{num_heads} heads for d_model {d_model}: allowed are the divisors of d_model."
        )


def check_chances(**chances: float) -> None:
    """Check that chances of dropout, named by their option, are from 0 to below 1.

    Raises:
        ParameterError: one is not.
    """
    for name, chance in chances.items():
        if not 0 <= chance < 1:
            raise ParameterError(f"{name} {chance!r}: allowed are numbers from 0 to below 1.")


def check_names(**names: tuple[str, tuple[str, ...]]) -> None:
    """Check names, each given by its option with the allowed names.

    Raises:
        UsageError: a name is not allowed. The nearest allowed name is offered.
    """
    for option, (name, allowed) in names.items():
        if name not in allowed:
            raise unknown_name(option, name, allowed)


@dataclasses.dataclass(frozen=True)
class Setting:
    """The computing of a run. Names are checked at once, the device when it is needed.

    Raises:
        UsageError: a name that no device or precision has, or a number of workers that is not
            allowed.
    """

    device_name: str = "cpu"  # `auto`, `cpu`, `cuda` or `cuda:N`
    precision: str = "float32"  # `float32` or `bfloat16`
    compiled: bool = False  # whether training steps go through `torch.compile`
    progress: bool = True  # whether to show a bar on standard error, if that is a terminal
    threads: int | None = None  # the number of PyTorch's threads on a CPU; None: PyTorch's default
    workers: int = 1  # how many processes make the rows of a stream

    def __post_init__(self) -> None:
        name = self.device_name
        kind, _, number = name.partition(":")
        if name not in ("auto", "cpu", "cuda") and not (kind == "cuda" and number.isdigit()):
            raise UsageError(f"Device {name!r}: allowed are auto, cpu, cuda and cuda:N.")
        check_names(precision=(self.precision, PRECISIONS))
        check_workers(self.workers)

    @functools.cached_property
    def device(self) -> torch.device:
        """The device of the model; `auto` is a GPU if possible.

        Raises:
            UsageError: the device does not exist here.
        """
        import torch

        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        name = self.device_name
        if name == "auto":
            name = "cuda" if there else "cpu"
        kind, _, number = name.partition(":")
        if kind == "cuda" and int(number or 0) >= there:
            words = f"finds {there}" if there else "finds no GPU"
            raise UsageError(f"Device {name!r}: PyTorch {words} here. Try --device cpu.")
        return torch.device(name)

    def autocast(self, cache: bool = True) -> torch.autocast:
        """The context in which the model computes.

        `cache`: whether parameters are cast once. Not where they change in this context, or where
        some results in it have gradients and others do not.
        """
        import torch

        dtype: torch.dtype = getattr(torch, self.precision)
        enabled = dtype is not torch.float32
        return torch.autocast(self.device.type, dtype, enabled=enabled, cache_enabled=cache)
