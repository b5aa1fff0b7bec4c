"""The command, the machine and the code that a stored result was made with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.training.comparison import made_with

_GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "losses.json"
#: As in the test of golden trainings: processors round differently.
_TOLERANCE = 1e-4


def origin(comparison: Mapping[str, Any]) -> str:
    """The command, time, machine and code that one comparison was made with, and its notes."""
    runs = [run for line in comparison["models"] for run in line["runs"]]
    notes = [
        f" {note.capitalize()}." for note in dict.fromkeys(run["note"] for run in runs) if note
    ]
    changed = changed_models(comparison)
    if changed:
        notes.append(f" The code of {', '.join(changed)} has changed since.")
    return (
        f"`{comparison['command']}`: training of all runs {comparison['run_seconds']:,.0f} s, "
        f"{made_with(comparison)}.{''.join(notes)}"
    )


def changed_models(comparison: Mapping[str, Any]) -> list[str]:
    """The models whose golden trainings have other losses now than with the code of the runs."""
    golden = json.loads(_GOLDEN.read_text(encoding="utf-8"))["losses"]
    return list(
        dict.fromkeys(
            recipe["model"]
            for line in comparison["models"]
            for recipe in line["recipes"]
            for run in line["runs"]
            if run["golden"] is not None
            and not _close(run["golden"], golden.get(recipe["model"], ()))
        )
    )


def _close(some: Sequence[float], others: Sequence[float]) -> bool:
    return len(some) == len(others) and all(
        math.isclose(figure, other, rel_tol=_TOLERANCE)
        for figure, other in zip(some, others, strict=True)
    )
