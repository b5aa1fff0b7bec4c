"""Text formats with a line for each row, and a file for each split.

`jsonl`: `VARIANT/SPLIT.jsonl`, every column and `answer`, the label as text, which most evaluators
and trainers of language models expect. An image is its PNG file in base64.

    {"id": "d4f0...", "text": "101 d a b", "label": 5, "answer": "101", "steps": [...], "length": 3}

`chat`: `VARIANT/SPLIT.jsonl`, messages in the form of OpenAI's chat interface, which fine-tuning
tools read. An image is a `data:` URL in the user's message.

    {"id": "d4f0...", "messages": [{"role": "user", "content": "Evaluate the nested list..."},
                                   {"role": "assistant", "content": "Answer: 6"}], "answer": "6"}

`openai-batch`: `VARIANT/SPLIT-00000.jsonl`, requests of OpenAI's batch interface, without the
answers. A file has at most 50,000 requests and 200 MB, as the service allows. `evaluate` reads the
batch's output file.

    {"custom_id": "d4f0...", "method": "POST", "url": "/v1/chat/completions",
     "body": {"model": "gpt-5", "messages": [{"role": "user", "content": "Evaluate the..."}]}}

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
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.errors import UsageError
from synthbench.llm.conversations import TEXT
from synthbench.llm.mixtures import carried
from synthbench.llm.request_fields import fields_of_sample
from synthbench.sharing.parts import ExportPart, ExportRow, MixedPart, PromptOptions
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.spec import task_spec
from synthbench.text.lines import short

#: The largest file of requests that OpenAI's batch interface takes.
_MOST_REQUESTS, _MOST_BYTES = 50_000, 200_000_000
#: Made once, because `json.dumps` would make an encoder for every line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write_jsonl(parts: Sequence[ExportPart | MixedPart], directory: Path) -> None:
    """Write each part with all columns."""
    write_lines(parts, directory, _with_answer)


def write_chat(parts: Sequence[ExportPart | MixedPart], directory: Path) -> None:
    """Write each part as chat messages."""
    write_lines(parts, directory, _conversation)


def write_lines(
    parts: Sequence[ExportPart | MixedPart],
    directory: Path,
    record: Callable[[ExportRow], dict[str, Any]],
) -> None:
    """Write each part as lines of JSON, one for each row.

    Args:
        parts: the parts.
        directory: where the files belong.
        record: from a row what its line has, as JSON values.
    """
    for part in parts:
        file = directory / part.path.with_name(f"{part.path.name}.jsonl")
        _write(file, (_encode(record(row)) for row in part.export_rows()))


def write_openai_batch(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write each part as requests, in files as large as the batch interface takes."""
    for part in parts:
        requests = (_request(row, part.prompts) for row in part.export_rows())
        lines: Iterator[str] = map(_encode, requests)
        for number in itertools.count():
            first = next(lines, None)
            if first is None:
                break
            file = directory / part.task.variant / f"{part.split}-{number:05}.jsonl"
            lines = _write_up_to_limits(file, itertools.chain([first], lines))


def write_tsv(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write text and label of each part."""
    for part in parts:
        name = "val" if part.split == "validation" else part.split
        lines = (_in_columns(row) for row in part.rows([TEXT, LABEL]))
        file = directory / part.task.variant / f"basic_{name}.tsv"
        _write(file, itertools.chain(["Source\tTarget"], lines))


def _in_columns(row: Mapping[str, Any]) -> str:
    """Text and label of a row.

    Raises:
        UsageError: a value has a tab or a line break, which this format cannot quote.
    """
    cells = [str(row[TEXT]), str(row[LABEL])]
    if broken := next((cell for cell in cells if re.search(r"[\t\r\n]", cell)), None):
        raise UsageError(
            f"--to tsv: {short(broken)} has a tab or a line break, which this format cannot hold; "
            "--to jsonl can."
        )
    return "\t".join(cells)


def why_not_tsv(task: Task) -> str | None:
    """The reason why rows of a task cannot be written as text and label. None if they can."""
    columns = task.columns
    if TEXT in columns and LABEL in columns and (task.labels or task.answer.answers == "text"):
        return None
    return "its rows lack a text, or a label that is a class or a text"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as opened:
        opened.writelines(f"{line}\n" for line in lines)


def _with_answer(row: ExportRow) -> dict[str, Any]:
    """A row as JSON values, with `answer` after `label`.

    Rows of several tasks all have the same columns: `id`, `task`, `text`, `answer` and `row`.
    """
    task = row.task
    if row.is_mixed:
        columns = {"id": row.values["id"], TEXT: row.values[TEXT], "answer": row.answer}
        return {**columns, **carried(task, row.values)}
    values: dict[str, Any] = {}
    for name, value in row.values.items():
        is_image = name == task.image_column
        values[name] = base64.b64encode(value["bytes"]).decode() if is_image else value
        if name == LABEL:
            values["answer"] = task.answer.format_answer(value)
    return values


def _conversation(row: ExportRow) -> dict[str, Any]:
    """A row's prompt with its answer."""
    said = [*row.prompt, row.conversation.reply(row.values)]
    mixed = {"task": task_spec(row.task)} if row.is_mixed else {}
    return {"id": row.values["id"], "messages": said, "answer": row.answer, **mixed}


def _request(row: ExportRow, prompts: PromptOptions) -> dict[str, Any]:
    """A row's prompt as a request."""
    fields = fields_of_sample(prompts.request, row.values["id"], 0)
    return {
        "custom_id": row.values["id"],
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": prompts.model, "messages": row.prompt, **fields},
    }


def _write_up_to_limits(file: Path, lines: Iterator[str]) -> Iterator[str]:
    """Write lines until the next would make the file too large. Return those that are left."""
    file.parent.mkdir(exist_ok=True)
    size = 0
    with file.open("wb") as opened:
        for number, line in enumerate(lines):
            written = f"{line}\n".encode()
            size += len(written)
            if number == _MOST_REQUESTS or (number and size > _MOST_BYTES):
                return itertools.chain([line], lines)
            opened.write(written)
    return iter(())
