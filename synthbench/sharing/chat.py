"""Rows as chat messages, a line of JSON each: `VARIANT/SPLIT.jsonl`.

    {"id": "d4f0...", "messages": [{"role": "user", "content": "Evaluate the nested list..."},
                                   {"role": "assistant", "content": "Answer: 6"}], "answer": "6"}

The form is that of OpenAI's chat interface, which fine-tuning tools read. An image is a `data:` URL
in the user's message, so that a line needs no other file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from synthbench.evaluation.final_answer import LABEL, answer_writer
from synthbench.llm.prompts import messages
from synthbench.sharing.parts import Part


def write(parts: Sequence[Part], directory: Path) -> None:
    """Write each part to a file of its own."""
    for part in parts:
        file = directory / part.task.variant / f"{part.split}.jsonl"
        file.parent.mkdir(exist_ok=True)
        to_answer = answer_writer(part.task)
        with file.open("w", encoding="utf-8", newline="\n") as lines:
            for batch in part.batches():
                for row in batch.to_pylist():
                    answer = to_answer(row[LABEL])
                    reply = {"role": "assistant", "content": f"Answer: {answer}"}
                    said = [*messages(part.task, row), reply]
                    line = {"id": row["id"], "messages": said, "answer": answer}
                    lines.write(f"{json.dumps(line, ensure_ascii=False)}\n")
