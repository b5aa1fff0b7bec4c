"""Text formats with a line for each row, and a file for each split.

`jsonl`: `VARIANT/SPLIT.jsonl`, every column and `answer`, the label as text, which most evaluators
and trainers of language models expect. An image is its PNG file in base64.

    {"id": "d4f0...", "text": "101 d a b", "label": 5, "answer": "101", "steps": [...], "length": 3}

`chat`: `VARIANT/SPLIT.jsonl`, messages in the form of OpenAI's chat interface, which fine-tuning
tools read. An image is a `data:` URL in the user's message.

    {"id": "d4f0...", "messages": [{"role": "user", "content": "Evaluate the nested list..."},
                                   {"role": "assistant", "content": "Answer: 6"}], "answer": "6"}

`tsv`: `VARIANT/basic_SPLIT.tsv`, text and label, as the loaders of Long Range Arena's tasks read
them. The label is the number of its class, or the label itself if labels are text. The loaders look
for `basic_train.tsv`, `basic_val.tsv` and `basic_test.tsv`; `iid` is `basic_iid.tsv`.

    Source	Target
    [MED 4 8 5 [MAX 8 4 9 ] ]	6
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.llm.prompts import TEXT, answer_message, messages
from synthbench.sharing.parts import ExportPart
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.column import Column

#: Made once, because `json.dumps` would make an encoder for every line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write_jsonl(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part with all columns."""
    for part in parts:
        answer, image = part.task.answer, part.task.image_column
        rows = (_with_answer(row, answer, image) for row in part.rows())
        _write(directory / part.task.variant / f"{part.split}.jsonl", map(_encode, rows))


def write_chat(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part as chat messages."""
    for part in parts:
        rows = (_conversation(row, part.task) for row in part.rows())
        _write(directory / part.task.variant / f"{part.split}.jsonl", map(_encode, rows))


def write_tsv(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write text and label of each part."""
    for part in parts:
        name = "val" if part.split == "validation" else part.split
        lines = (f"{row[TEXT]}\t{row[LABEL]}" for row in part.rows([TEXT, LABEL]))
        file = directory / part.task.variant / f"basic_{name}.tsv"
        _write(file, itertools.chain(["Source\tTarget"], lines))


def why_not_tsv(task: Task) -> str | None:
    """Why rows of a task cannot be written as text and label, None if they can."""
    columns = task.columns
    if TEXT in columns and LABEL in columns and (task.labels or task.answer.answers == "text"):
        return None
    return "its rows lack a text, or a label that is a class or a text"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as opened:
        opened.writelines(f"{line}\n" for line in lines)


def _with_answer(row: Mapping[str, Any], answer: Column, image: str | None) -> dict[str, Any]:
    """A row as JSON values, with `answer` after `label`."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        values[name] = base64.b64encode(value["bytes"]).decode() if name == image else value
        if name == LABEL:
            values["answer"] = answer.format_answer(value)
    return values


def _conversation(row: Mapping[str, Any], task: Task) -> dict[str, Any]:
    answer = task.answer.format_answer(row[LABEL])
    said = [*messages(task, row), answer_message(answer)]
    return {"id": row["id"], "messages": said, "answer": answer}
