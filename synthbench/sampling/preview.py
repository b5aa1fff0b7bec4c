"""The first rows of a split, drawn before any dataset is made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from synthbench.checks import check_whole_number, usable_path
from synthbench.engine.engine import Engine
from synthbench.errors import UsageError
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Task
from synthbench.tasks.describe import draw_row
from synthbench.tasks.optional_modules import optional_function
from synthbench.tasks.registry import as_task
from synthbench.text.lines import printable
from synthbench.text.tables import styled

if TYPE_CHECKING:
    from rich.text import Text


def sample_rows(task: Task, split: str, rows: int) -> list[dict[str, Any]]:
    """`sample_table` as plain Python values."""
    drawn: list[dict[str, Any]] = sample_table(task, split, rows).to_pylist()
    return drawn


def sample_table(task: Task, split: str, rows: int) -> pa.Table:
    """Rows of one split, spread over its buckets, without ids.

    Raises:
        UsageError: an unknown split, or less than one row is asked for.
    """
    check_whole_number("Rows", rows, least=1)
    sampled = task.split(split)
    sizes = {other.name: rows if other == sampled else 1 for other in task.splits}
    plan = make_plan(task, sizes, at_most=True)
    sampler = SplitSampler(task, sampled, plan, Engine(None, 1))
    rounds = [pa.table(task.rendered(part.rows().block)) for part in sampler.rounds()]
    return pa.concat_tables(rounds)


def preview(
    task: str | Task,
    *,
    rows: int = 5,
    split: str | None = None,
    out: str | Path | None = None,
) -> Text:
    """Draw the first rows of a task's split.

    Args:
        task: the task, or its name for the task with its defaults.
        rows: how many rows.
        split: one of its splits. Default: the first.
        out: the PNG file that a contact sheet goes to, for tasks made from images. Default:
            the task's name with `.png`.

    Returns:
        The drawn rows. For images, where the contact sheet is.

    Raises:
        UsageError: an unknown name, less than one row, `out` for a task without images, or an `out`
            that does not end in `.png`.
    """
    task = as_task(task)
    name = task.name
    draw_sheet = optional_function(task, "drawing", "draw_sheet")
    if out is not None and draw_sheet is None:
        raise UsageError(f"Output {str(out)!r}: {name} has no images to draw. Leave it out.")
    sheet = usable_path("Output", out or f"{name}.png")
    if sheet.suffix.lower() != ".png":
        raise UsageError(
            f"Output {str(out)!r}: a contact sheet is a PNG image. Allowed are names that end in "
            f".png, such as {f'{name}.png'!r}."
        )
    drawn = sample_rows(task, split or task.splits[0].name, rows)
    if draw_sheet is not None:
        draw_sheet(task, drawn, sheet)
        file = printable(str(sheet))
        return styled(f"{len(drawn)} rows of {name} {task.variant} drawn in {file}", whole=True)
    return styled("\n\n", whole=True).join(draw_row(task, row) for row in drawn)
