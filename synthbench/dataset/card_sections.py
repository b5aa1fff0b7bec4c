"""The sections of a dataset card that are made from the manifest and the rows."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.manifest import Manifest, SplitRecord
from synthbench.dataset.parquet import read_batches
from synthbench.tasks.base import Task
from synthbench.tasks.column import Column
from synthbench.tasks.describe import setting
from synthbench.tasks.images.task import Origin
from synthbench.tasks.registry import as_task
from synthbench.tasks.row_ids import columns_of
from synthbench.text.lines import printable
from synthbench.text.tables import Table

#: The fewest rows that are shown, and the most characters of a value.
_SAMPLE_ROWS, _SHOWN_TEXT = 3, 120


def splits_table(task: Task, splits: dict[str, SplitRecord]) -> str:
    """Rows, buckets and digest of each split of a variant."""
    rows = [
        (name, f"{split.rows:,}", _buckets(split.buckets), f"`{split.digest[:16]}`")
        for name, split in splits.items()
    ]
    rows += [(split.name, "0", "left out", "") for split in task.splits if split.name not in splits]
    return Table(("split", "rows", task.bucket_name, "digest"), rows).markdown()


def _buckets(buckets: Mapping[str, int]) -> str:
    """The rows of each bucket. For many buckets, only their number and sizes."""
    if len(buckets) <= 16:
        return ", ".join(f"{_plain(bucket)}: {count:,}" for bucket, count in buckets.items())
    least, most = min(buckets.values()), max(buckets.values())
    first = _plain(next(iter(buckets)))
    size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{len(buckets)} buckets such as {first}, {size} rows each"


def _manifest_tables(tables: Mapping[str, Any]) -> Iterator[str]:
    """Plain entries in one table, each nested one in a table of its own."""
    nested = [(_plain(name), entry) for name, entry in tables.items() if isinstance(entry, dict)]
    plain = {name: entry for name, entry in tables.items() if not isinstance(entry, dict)}
    for name, entries in [("name", plain), *nested]:
        if entries:
            rows = [(_code(key), _plain(_cell(entry))) for key, entry in entries.items()]
            yield Table((name, "values"), rows).markdown()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_cell(inner)}" for key, inner in value.items())
    return str(value)


def _plain(text: str) -> str:
    """A text from outside, escaped: Markdown, tables and HTML show it as it is."""
    escaped = re.sub(r"[\\`*_\[~]", r"\\\g<0>", html.escape(printable(text), quote=False))
    return escaped.replace("|", "&#124;")


def _code(text: str) -> str:
    """A text as code in a cell of a table."""
    text = printable(text)
    if "`" in text or "\\" in text:  # these would end a code span, or let `|` end the cell
        return f"<code>{_plain(text)}</code>"
    return f"`{text}`".replace("|", "\\|")


# Rows, and how to open them.


def sample_table(directory: Path, splits: Mapping[str, SplitRecord], task: Task) -> str:
    """The first rows of each split of a variant, at least three in all, without images."""
    columns = {name: column for name, column in columns_of(task).items() if column.plain}
    each = math.ceil(_SAMPLE_ROWS / len(splits))
    lines = [
        (split, *(_shown(row[name], column) for name, column in columns.items()))
        for split, record in splits.items()
        for row in first_rows(directory, record, list(columns), each)
    ]
    return Table(("split", *columns), lines).markdown()


def first_rows(
    directory: Path, record: SplitRecord, columns: Sequence[str], count: int
) -> list[dict[str, Any]]:
    """The first rows of a split that was just made, as plain Python values."""
    rows: list[dict[str, Any]] = []
    for shard in record.shards:
        batches = read_batches(directory / shard.file, columns, batch_rows=count - len(rows))
        rows += next(batches).to_pylist()
        if len(rows) == count:
            break
    return rows


def _shown(value: Any, column: Column) -> str:
    """A value as code, with the name of a class, shortened if it is long."""
    text = column.show(value).replace("\n", " ")
    if len(text) > _SHOWN_TEXT:
        text = f"{text[:_SHOWN_TEXT]}…"
    return _code(text)


def loading(manifest: Manifest, task: Task) -> str:
    """Python code that loads a variant: from its files, or made on the reader's machine."""
    records = manifest.variants[task.variant]
    rows = {
        name: record.rows
        for name, record in records.items()
        if record.rows != task.split(name).rows
    }
    options = f", rows={rows}" if rows else ""
    return f"""\
```python
import synthbench
from datasets import load_dataset

# These files, from the directory above. Elsewhere put their path, or their name on the Hub.
dataset = load_dataset("./{task.name}", "{task.variant}")

# The same rows without the files, made on this machine on first use.
dataset = synthbench.load_dataset({_python(task)}{options})
```"""


def _python(task: Task) -> str:
    """A task as an argument in Python: its name, if that means the same."""
    return f'"{task.name}"' if task == as_task(task.name) else repr(task)


