"""Checks of the numbers that models are built from."""

from __future__ import annotations

from synthbench.errors import ParameterError


def check_sizes(least: int = 1, **sizes: object) -> None:
    """Make sure that sizes are whole numbers that are large enough.

    Args:
        least: the smallest number that is allowed.
        sizes: the sizes by option.

    Raises:
        ParameterError: a size is not; the text names the option.
    """
    for name, size in sizes.items():
        if type(size) is not int or size < least:  # True is no number
            raise ParameterError(f"{name} {size!r}: allowed are whole numbers from {least}.")


def check_chances(**chances: float) -> None:
    """Make sure that chances of dropout are from 0 to below 1.

    Args:
        chances: the chances by option.

    Raises:
        ParameterError: a chance is not; the text names the option.
    """
    for name, chance in chances.items():
        if not 0 <= chance < 1:
            raise ParameterError(f"{name} {chance!r}: allowed are numbers from 0 to below 1.")
