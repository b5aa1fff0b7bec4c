"""Rows as lines of JSON, a file for each split: `VARIANT/SPLIT.jsonl`.

    {"id": "d4f0...", "text": "101 d a b", "label": 5, "answer": "101", "steps": [...], "length": 3}

A line has every column. Beside `label` stands the right answer as text, `answer`, by which most
evaluators and trainers of language models go. An image is its PNG file in base64, so that a line
is a whole row and needs no other file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.answers import LABEL, answer_text
from synthbench.features import is_image
from synthbench.formats.parts import Part


def write(parts: Sequence[Part], directory: Path) -> None:
    """Write each part to a file of its own."""
    for part in parts:
        file = directory / part.task.variant / f"{part.split}.jsonl"
        file.parent.mkdir(exist_ok=True)
        images = [name for name, feature in part.task.columns.items() if is_image(feature)]
        with file.open("w", encoding="utf-8", newline="\n") as lines:
            for row in part.rows():
                line = json.dumps(_plain(part, row, images), ensure_ascii=False)
                lines.write(line + "\n")


def _plain(part: Part, row: Mapping[str, Any], images: Sequence[str]) -> dict[str, Any]:
    """A row as JSON values, with its answer behind its label."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        plain[name] = base64.b64encode(value["bytes"]).decode() if name in images else value
        if name == LABEL:
            plain["answer"] = answer_text(part.task, row)
    return plain
