"""The gallery: a page for each task, from the package and the cards."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from pictures import picture, stand_ins

from synthbench.dataset.card import prose
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.base import Split, Task
from synthbench.tasks.describe import parameter_help
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table

#: Rows that take more room, in characters or cells, are drawn only if there are no others.
_SHORT = 46
#: Width and height of the largest picture whose letters have 10 pixels on a card of the index.
_CARD = 460, 280
_ROOT = Path(__file__).parents[1]


def pages(with_results: Container[str]) -> Iterator[tuple[str, str]]:
    """Path and Markdown of the index and of every task's page.

    Args:
        with_results: the tasks that have a page of results.
    """
    with stand_ins():
        yield "gallery/index.md", index()
        for name in list_tasks():
            yield f"gallery/{name}.md", task_page(name, has_results=name in with_results)


def index() -> str:
    """All tasks as cards with a picture."""
    cards = []
    for name in list_tasks():
        task = make_task(name)
        drawn = card_picture(task)
        cards.append(
            f'<a href="{name}.html"><span class="picture">{drawn}</span>'
            f"<strong>{escape(task.title)}</strong><small>{code(task.summary)}</small></a>"
        )
    return (
        "---\nhide: [toc]\n---\n\n# Gallery\n\n"
        "Each page shows rows of a task, how its splits differ, what makes it hard, "
        "what shortcuts score, and how far the papers' models come.\n\n"
        f'<div class="gallery">{"".join(cards)}</div>\n\n{overview()}\n'
    )


def card_picture(task: Task) -> str:
    """The picture of a row of the first split that is drawn large enough on a card."""
    rows = sample_rows(task, task.splits[0].name, 80)
    rows.sort(key=lambda row: -row.get(task.bucket_name, 0))
    for drawn in (picture(task, row) for row in [shown_rows(task)[0][1], *rows]):
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
        if size is None or (float(size[1]) <= _CARD[0] and float(size[2]) <= _CARD[1]):
            return drawn
    return drawn


def overview() -> str:
    """All tasks in a table: variants, what they are balanced over, and sizes."""
    head = ["task", "variants", "balanced over", "trained on → tested on", "rows a variant"]
    rows = []
    for name in list_tasks():
        task = make_task(name)
        several = len(task.splits[-1].buckets) > 1
        balanced = task.bucket_name.replace("_", " ") if several else "nothing"
        size = f"{sum(split.rows for split in task.splits):,}"
        link = f"[`{name}`]({name}.md)"
        rows.append([link, f"{len(task.variants)}", balanced, _spans(task), size])
    return Table(head, rows, right=[1, 4]).markdown()


def _spans(task: Task) -> str:
    """The first and last bucket of train and of test. Empty if both splits have the same."""
    train, test = task.splits[0].buckets, task.splits[-1].buckets
    spans = [dict.fromkeys((min(buckets), max(buckets))) for buckets in (train, test)]
    # A bucket of two numbers, such as pairs and length, is written as thousands and units.
    words = ["–".join("/".join(_numbers(bucket)) for bucket in span) for span in spans]
    return "" if train == test else " → ".join(words)


def _numbers(bucket: int) -> list[str]:
    length, number = divmod(bucket, 1000)
    return [f"{number}", f"{length}"] if length else [f"{number}"]


def _papers(name: str) -> str:
    """Links to a task's papers, as README has them."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    links = dict(re.findall(r"\[(\d+)\] (\[[^]]+\]\([^)]+\))", readme))
    (numbers,) = re.findall(rf"`{name}` \[([\d, ]+)\]", readme)
    return ", ".join(links[number] for number in numbers.split(", "))


def code(words: str) -> str:
    """Words as HTML, with what stands in backticks as code."""
    return re.sub(r"`(.*?)`", r"<code>\1</code>", escape(words))


def task_page(name: str, *, has_results: bool) -> str:
    """Everything about one task."""
    task = make_task(name)
    hard, _, details = prose(task).strip().partition("\n## ")
    parts = [
        f"---\nsearch:\n  boost: 4\n---\n\n# {_title(task)}",
        f"*{task.summary}*",
        hard.strip(),
        f"Source: {task.source}: {_papers(name)}.",
        "## Two rows",
        *(variant_rows(name, variant, text) for variant, text in task.variants.items()),
        "## Splits",
        splits_table(task),
        "## Make it",
        commands(task),
    ]
    if has_results:
        parts += [
            "## Baselines and solutions",
            f"[Results of `{name}`](../results/tasks/{name}.md) has the figures and curves of "
            "trained models, beside those of the paper.",
        ]
    parts += [f"## {details}", "## Parameters and columns", parameters_table(task), columns(task)]
    return "\n\n".join(parts) + "\n"


