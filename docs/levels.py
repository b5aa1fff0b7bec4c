"""The table of levels in the guide: parameters and a question for each task and level."""

from __future__ import annotations

from synthbench.llm.prompts import why_not_askable
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.describe import describe_levels, task_facts
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task

#: The most characters of a question.
WIDTH = 40


def levels_table() -> str:
    """Every task with levels, in Markdown: parameters and a test row of each level."""
    lines = ["| task | level | parameters | a test row |", "| --- | --- | --- | --- |"]
    for name in list_tasks():
        if why_not_askable(make_task(name)) is None:
            for level, parameters in describe_levels(task_facts(name)).items():
                question = _question(name, level)
                lines.append(f"| `{name}` | `{level}` | {parameters} | `{question}` |")
    return "\n".join(lines)


def _question(name: str, level: str) -> str:
    task = make_task(name, level=level)
    (row,) = sample_rows(task, "test", 1)
    shown = str(task.columns["text"].show(row["text"])).replace("\n", " ")
    short = shown if len(shown) <= WIDTH else shown[:WIDTH].rstrip() + "..."
    return short.replace("|", "\\|")
