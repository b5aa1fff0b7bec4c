"""What the commands share: how results are printed, and options that several take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from synthbench.errors import UsageError


def show(text: str) -> None:
    """Print a result. A reader that has gone, as `head` does, is told no more."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs: dict[str, str] = {}
    for word in given:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise UsageError(f"{option} {word!r}: expected KEY=VALUE.")
        key = key.strip().replace("-", "_") if option == "--set" else key.strip()
        if key in pairs:
            raise UsageError(f"{option} {word!r}: {key} is given already, as {pairs[key]!r}.")
        pairs[key] = value
    return pairs


def row_counts(given: Sequence[str]) -> dict[str, int]:
    """`SPLIT=N` words as rows by split."""
    rows = {}
    for name, text in pairs(given, "--rows").items():
        try:
            rows[name] = int(text.replace("_", ""))
        except ValueError:
            raise UsageError(f"Rows {name}={text!r}: allowed are whole numbers from 1.") from None
    return rows


def set_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--set KEY=VALUE`, as `settings`."""
    return click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the task."
    )(function)


variant_option = click.option("--variant", metavar="V", help="Default: the task's first.")
seed_option = click.option("--seed", type=int, default=0, show_default=True)