def _title(task: Task) -> str:
    """The title of a task's page, with its name unless the title has it."""
    has_name = task.name in task.title.lower().replace(" ", "-")
    return task.title if has_name else f"{task.title} ({task.name})"


# Rows.


def variant_rows(name: str, variant: str, summary: str) -> str:
    """A variant's picture: one row of its first split, and one of its last."""
    task = make_task(name, variant)
    heading = f"**{variant}.** {summary}\n\n" if len(task.variants) > 1 else ""
    figures = "".join(
        f"<figure>{picture(task, row)}<figcaption>{caption(task, split, row)}</figcaption></figure>"
        for split, row in shown_rows(task)
    )
    return f'{heading}<div class="rows">{figures}</div>'


@functools.cache
def shown_rows(task: Task) -> list[tuple[Split, dict[str, Any]]]:
    """A row of the first split and one of the last; of the hardest bucket that is still short."""
    picks = []
    for split in dict.fromkeys([task.splits[0], task.splits[-1]]):
        rows = sample_rows(task, split.name, 80)
        short = [row for row in rows if _room(row) <= _SHORT]
        shortest = sorted(rows, key=_room)[:1]  # for want of a short one
        hardest = max(short or shortest, key=lambda row: row.get(task.bucket_name, 0))
        picks.append((split, hardest))
    return picks


def _room(row: Mapping[str, Any]) -> int:
    """How much room a row takes: characters of its text, cells of its grid."""
    return len(str(row.get("text", ""))) + int(row.get("size", 0)) ** 2


def caption(task: Task, split: Split, row: Mapping[str, Any]) -> str:
    """A row's split, text and label."""
    words = [f"From <em>{split.name}</em>"]
    if task.bucket_name in row:
        words[0] += f" ({task.bucket_name.replace('_', ' ')} {row[task.bucket_name]})"
    if "text" in row:
        label = task.answer.show(row["label"])
        words.append(f": <code>{escape(row['text'])}</code> → <code>{escape(str(label))}</code>")
    return "".join(words)


# Tables.


def splits_table(task: Task) -> str:
    """The splits with their sizes in the paper, and what each is balanced over."""
    head = ["split", "rows", task.bucket_name.replace("_", " ")]
    rows = []
    for split in task.splits:
        rows.append([split.name, f"{split.rows:,}", _span(task, split)])
    return Table(head, rows, right=[1]).markdown()


def _span(task: Task, split: Split) -> str:
    labels = [task.bucket_label(bucket) for bucket in split.buckets]
    return ", ".join(labels) if len(labels) <= 10 else f"{labels[0]} … {labels[-1]}"


def commands(task: Task) -> str:
    """How to look at the task, make it and open it."""
    variant = f' "{task.variant}",' if len(task.variants) > 1 else ""
    every = " --variant all" if len(task.variants) > 1 else ""
    return (
        f"```bash\nsynthbench preview {task.name} -n 2\nsynthbench generate {task.name}{every}\n"
        f"synthbench verify {task.name}\n```\n\n"
        f"```python\nfrom datasets import load_dataset\n\n"
        f'test = load_dataset("{task.name}",{variant} split="{task.splits[-1].name}")\n```'
    )


def parameters_table(task: Task) -> str:
    """Every parameter, its default and what it means."""
    defaults = task.parameters.to_dict()
    rows = [[f"`{key}`", f"`{_plain(defaults[key])}`", text] for key, text in parameter_help(task)]
    if not rows:
        return "The task has no parameters."
    return Table(["parameter", "default", "meaning"], rows).markdown()


def columns(task: Task) -> str:
    """Every column and its type."""
    rows = [["`id`", "string"]]
    rows += [[f"`{key}`", str(column)] for key, column in task.columns.items()]
    return Table(["column", "type"], rows).markdown()


def _plain(value: Any) -> str:
    return (", ".join(map(str, value)) if isinstance(value, list) else str(value)) or '""'
