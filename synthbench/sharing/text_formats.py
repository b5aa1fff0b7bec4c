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
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.llm.prompts import TEXT, answer_message, messages
from synthbench.sharing.parts import ExportPart
from synthbench.tasks.base import LABEL, Task

#: Made once, because `json.dumps` would make an encoder for every line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write_jsonl(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part with all columns."""
    for part in parts:
        lines = (_encode(row) for row in _rows(part, _converter(part.task)))
        _write(directory / part.task.variant / f"{part.split}.jsonl", lines)


def write_chat(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part as chat messages."""
    for part in parts:
        lines = (_encode(row) for row in _rows(part, _converser(part.task)))
        _write(directory / part.task.variant / f"{part.split}.jsonl", lines)


def write_tsv(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write text and label of each part."""
    for part in parts:
        name = "val" if part.split == "validation" else part.split
        rows = _rows(part, lambda row: f"{row[TEXT]}\t{row[LABEL]}", [TEXT, LABEL])
        file = directory / part.task.variant / f"basic_{name}.tsv"
        _write(file, rows, head="Source\tTarget\n")


def why_not_tsv(task: Task) -> str | None:
    """Why rows of a task cannot be written as text and label, None if they can."""
    columns = task.columns
    if TEXT in columns and LABEL in columns and (task.labels or task.answer.answers == "text"):
        return None
    return "its rows lack a text, or a label that is a class or a text"


def _rows(
    part: ExportPart,
    convert: Callable[[Mapping[str, Any]], Any],
    columns: Sequence[str] | None = None,
) -> Iterable[Any]:
    for batch in part.batches(columns):
        yield from map(convert, batch.to_pylist())


def _write(file: Path, lines: Iterable[str], head: str = "") -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as opened:
        opened.write(head)
        opened.writelines(f"{line}\n" for line in lines)


def _converter(task: Task) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that turns a row into JSON values, with `answer` after `label`."""
    to_answer = task.answer.write

    def to_plain(row: Mapping[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, value in row.items():
            plain[name] = (
                base64.b64encode(value["bytes"]).decode() if name == task.image_column else value
            )
            if name == LABEL:
                plain["answer"] = to_answer(value)
        return plain

    return to_plain


def _converser(task: Task) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that turns a row into a conversation."""
    to_answer = task.answer.write

    def to_chat(row: Mapping[str, Any]) -> dict[str, Any]:
        answer = to_answer(row[LABEL])
        said = [*messages(task, row), answer_message(answer)]
        return {"id": row["id"], "messages": said, "answer": answer}

    return to_chat
