"""Check that a dataset's card agrees with its manifest; the prose is not checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.dataset.card import command_line, config, dataset_info
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import read_regular, why_unreadable
from synthbench.dataset.forms import NOTHING, differences
from synthbench.errors import DatasetError
from synthbench.tasks.base import Task
from synthbench.text.lines import is_one_line
from synthbench.verification.findings import Findings

CARD = "README.md"
#: Bytes of a card, and characters of its front matter, at most.
_LARGEST_CARD, _LARGEST_FRONT = 1 << 26, 1 << 20
_FENCE = "---"


def check_card(dataset: DatasetDirectory, tasks: Mapping[str, Task], findings: Findings) -> None:
    """Compare the card's front matter and command with the manifest.

    Args:
        dataset: the dataset.
        tasks: the tasks of its variants, as far as they could be made.
        findings: receives what is wrong.
    """
    if (reason := why_unreadable(dataset.path, CARD)) is not None:
        findings.add(CARD, "missing", reason)
        return
    try:
        text, front = read_card(dataset.path)
    except (DatasetError, ValueError) as error:
        findings.add(CARD, "unreadable", f"its front matter cannot be read: {error}")
        return
    manifest = dataset.manifest
    if len(tasks) < len(manifest.variants):
        return  # already reported
    first = next(iter(tasks))
    made = {
        "configs": [config(manifest, task, name == first) for name, task in tasks.items()],
        "dataset_info": [dataset_info(manifest, task) for task in tasks.values()],
    }
    for section, entries in made.items():
        for difference in differences(front.get(section, NOTHING), entries, section):
            findings.add(CARD, section, difference)
    command = command_line(manifest, tasks[first])
    if command not in text.split("\n"):
        wrong = f"it does not show the command that the manifest gives: {command}"
        findings.add(CARD, "command", wrong)


def read_card(directory: Path) -> tuple[str, dict[str, Any]]:
    """The text of a dataset's card, and the values of its front matter.

    Raises:
        DatasetError: it is missing or cannot be read.
        ValueError: it has no front matter, or one that readers may read differently.
    """
    text = read_regular(directory, CARD, _LARGEST_CARD).decode("utf-8").replace("\r\n", "\n")
    return text, _parse(_front_matter(text))


def _front_matter(text: str) -> str:
    """The front matter; a ValueError if readers may disagree about where it ends."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if line.startswith(_FENCE)]
    if fences[:1] != [0] or len(fences) < 2 or any(lines[n] != _FENCE for n in fences[:2]):
        raise ValueError(f"it is not between two lines {_FENCE!r}")
    inside = lines[1 : fences[1]]
    if sum(map(len, inside)) > _LARGEST_FRONT:
        raise ValueError(f"it has more than {_LARGEST_FRONT:,} characters")
    if not all(map(is_one_line, inside)):
        raise ValueError("it has characters that are not text")
    return "\n".join(inside)


def _parse(front: str) -> dict[str, Any]:
    """The values of front matter; a ValueError if it is not YAML, or has references or repeats."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses references, which can nest without end, and repeated names."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise ValueError("references are not allowed")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            values = super().construct_mapping(node, deep)
            if len(values) < len(node.value):
                raise ValueError("a name appears more than once in a mapping")
            return values

    try:
        values = yaml.load(front, Loader)
    except Exception as error:  # a value that does not fit its tag may raise anything
        raise ValueError(" ".join(f"{type(error).__name__} {error}".split())) from None
    if not isinstance(values, dict):
        raise ValueError("it is not a mapping")
    return values
