"""A page of results for each task, and the meaning of a pass and a fail of every task."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curves import charts
from gallery import code
from overview import learned_figures
from results import contrasts_section, section

from synthbench.dataset.card import prose
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task

Comparison = Mapping[str, Any]
_MEANING = re.compile(
    r"^\*\*A pass means:\*\* (.*?)\. \*\*A fail means:\*\* (.*?)\.$", re.MULTILINE
)


def meaning(task: str) -> tuple[str, str]:
    """The meaning of a pass and of a fail, from the task's card."""
    match = _MEANING.search(prose(make_task(task)))
    if match is None:
        raise ValueError(
            f"cards/{task}.md lacks a line '**A pass means:** ... **A fail means:** ...'"
        )
    return match[1], match[2]


def meanings(comparisons: Sequence[Comparison]) -> str:
    """All tasks in HTML: a pass, a fail, and the figures of models that learned their rows."""
    of_task = {task: list(group) for task, group in itertools.groupby(comparisons, _task)}
    rows = []
    for task in list_tasks():
        page = f"tasks/{task}.html" if task in of_task else f"../gallery/{task}.html"
        figures = sorted(set(learned_figures(of_task.get(task, ()))))
        span = " to ".join(dict.fromkeys(f"{figure:.2f}" for figure in figures[:1] + figures[-1:]))
        cells = [f'<a href="{page}"><code>{task}</code></a>', *map(code, meaning(task)), span]
        rows.append("".join(f"<td>{cell}</td>" for cell in cells))
    names = "task", "a pass means", "a fail means", "learned models"
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="meanings"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def pages(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, str]]:
    """Path and Markdown of the page of every task that has results."""
    for task, group in itertools.groupby(comparisons, _task):
        yield f"results/tasks/{task}.md", page(task, list(group))


def page(task: str, comparisons: Sequence[Comparison]) -> str:
    """The results of a task: the meaning of a figure, then each study with curves and table."""
    passed, failed = meaning(task)
    parts = [
        f"---\nhide: [toc]\n---\n\n# Results of {task}",
        f"**A pass means:** {passed}.\n\n**A fail means:** {failed}.",
        f"[Rows and splits](../../gallery/{task}.md) · "
        "[how to read the figures](../index.md#how-to-read-the-figures) · "
        "[differences from the papers](../differences.md). Curves are of models that have learned "
        "their training rows.",
    ]
    for comparison in comparisons:
        title, *rest = section(comparison)
        parts += [title, *charts(comparison), *rest]
    if contrasts := contrasts_section(comparisons):
        fold = '<details markdown="1"><summary>The paper\'s contrasts</summary>'
        parts += ["## Contrasts", fold, contrasts, "</details>"]
    return "\n\n".join(parts) + "\n"


def _task(comparison: Comparison) -> str:
    return str(comparison["task"])
