"""Keep rows that models are evaluated on out of a training corpus.

Whether a row is held out follows from its text alone, so no list of evaluation rows is needed: this
finds those of every seed and size, and their copies with arguments in another order.

    python examples/decontaminate.py corpus.jsonl > clean.jsonl

keeps the lines whose "text" has no such row; how many went is printed on standard error. Without a
file it shows which documents of a small corpus go.

It finds rows as synthbench writes them, whatever stands around them. It does not find a row in
other words ("the median of 4 and 5"), grids, or images. And it takes an eighth of all expressions
of these forms, whoever wrote them; the other seven eighths may be trained on.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import synthbench
from synthbench.errors import UsageError
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import task as make_task

#: The tasks whose rows are texts; add a name for a task of your own.
TASKS = [make_task(name) for name in ("listops", "arithmetic", "ctl", "parity")]


def held_out_rows(text: str) -> Iterator[tuple[str, str]]:
    """The rows in a text that are held out, each with the name of its task."""
    for task in TASKS:
        token = "|".join(re.escape(word) for word in sorted(task.tokens, key=len, reverse=True))
        space = r"\s+" if task.separator else ""
        for run in re.finditer(rf"(?<!\w)(?:{token})(?:{space}(?:{token}))+(?!\w)", text):
            words = re.findall(token, run[0])
            while words:
                length, held_out = longest_row(task, words)
                if held_out:
                    yield task.name, task.separator.join(words[:length])
                words = words[length:]


def longest_row(task: TextTask, words: list[str]) -> tuple[int, bool]:
    """How many words the longest row at the start of these has, and whether it is held out.

    What follows a row, such as its answer, may be made of tokens, too. Without a row it is one
    word, to be passed over.
    """
    for length in range(len(words), 1, -1):
        try:
            row = task.separator.join(words[:length])
            return length, synthbench.is_held_out(task.name, row)
        except UsageError:
            continue
    return 1, False


def corpus() -> Iterator[str]:
    """A few documents: evaluation rows, copies of them, training rows, and prose."""
    for text in synthbench.load_dataset("listops", "iid", preset="small")["text"][:3]:
        yield f"Question 7. What is {text}? Think step by step."
    parity = synthbench.load_dataset("parity", "test", preset="small")[0]
    yield f"{parity['text']} {parity['label']}"
    yield "{b} {a} {c} {d} = {label}, says the parity task.".format(**parity)
    for text in next(synthbench.stream("arithmetic", seed=3, batch_size=3))["text"]:
        yield f"I wonder what `{text}` could be."
    yield "In 1998 a 40-page report had 3 + 4 = 7 authors and a budget of 0."


def show() -> None:
    """Say of each document of the small corpus whether it goes."""
    for document in corpus():
        found = list(held_out_rows(document))
        print("removed" if found else "kept   ", document, *(f"<- {task}" for task, _ in found))


def clean(path: str) -> None:
    """Print the lines of a JSON Lines file whose text has no held-out row."""
    removed = 0
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            if any(held_out_rows(json.loads(line)["text"])):
                removed += 1
            else:
                print(line, end="")
    print(f"documents removed: {removed}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    clean(sys.argv[1]) if sys.argv[1:] else show()
