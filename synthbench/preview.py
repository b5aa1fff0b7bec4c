"""Tasks and rows as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.dataset.card import parameter_help
from synthbench.dataset.files import usable_path
from synthbench.engine.engine import Engine
from synthbench.errors import UsageError, check_whole_number
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Task
from synthbench.tasks.companions import companion
from synthbench.tasks.features import Feature, is_image, label_names
from synthbench.tasks.registry import list_tasks, make_task, task_class
from synthbench.text import Table, printable, stack, styled

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


def task_facts(name: str) -> dict[str, Any]:
    """What a task is, as JSON values: variants, splits, parameters, columns, paper.

    Raises:
        UsageError: there is no such task.
    """
    task = make_task(name)
    defaults = task.parameters.to_dict()
    return {
        "task": task.name,
        "title": task.title,
        "summary": task.summary,
        "source": task.source,
        "variants": dict(task_class(name).variants),
        "bucket_name": task.bucket_name,
        "splits": {
            split.name: {
                "rows": split.rows,
                "buckets": [task.bucket_label(bucket) for bucket in split.buckets],
            }
            for split in task.splits
        },
        "parameters": {
            key: {"default": defaults[key], "meaning": text} for key, text in parameter_help(task)
        },
        "columns": {
            "id": "string",
            **{key: type_name(feature) for key, feature in task.columns.items()},
        },
    }


def describe_tasks() -> Table:
    """All tasks with variants, splits and default sizes."""
    rows = []
    for facts in map(task_facts, list_tasks()):
        sizes = "\n".join(f"{split['rows']:,}" for split in facts["splits"].values())
        variants, splits = "\n".join(facts["variants"]), "\n".join(facts["splits"])
        rows.append((facts["task"], facts["summary"], variants, splits, sizes))
    return Table(("task", "question", "variants", "splits", "rows"), rows, right=(4,), apart=True)


def describe(name: str) -> Group:
    """What a task is: variants, splits, parameters with their defaults, columns, paper.

    Raises:
        UsageError: there is no such task.
    """
    facts = task_facts(name)
    splits = [
        (split, f"{of_split['rows']:,}", _span(of_split["buckets"]))
        for split, of_split in facts["splits"].items()
    ]
    parameters = [
        (key, _text(one["default"]), one["meaning"]) for key, one in facts["parameters"].items()
    ]
    return stack(
        styled(f"{name}: {facts['title']}", "bold"),
        styled(facts["summary"]),
        styled(f"Source: {facts['source']}"),
        "",
        Table(("variant", "what it is"), list(facts["variants"].items())),
        "",
        Table(("split", "rows", facts["bucket_name"]), splits, right=(1,)),
        "",
        Table(("parameter", "default", "meaning"), parameters),
        "",
        Table(("column", "type"), list(facts["columns"].items())),
    )


def preview(
    name: str,
    variant: str | None = None,
    rows: int = 5,
    seed: int = 0,
    split: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
) -> Text:
    """Draw the first rows of a task's split.

    Args:
        name: the task.
        variant: one of its variants; default: the first.
        rows: how many rows.
        seed: the seed.
        split: one of its splits; default: the first.
        parameters: parameters that differ from the defaults.
        out: the PNG file that a contact sheet goes to, for tasks made from images; default:
            `NAME.png`.

    Returns:
        The drawn rows, or for images where the contact sheet lies.

    Raises:
        UsageError: a name that does not exist, less than one row, a place for images of a task
            that has none, or a place whose name does not end in `.png`.
        ParameterError: impossible parameters.
    """
    task = make_task(name, variant, parameters, seed)
    draw_sheet = companion(task, "drawing", "draw_sheet")
    if out is not None and draw_sheet is None:
        raise UsageError(f"Output {str(out)!r}: {name} has no images to draw; leave it out.")
    sheet = usable_path("Output", out or f"{name}.png")
    if sheet.suffix.lower() != ".png":
        raise UsageError(
            f"Output {str(out)!r}: a contact sheet is a PNG image; allowed are names that end in "
            f".png, such as {f'{name}.png'!r}."
        )
    drawn = sample_rows(task, split or task.splits[0].name, rows)
    if draw_sheet is not None:
        draw_sheet(task, drawn, sheet)
        place = printable(str(sheet))
        return styled(f"{len(drawn)} rows of {name} {task.variant} drawn in {place}", whole=True)
    return styled("\n\n", whole=True).join(draw_row(task, row) for row in drawn)


def draw_row(task: Task, row: Mapping[str, Any]) -> Text:
    """One row as a person reads it, several lines; `str` gives it without colours.

    Tasks may draw it themselves (`synthbench.tasks.companions`), as a string or as a
    `rich.text.Text` with colours; otherwise this shows one column a line, classes by their names,
    without images.
    """
    draw = companion(task, "drawing", "draw_row")
    if draw is not None:
        drawn: str | Text = draw(task, row)
        return styled(drawn, whole=True) if isinstance(drawn, str) else drawn
    shown = {}
    for name, feature in task.columns.items():
        if name in row and not is_image(feature):
            names = label_names(feature)
            shown[name] = row[name] if names is None else names[row[name]]
    width = max(map(len, shown), default=0)
    lines = (f"{name:{width}}  {cell}" for name, cell in shown.items())
    return styled("\n".join(lines), whole=True)


def sample_rows(task: Task, split: str, rows: int) -> list[dict[str, Any]]:
    """Rows of one split, spread over its buckets, as plain Python values without ids.

    Raises:
        UsageError: there is no such split, or less than one row is asked for.
    """
    check_whole_number("Rows", rows, least=1)
    chosen = task.split(split)
    sizes = {one.name: rows if one is chosen or one == chosen else 1 for one in task.splits}
    plan = make_plan(task, sizes, at_most=True)
    sampler = SplitSampler(task, chosen, plan, Engine(None, 1))
    drawn: list[dict[str, Any]] = []
    for batch in sampler.rounds():
        rendered = task.render(batch.rows().block)
        columns = {key: column.to_pylist() for key, column in rendered.items()}
        drawn += [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]
    return drawn


def type_name(feature: Feature) -> str:
    """A feature in words, such as `List(int8)` or `ClassLabel(0, 1, 2)`."""
    if isinstance(feature, list):
        return f"List({type_name(feature[0])})"
    names = label_names(feature)
    if names is not None:
        return f"ClassLabel({_span(names)})"
    if is_image(feature):
        return "Image"
    if "_type" not in feature:
        fields = ", ".join(f"{key}: {type_name(inner)}" for key, inner in feature.items())
        return f"{{{fields}}}"
    return str(feature["dtype"])


def _span(names: list[str]) -> str:
    """A list of names, long ones by their ends."""
    return ", ".join(names) if len(names) <= 10 else f"{names[0]}, {names[1]} .. {names[-1]}"


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