def held_out_rule(task: Task, names: Iterable[str], remark: str) -> str:
    """The held-out rule: which rows, the remark of the task's prose, and how to check it."""
    splits = [task.split(name) for name in names]
    signs = {split.name: "<" if split.evaluation else ">=" for split in splits}
    code = "\n".join(
        f'all(id {sign} "2" for id in dataset["{name}"]["id"])  # True'
        for name, sign in signs.items()
    )
    last = splits[-1]
    row = f'dataset["{last.name}"][0]'
    code += f"\nsynthbench.is_held_out({_python(task)}, {row})  # {last.evaluation}"
    return f"""\
A row whose `id` begins with `0` or `1` is held out. Evaluation splits have only such rows. Train \
splits and streams never have them, whatever their seed and parameters. So a model trained on \
them, with any seed, has not seen a row that it is tested on. {remark}

```python
{code}
```

In this directory, DuckDB answers true to
`SELECT bool_and(id {signs[last.name]} '2') FROM 'data/{task.variant}/{last.name}-*.parquet'`."""


def split_prose(text: str) -> tuple[str, dict[str, str]]:
    """The first paragraphs of a card's prose, and its sections by their headings."""
    intro, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    parts = (section.partition("\n") for section in sections)
    return intro.strip(), {title.strip(): body.strip() for title, _, body in parts}


def other_than_defaults(manifest: Manifest, task: Task) -> str:
    """A remark above prose with figures of the task's defaults. Empty if these are the defaults."""
    changed = [
        f"{name} {_plain(setting(value))}" for name, value in task.parameters.changed().items()
    ]
    changed += [
        f"{record.rows:,} rows of {name}"
        for name, record in manifest.variants[task.variant].items()
        if record.rows != task.split(name).rows
    ]
    if not changed:
        return ""
    return f"> This describes the task with its defaults. This dataset has {', '.join(changed)}."


def fold(title: str, text: str) -> str:
    """A section that unfolds when its title is clicked."""
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


# The origin of the rows, and the limits of scores on them.


def provenance(manifest: Manifest, command: str, texts: Iterable[tuple[str, str]]) -> str:
    """The recipe of the dataset, with the parameters and tables that it was made with."""
    said = (
        f"Made by synthbench {manifest.synthbench}. The same command makes the same rows on every "
        "machine. `synthbench verify` checks every label with a second solver, then makes the "
        "dataset again and compares."
    )
    values = manifest.parameters
    rows = [(_code(name), _code(setting(values[name])), text) for name, text in texts]
    parameters = Table(("parameter", "value", "meaning"), rows).markdown()
    return "\n\n".join(
        [f"```\n{command}\n```", said, parameters, *_manifest_tables(manifest.tables)]
    )


def origin_texts(origins: Sequence[Origin]) -> Iterator[str]:
    """The terms of the datasets that rows are made from, and how to cite them."""
    yield (
        "The images come from these datasets and stay under their licences, which apply to "
        "the distributor. Everything else is under Apache-2.0."
    )
    rows = [(origin.title, origin.terms, origin.url) for origin in origins]
    yield Table(("source", "licence", "published at"), rows).markdown()
    if known := [origin.citation for origin in origins if origin.citation]:
        yield "```bibtex\n" + "\n\n".join(known) + "\n```"


def known_limits(manifest: Manifest, tasks: Sequence[Task]) -> str:
    """Limits of scores on this dataset, as a list."""
    limits = [
        "The rows are made by a program and ask for one skill: a score says little about "
        "language, natural images or other tasks.",
        "Program and seed are public, so a model may have been trained on these very evaluation "
        "rows. For unseen rows, generate with a seed that you keep secret. Where "
        "few different rows exist, many rows occur again with every seed.",
    ]
    for task in tasks:
        splits = manifest.variants[task.variant]
        limits += _rough_figures(task, splits) if task is tasks[0] else []
        limits += _uneven_buckets(task, splits, named=len(tasks) > 1)
    return "\n".join(f"- {limit}" for limit in limits)


def _rough_figures(task: Task, splits: Mapping[str, SplitRecord]) -> Iterator[str]:
    """The precision of an accuracy on the smallest evaluation split."""
    sizes = {name: record.rows for name, record in splits.items() if task.split(name).evaluation}
    if task.metrics[0] in task.binary_metrics and sizes:
        name = min(sizes, key=sizes.__getitem__)
        points = 100 * 1.96 * math.sqrt(0.25 / sizes[name])
        yield (
            f"On the {sizes[name]:,} rows of {name} an accuracy is known to within {points:.1f} "
            "points at worst (95% interval)."
        )


def _uneven_buckets(task: Task, splits: Mapping[str, SplitRecord], named: bool) -> Iterator[str]:
    """The splits in which some buckets ran out of distinct rows."""
    for split in map(task.split, splits):
        counts = splits[split.name].buckets
        even = len(set(task.bucket_weights(split))) == 1
        few, many = min(counts.values()), max(counts.values())
        if even and few < 0.9 * many and few < many - 1:  # one more is the rest of a division
            least = min(counts, key=counts.__getitem__)
            where = f"{task.variant}/{split.name}" if named else split.name
            yield (
                f"{where} is unbalanced: {task.bucket_name} {_plain(least)} has only "
                f"{few:,} {'row' if few == 1 else 'rows'}, because no more distinct rows exist; "
                f"others have up to {many:,}. The mean over rows is not the mean over buckets."
            )
