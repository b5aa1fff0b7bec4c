"""The dataset card: front matter for Hugging Face, the task's prose, and the manifest's content."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import re
import shlex
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from synthbench.dataset.card_sections import (
    first_rows,
    fold,
    held_out_rule,
    known_limits,
    loading,
    origin_texts,
    other_than_defaults,
    provenance,
    sample_table,
    split_prose,
    splits_table,
)
from synthbench.dataset.digest import whole_chunks
from synthbench.dataset.files import write_text
from synthbench.dataset.manifest import Manifest
from synthbench.tasks.base import Task
from synthbench.tasks.describe import parameter_help, setting
from synthbench.tasks.features import card_features
from synthbench.tasks.images.task import ImageTask, Origin
from synthbench.tasks.optional_modules import optional_function, text_beside
from synthbench.tasks.row_ids import columns_of

LICENSE = "apache-2.0"
#: Sections of a card's prose with figures of the task's defaults.
_OF_DEFAULTS = ("Results", "How rows are drawn")


def write_card(directory: Path, manifest: Manifest, tasks: Sequence[Task]) -> None:
    """Write `README.md` of a dataset directory, with a contact sheet for each variant with images.

    Args:
        directory: the dataset directory, with its shards in place.
        manifest: its manifest.
        tasks: the tasks that made its variants.

    Raises:
        SynthbenchError: the card cannot be written.
    """
    front = _yaml(_front_matter(manifest, tasks))
    samples = [_sample(directory, manifest, task) for task in tasks]
    text = f"---\n{front}---\n\n{_body(manifest, tasks, samples)}"
    write_text(directory / "README.md", text)


def _yaml(values: Any) -> str:
    """Values as YAML in which all characters but line breaks are printable, as in the body.

    Names of classes may have characters that change how the text around them is shown, such as
    U+202E, which reverses it.
    """
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
        """Puts texts in double quotes, in which characters can be escaped, if they need it."""

    def represent(dumper: Dumper, text: str) -> Any:
        style = None if text.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    dumped = yaml.dump(values, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return "".join(
        character if character.isprintable() or character == "\n" else f"\\U{ord(character):08X}"
        for character in dumped
    )


def _sample(directory: Path, manifest: Manifest, task: Task) -> str:
    """A variant's first rows: a picture of images (if Pillow is installed), otherwise a table."""
    splits = manifest.variants[task.variant]
    draw_sheet = optional_function(task, "drawing", "draw_sheet") if task.image_column else None
    if draw_sheet is None or importlib.util.find_spec("PIL") is None:
        return sample_table(directory, splits, task)
    file = f"sheets/{task.variant}.png"
    (directory / file).parent.mkdir(exist_ok=True)
    rows = first_rows(directory, next(iter(splits.values())), list(task.columns), 10)
    draw_sheet(task, rows, directory / file)
    return f"![Rows of {task.variant}]({file})"


def _front_matter(manifest: Manifest, tasks: Sequence[Task]) -> dict[str, Any]:
    rows = sum(split.rows for splits in manifest.variants.values() for split in splits.values())
    origins = origins_of(tasks)
    licenses = list(dict.fromkeys([LICENSE, *(origin.license for origin in origins)]))
    return {
        "pretty_name": tasks[0].title,
        "license": licenses if origins else LICENSE,
        "language": ["en"],
        "annotations_creators": ["machine-generated"],
        "language_creators": ["machine-generated"],
        "multilinguality": ["monolingual"],
        "source_datasets": ["extended" if origins else "original"],
        "task_categories": list(tasks[0].categories),
        "size_categories": [_size_category(rows)],
        "tags": ["synthbench", "synthetic", "benchmark", "algorithmic-reasoning", manifest.task],
        **loading_values(manifest, tasks),
    }


#: The Hub's size categories: of up to three digits, of four, and so on.
_SIZES = (
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B",
    "1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T",
)  # fmt: skip


def _size_category(rows: int) -> str:
    return _SIZES[min(max(len(str(rows)) - 3, 0), len(_SIZES) - 1)]


def loading_values(manifest: Manifest, tasks: Sequence[Task]) -> dict[str, Any]:
    """The values of the front matter that `datasets` reads, as YAML values."""
    return {
        "configs": [_config(manifest, task, default=task is tasks[0]) for task in tasks],
        "dataset_info": [_dataset_info(manifest, task) for task in tasks],
    }


