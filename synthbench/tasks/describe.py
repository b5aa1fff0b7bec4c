"""Tasks and rows, shown to people."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.errors import SynthbenchError
from synthbench.tasks.base import Task
from synthbench.tasks.optional_modules import optional_function
from synthbench.tasks.parameters import ranges
from synthbench.tasks.plug_ins import broken_packages, why_fatal
from synthbench.tasks.registry import as_task, is_own, list_tasks, plug_ins, task_class
from synthbench.tasks.scalar import span
from synthbench.text.lines import error_text, one_line
from synthbench.text.tables import Table, stack, styled

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

#: A file in a task's package: the tokens of its prompts, by `python -m benchmarks prompt_tokens`.
TOKEN_COUNTS = "prompt_tokens.json"


def task_facts(name: str) -> dict[str, Any]:
    """Facts of a task, as JSON values: variants, splits, parameters, levels, columns, paper.

    Raises:
        UsageError: there is no such task.
    """
    task = as_task(name)
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
        "levels": {level: _level(task, parameters) for level, parameters in task.levels.items()},
        "prompt_tokens": _prompt_tokens(task),
        "columns": {
            "id": "string",
            **{key: str(column) for key, column in task.columns.items()},
        },
    }


def _level(task: Task, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a level as JSON values."""
    values = dataclasses.replace(task.parameters, **parameters).to_dict()
    return {name: values[name] for name in parameters}


def _prompt_tokens(task: Task) -> dict[str, Any] | None:
    """The counted tokens of a task's levels, None if they were not counted."""
    if not (is_own(task.name) and (file := package_of(task) / TOKEN_COUNTS).is_file()):
        return None
    counted: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return counted


def package_of(task: Task) -> Path:
    """The directory of the module of a task's class."""
    return Path(inspect.getfile(type(task))).parent


def parameter_help(task: Task) -> list[tuple[str, str]]:
    """Name and text of each parameter."""
    fields = dataclasses.fields(task.parameters_type)
    return [(field.name, field.metadata.get("help", "")) for field in fields]


def all_facts() -> list[dict[str, Any]]:
    """`task_facts` of every task; of one that another package has broken, `task` and `fault`."""
    foreign = plug_ins()
    every = []
    for name in list_tasks():
        fault = why_fatal(name) if name in foreign else None
        facts = {"task": name, "fault": fault} if fault else _facts_or_fault(name)
        every.append(facts)
    broken = broken_packages().items()
    return [*every, *({"task": name, "fault": one_line(fault)} for name, fault in broken)]


def _facts_or_fault(name: str) -> dict[str, Any]:
    try:
        return task_facts(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever another package raises
        fault = str(error) if isinstance(error, SynthbenchError) else error_text(error)
        return {"task": name, "fault": one_line(fault)}


def describe_tasks() -> Table:
    """All tasks with variants, splits and default sizes."""
    rows = []
    for facts in all_facts():
        if "fault" in facts:
            rows.append((facts["task"], facts["fault"], "", "", ""))
            continue
        sizes = "\n".join(f"{split['rows']:,}" for split in facts["splits"].values())
        variants, splits = "\n".join(facts["variants"]), "\n".join(facts["splits"])
        rows.append((facts["task"], facts["summary"], variants, splits, sizes))
    head = ("task", "question", "variants", "splits", "rows")
    return Table(head, rows, right=(4,), whole=(2, 3), apart=True)


def describe(name: str) -> Group:
    """Facts of a task: variants, splits, parameters with defaults, levels, columns, paper.

    Raises:
        UsageError: there is no such task.
    """
    facts = task_facts(name)
    parameters = [
        (key, _short_setting(parameter["default"]), parameter["meaning"])
        for key, parameter in facts["parameters"].items()
    ]
    return stack(
        styled(f"{name}: {facts['title']}", "bold"),
        styled(facts["summary"]),
        styled(f"Source: {facts['source']}"),
        "",
        Table(("variant", "what it is"), list(facts["variants"].items())),
        "",
        _splits_table(facts),
        "",
        *([Table(("parameter", "default", "meaning"), parameters), ""] if parameters else []),
        *([_levels_table(facts), ""] if facts["levels"] else []),
        Table(("column", "type"), list(facts["columns"].items())),
    )


def _splits_table(facts: Mapping[str, Any]) -> Table:
    """The splits with their rows, and their buckets if rows are balanced over any."""
    head = ["split", "rows"]
    lines = [[name, f"{split['rows']:,}"] for name, split in facts["splits"].items()]
    buckets = [split["buckets"] for split in facts["splits"].values()]
    if any(of_split != ["all"] for of_split in buckets):
        head.append(facts["bucket_name"])
        lines = [
            [*line, span(ranges(of_split))] for line, of_split in zip(lines, buckets, strict=True)
        ]
    return Table(head, lines, right=(1,))


def describe_levels(facts: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of each level, for `facts` of `task_facts`."""
    shown = {}
    for level, parameters in facts["levels"].items():
        words = [f"{key}={_short_setting(setting)}" for key, setting in parameters.items()]
        shown[level] = "; ".join(words) or "the defaults"
    return shown


def _levels_table(facts: Mapping[str, Any]) -> Table:
    """The levels with their parameters, and the tokens of their prompts if these were counted."""
    lines = [[level, parameters] for level, parameters in describe_levels(facts).items()]
    if (counted := facts["prompt_tokens"]) is None:
        return Table(("level", "parameters"), lines)
    for line in lines:
        tokens = counted["levels"].get(line[0])
        line += ["", ""] if tokens is None else [f"{tokens['prompt']:,}", f"{tokens['answer']:,}"]
    note = (
        f"Tokens: means of {counted['rows']} prompts of test without worked examples, and of their "
        f"answers, by the tokenizer of {counted['tokenizer']}."
    )
    head = ("level", "parameters", "prompt tokens", "answer tokens")
    return Table(head, lines, right=(2, 3), notes=[note])


def draw_row(task: Task, row: Mapping[str, Any]) -> Text:
    """One row for people, in several lines; `str` gives it without colours.

    Tasks may draw their rows themselves (`synthbench.tasks.optional_modules`), as a string or as a
    `rich.text.Text` with colours. Otherwise each column but images has a line, and classes are
    shown by name.
    """
    draw = optional_function(task, "drawing", "draw_row")
    if draw is not None:
        drawn: str | Text = draw(task, row)
        return styled(drawn, whole=True) if isinstance(drawn, str) else drawn
    shown = {name: task.columns[name].show(row[name]) for name in task.plain_columns if name in row}
    width = max(map(len, shown), default=0)
    lines = (f"{name:{width}}  {cell}" for name, cell in shown.items())
    return styled("\n".join(lines), whole=True)


def setting(value: Any) -> str:
    """A parameter's value as `--set` takes it."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _short_setting(value: Any) -> str:
    """The same with consecutive numbers as `1..5`, and with spaces, where terminals break lines."""
    return ", ".join(ranges(value)) if isinstance(value, list | tuple) else setting(value)
