"""The gallery: a page for each task, from the package, its cards and the results of `reproduce`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from charts import Curve, line_chart
from pictures import picture, stand_ins
from results import drawn_models, models_sizes, read_comparisons, sizes
from shapes import MOST_CURVES

from synthbench.dataset.card import prose
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.base import Split, Task
from synthbench.tasks.describe import parameter_help
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table
from synthbench.training.comparison import markdown

#: Rows that take more room, in characters or cells, are drawn only if there are no others.
_SHORT = 46
#: At most so many places of an axis have a label each.
_LABELLED = 16
#: So many models may have two curves each.
_FEW = 2
#: Width and height of the largest picture whose letters have 10 pixels on a card of the index.
_CARD = 460, 280
_ROOT = Path(__file__).parents[1]


def pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of the index and of every task's page."""
    comparisons = read_comparisons()
    with stand_ins():
        yield "gallery/index.md", index()
        for name in list_tasks():
            results = [one for one in comparisons if one["task"] == name]
            yield f"gallery/{name}.md", task_page(name, results)


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


def task_page(name: str, results: Sequence[Mapping[str, Any]]) -> str:
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
    if results:
        parts += ["## Baselines and solutions", *map(result_section, results)]
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
    chosen = []
    for split in dict.fromkeys([task.splits[0], task.splits[-1]]):
        rows = sample_rows(task, split.name, 80)
        short = [row for row in rows if _room(row) <= _SHORT]
        shortest = sorted(rows, key=_room)[:1]  # for want of a short one
        hardest = max(short or shortest, key=lambda row: row.get(task.bucket_name, 0))
        chosen.append((split, hardest))
    return chosen


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


# Results.


def result_section(comparison: Mapping[str, Any]) -> str:
    """The table of one run of `reproduce`, and its charts."""
    title = f"### At the sizes of the profile `{comparison['profile']}`"
    if comparison["study"] != "main":
        title += f": {comparison['title']}"
    _, table, *rest = markdown(comparison).strip().split("\n\n")
    # Columns of parameters, steps and seconds would leave no room for the figures.
    table = re.sub(r"^(\|.*?)(?: [^|\n]* \|){3}$", r"\1", table, flags=re.MULTILINE)
    size = f"{sizes(comparison)} {models_sizes(comparison)}"
    return "\n\n".join([title, size, table, *rest, *charts(comparison)])


def charts(comparison: Mapping[str, Any]) -> Iterator[str]:
    """Accuracy by size, depth or length where it was measured, else by training step.

    Models that have not learned their training rows are not drawn.
    """
    task = make_task(comparison["task"], **comparison["data"]["parameters"])
    fitted = drawn_models(comparison)
    variants = dict.fromkeys(line["variant"] for line in comparison["models"])
    for variant in variants:
        models = [line for line in fitted if line["variant"] == variant]
        where = f", {variant}" if len(variants) > 1 else ""
        # So many curves can be told apart.
        parts = [models[n : n + MOST_CURVES] for n in range(0, len(models), MOST_CURVES)]
        drawn = "".join(filter(None, (_chart(task, part, where) for part in parts)))
        if drawn:
            yield f'<div id="{curve_anchor(comparison, variant)}">{drawn}</div>'


def _chart(task: Task, models: Sequence[Mapping[str, Any]], where: str) -> str | None:
    """The curves of a few models; None if nothing was measured that makes a curve."""
    if series := by_bucket(models) or by_size(models):
        ticks = sorted({x for (curve,) in series.values() for x, _ in curve})
        _, longest = ends(task, task.splits[0])
        trained_to = longest if longest < ticks[-1] else None
        shown = ticks if len(ticks) <= _LABELLED else ()
        kind = task.bucket_name.replace("_", " ")
        return line_chart(series, kind + where, ticks=shown, trained_to=trained_to)
    if series := by_step(models):
        return line_chart(series, f"step of training{where}")
    return None


def curve_anchor(comparison: Mapping[str, Any], variant: str) -> str:
    """The anchor of a variant's curves on the task's page."""
    return f"curves-{comparison['profile']}-{comparison['study']}-{variant}"


@functools.cache
def ends(task: Task, split: Split) -> tuple[float, float]:
    """The least and the greatest depth, length or size of a split's rows."""
    rows = sample_rows(task, split.name, len(split.buckets))  # one of each bucket
    places = [row[task.bucket_name] for row in rows]
    return min(places), max(places)


def by_size(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The measures that are named after a size, such as `6x6`."""
    series: dict[str, list[Curve]] = {}
    for model in models:
        points = [
            (float(size[1]), figure["mean"])
            for name, figure in model["measures"].items()
            if (size := re.fullmatch(r"(\d+)x\1", name))
        ]
        if points:
            series[model["model"]] = [points]
    return series


def by_bucket(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The score of each depth or length, over all evaluation splits, where it was noted."""
    return {
        model["model"]: [sorted((float(key), score) for key, score in model["by_bucket"].items())]
        for model in models
        if model.get("by_bucket")
    }


def by_step(models: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """The accuracy that training watched, of every run; of few models also that on train."""
    series: dict[str, list[Curve]] = {}
    for model in models:
        for split in ("test", "validation", *["train"] * (len(models) <= _FEW)):
            curves = [
                [(one["step"], one["accuracy"]) for one in run["curve"] if one["split"] == split]
                for run in model["runs"]
            ]
            if kept := [curve for curve in curves if curve]:
                series[f"{model['model']}, {split}"] = kept
    return series