def _config(manifest: Manifest, task: Task, default: bool) -> dict[str, Any]:
    splits = manifest.variants[task.variant]
    digests = json.dumps({name: split.digest for name, split in splits.items()}, sort_keys=True)
    return {
        "config_name": task.variant,
        **({"default": True} if default else {}),
        # `datasets` keys its cache by this text and the folder's name, not by the rows: without
        # the digest it would serve an older dataset of the same folder name.
        "description": f"content sha256:{hashlib.sha256(digests.encode()).hexdigest()}",
        "data_files": [
            {"split": name, "path": f"data/{task.variant}/{name}-*.parquet"} for name in splits
        ],
    }


def _dataset_info(manifest: Manifest, task: Task) -> dict[str, Any]:
    splits = manifest.variants[task.variant]
    sizes = {name: sum(shard.bytes for shard in split.shards) for name, split in splits.items()}
    return {
        "config_name": task.variant,
        "features": card_features(columns_of(task)),
        "splits": [
            {"name": name, "num_bytes": sizes[name], "num_examples": split.rows}
            for name, split in splits.items()
        ],
        "download_size": sum(sizes.values()),
        "dataset_size": sum(sizes.values()),
    }


def _body(manifest: Manifest, tasks: Sequence[Task], samples: Sequence[str]) -> str:
    first = tasks[0]
    intro, sections = split_prose(prose(first))
    for title in _OF_DEFAULTS:
        if title in sections and (remark := other_than_defaults(manifest, first)):
            sections[title] = f"{remark}\n\n{sections[title]}"
    splits = [splits_table(task, manifest.variants[task.variant]) for task in tasks]
    titles = [f"**{task.variant}**: {task.variants[task.variant]}" for task in tasks]
    parts = [f"# {first.title}", intro, samples[0], "## Loading", loading(manifest, first)]
    parts += ["## Splits", *(titles[:1] if len(first.variants) > 1 else []), splits[0]]
    if "Results" in sections:
        parts += ["## Results", sections.pop("Results")]
    remark, records = sections.pop("Held-out rows", ""), manifest.variants[first.variant]
    parts += ["## Held-out rows", held_out_rule(first, records, remark)]

    origins, citation = origins_of(tasks), sections.pop("Citation", "")
    others = zip(titles[1:], samples[1:], splits[1:], strict=True)
    folded = {
        **sections,
        "Other variants": "\n\n".join(itertools.chain.from_iterable(others)),
        "Sources and licences": "\n\n".join(origin_texts(origins)) if origins else "",
        "Provenance": provenance(manifest, command_line(manifest, first), parameter_help(first)),
        "Known limits": known_limits(manifest, tasks),
        "Citation": citation,
    }
    parts += [fold(title, text) for title, text in folded.items() if text]
    return "\n\n".join(parts) + "\n"


def origins_of(tasks: Sequence[Task]) -> tuple[Origin, ...]:
    """The datasets that the rows of any of the tasks are made from."""
    origins = (task.origins for task in tasks if isinstance(task, ImageTask))
    return tuple(dict.fromkeys(itertools.chain.from_iterable(origins)))


def citations(task: Task) -> str:
    """The entries to cite, as BibTeX: the papers of the task's prose, then its source datasets."""
    papers = re.findall(r"^```bibtex\n(.*?)\n```$", prose(task), re.MULTILINE | re.DOTALL)
    return "\n\n".join(
        [*papers, *(origin.citation for origin in origins_of([task]) if origin.citation)]
    )


def prose(task: Task) -> str:
    """The prose of a task's card. For another package's task its `card.md`, or its summary."""
    for folder in (resources.files("synthbench") / "cards", Path(__file__).parents[2] / "cards"):
        file = folder / f"{task.name}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return text_beside(task, "card.md") or task.summary


def command_line(manifest: Manifest, task: Task) -> str:
    """The command that makes the dataset again; `task` is that of its first variant."""
    words = [f"synthbench generate {manifest.task}"]
    words += [f"--variant {variant}" for variant in manifest.variants]
    words.append(f"--seed {manifest.seed}")
    splits = manifest.variants[task.variant]
    words += [f"--rows {name}={split.rows}" for name, split in splits.items()]
    words += [f"--rows {split.name}=0" for split in task.splits if split.name not in splits]
    words += [
        f"--set {shlex.quote(f'{name}={setting(value)}')}"
        for name, value in task.parameters.changed().items()
    ]
    if manifest.shard_rows != whole_chunks(task.shard_rows):
        words.append(f"--shard-rows {manifest.shard_rows}")
    return " ".join(words)
