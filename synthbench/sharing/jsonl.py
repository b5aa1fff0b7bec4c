"""Rows as lines of JSON, a file for each split: `VARIANT/SPLIT.jsonl`.

    {"id": "d4f0...", "text": "101 d a b", "label": 5, "answer": "101", "steps": [...], "length": 3}

A line has every column, and `answer`: the label as text, which most evaluators and trainers of
language models expect. An image is its PNG file in base64, so that a line
is a whole row and needs no other file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.evaluation.final_answer import LABEL, answer_writer
from synthbench.sharing.parts import Part
from synthbench.tasks.base import Task
from synthbench.tasks.features import is_image

#: Made once: `json.dumps` would make an encoder for every line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write(parts: Sequence[Part], directory: Path) -> None:
    """Write each part to a file of its own."""
    for part in parts:
        file = directory / part.task.variant / f"{part.split}.jsonl"
        file.parent.mkdir(exist_ok=True)
        to_plain = _converter(part.task)
        with file.open("w", encoding="utf-8", newline="\n") as lines:
            for batch in part.batches():
                lines.writelines(f"{_encode(to_plain(row))}\n" for row in batch.to_pylist())


def _converter(task: Task) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that turns a row into JSON values, with `answer` after `label`."""
    images = [name for name, feature in task.columns.items() if is_image(feature)]
    to_answer = answer_writer(task)

    def to_plain(row: Mapping[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, value in row.items():
            plain[name] = base64.b64encode(value["bytes"]).decode() if name in images else value
            if name == LABEL:
                plain["answer"] = to_answer(value)
        return plain

    return to_plain
