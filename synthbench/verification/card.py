"""Check that a dataset's card says what its manifest does. The prose is free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synthbench.dataset.card import command_line, loading_values
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import read_regular, reading
from synthbench.errors import DatasetError
from synthbench.tasks.base import Task

CARD = "README.md"
_LARGEST_CARD = 1 << 24
#: The front matter, as `huggingface_hub` finds it.
_FRONT = re.compile(r"\s*---[\r\n]+(.*?)[\r\n]+---(?:[\r\n]|$)", re.DOTALL)


def check_card(dataset: DatasetDirectory, tasks: Mapping[str, Task]) -> Iterator[str]:
    """Compare what `datasets` reads of a card, and its command, with the manifest.

    Args:
        dataset: the dataset.
        tasks: the tasks of all its variants.

    Yields:
        What is wrong.
    """
    try:
        text, front = read_card(dataset.path)
    except DatasetError as error:
        yield f"{CARD}: {str(error).removeprefix(f'{dataset.path / CARD} ')}"
        return
    manifest, in_order = dataset.manifest, list(tasks.values())
    for section, entries in loading_values(manifest, in_order).items():
        if front.get(section) != entries:
            yield f"{CARD}: {section} does not match the manifest"
    command = command_line(manifest, in_order[0])
    if command not in text.splitlines():
        yield f"{CARD}: it does not show the command that the manifest gives: {command}"


def read_card(directory: Path) -> tuple[str, dict[str, Any]]:
    """The text of a dataset's card, and the values of its front matter.

    Raises:
        DatasetError: it is missing or cannot be read.
    """
    import yaml

    data = read_regular(directory, CARD, _LARGEST_CARD)
    with reading(directory / CARD):
        text = data.decode("utf-8")
        match = _FRONT.match(text)
        front = yaml.safe_load(match[1]) if match else None
    if not isinstance(front, dict):
        text = "cannot be read: it does not begin with values between two lines '---'."
        raise DatasetError(f"{directory / CARD} {text}")
    return text, front
