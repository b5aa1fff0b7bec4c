"""Sections of a dataset card that follow from the manifest and the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from synthbench.dataset.dataset import DatasetDirectory, Manifest, SplitRecord, columns_of
from synthbench.features import Feature, is_image, label_names
from synthbench.tasks.base import Task
from synthbench.tasks.images.licences import Origin
from synthbench.text import printable

#: Rows of each split that are shown, and how much of a value, in characters.
_SHOWN_ROWS, _SHOWN_TEXT = 2, 80
#: More buckets than these are not listed one by one.
_MOST_BUCKETS = 24


def splits_table(task: Task, splits: dict[str, SplitRecord]) -> str:
    """Rows, buckets and digest of each split of a variant."""
    return _table(
        ("split", "rows", task.bucket_name, "digest"),
        (
            (
                name,
                f"{split.rows:,}",
                _buckets(split.buckets),
                f"`{split.digest[:16]}`",
            )
            for name, split in splits.items()
        ),
    )


def _buckets(buckets: Mapping[str, int]) -> str:
    """The rows of each bucket, or of a great many how many there are of what size."""
    if len(buckets) <= _MOST_BUCKETS:
        return ", ".join(f"{_plain(bucket)}: {count:,}" for bucket, count in buckets.items())
    least, most = min(buckets.values()), max(buckets.values())
    first = _plain(next(iter(buckets)))
    return f"{len(buckets)} buckets such as {first}, of {least:,} to {most:,} rows"


def manifest_tables(tables: Mapping[str, Any]) -> Iterator[str]:
    """Plain entries in one table, each nested one in a table of its own."""
    plain = {name: entry for name, entry in tables.items() if not isinstance(entry, dict)}
    nested = {name: entry for name, entry in tables.items() if isinstance(entry, dict)}
    if plain:
        yield _table(("name", "values"), _named_cells(plain))
    for name, entry in nested.items():
        yield _table((_plain(name), "values"), _named_cells(entry))


def _named_cells(entries: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((_code(key), _plain(_cell(one))) for key, one in entries.items())


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_cell(inner)}" for key, inner in value.items())
    return str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


#: Characters that Markdown, a table or HTML would take for markup, and how they are written.
_ESCAPES = str.maketrans(
    {
        **{one: f"\\{one}" for one in "\\`*_[~"},
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
        "|": "&#124;",
    }
)


def _plain(text: str) -> str:
    """A text that somebody else may have chosen, escaped so that it is shown as it is."""
    return printable(text).translate(_ESCAPES)


def _code(text: str) -> str:
    """A text as code in a cell of a table, shown as it is."""
    text = printable(text)
    if "`" in text or "\\" in text:  # these would end a code span, or let `|` end the cell
        return f"<code>{_plain(text)}</code>"
    return f"`{text}`".replace("|", "\\|")


def parameters_table(manifest: Manifest, texts: Iterable[tuple[str, str]]) -> str:
    """Each parameter with its value and its text."""
    values = manifest.parameters
    rows = ((_code(name), _code(setting(values[name])), text) for name, text in texts)
    return _table(("parameter", "value", "meaning"), rows)


def setting(value: Any) -> str:
    """A parameter's value as `--set` takes it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


# Rows.


def first_rows(dataset: DatasetDirectory, task: Task) -> str:
    """The first rows of each split of a variant; images are left to the contact sheet."""
    features = {name: one for name, one in columns_of(task).items() if not is_image(one)}
    lines = []
    for split in dataset.manifest.variants[task.variant]:
        batches = dataset.batches(task.variant, split, list(features), _SHOWN_ROWS)
        for row in next(batches).to_pylist():
            lines.append((split, *(_shown(row[name], one) for name, one in features.items())))
    return _table(("split", *features), lines)


def _shown(value: Any, feature: Feature) -> str:
    """A value as code, a class by its name, shortened if it is long."""
    names = label_names(feature)
    text = names[value] if names else value if isinstance(value, str) else json.dumps(value)
    if len(text) > _SHOWN_TEXT:
        text = f"{text[:_SHOWN_TEXT]}…"
    return _code(text)


# What it is made from, and how far it goes.


def origin_texts(origins: Sequence[Origin]) -> Iterator[str]:
    """The terms of the datasets that rows are made from, and how to cite them."""
    yield (
        "The rows are made from pictures of others, which remain under their terms; whoever "
        "passes the images on has to keep them. What is ours is under Apache-2.0."
    )
    rows = ((one.title, one.terms, one.url) for one in origins)
    yield _table(("source", "licence", "published at"), rows)
    if known := [one.citation for one in origins if one.citation]:
        yield "```bibtex\n" + "\n\n".join(known) + "\n```"


def known_limits(manifest: Manifest, tasks: Sequence[Task]) -> str:
    """What figures on this dataset do not tell, as a list."""
    limits = [
        "The rows are made by a program and ask for one skill. What a model scores here says "
        "little about language, about pictures as they are taken, or about other tasks.",
        "The program is public and the seed stands above, so a model may have been trained on "
        "the rows of these very splits. For rows that nobody has seen choose a seed of your own "
        "and keep it. Where there are few different rows, many come again under every seed.",
    ]
    for task in tasks:
        splits = manifest.variants[task.variant]
        limits += _rough_figures(task, splits) if task is tasks[0] else []
        limits += _uneven_buckets(task, splits, named=len(tasks) > 1)
    return "\n".join(f"- {limit}" for limit in limits)


def _rough_figures(task: Task, splits: Mapping[str, SplitRecord]) -> Iterator[str]:
    """How little an accuracy on the smallest evaluation split says."""
    sizes = {one.name: splits[one.name].rows for one in task.splits if one.evaluation}
    if task.metrics[0] in task.binary_metrics and sizes:
        name = min(sizes, key=lambda name: sizes[name])
        points = 100 * 1.96 * math.sqrt(0.25 / sizes[name])
        yield (
            f"On the {sizes[name]:,} rows of {name} an accuracy is known to within {points:.1f} "
            "points at worst (95% interval)."
        )


def _uneven_buckets(task: Task, splits: Mapping[str, SplitRecord], named: bool) -> Iterator[str]:
    """In which splits some buckets ran out of different rows."""
    for split in task.splits:
        counts = splits[split.name].buckets
        even = len(set(task.bucket_weights(split))) == 1
        if even and min(counts.values()) < 0.9 * max(counts.values()):
            least = min(counts, key=lambda bucket: counts[bucket])
            place = f"{task.variant}/{split.name}" if named else split.name
            yield (
                f"In {place} not all of {task.bucket_name} have equally many rows: {_plain(least)} "
                f"has {counts[least]:,}, because no more different rows were found; another has "
                f"{max(counts.values()):,}. An average over rows is none over {task.bucket_name}."
            )
