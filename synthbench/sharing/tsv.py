"""Tables as the loaders of Long Range Arena's tasks read them: `VARIANT/basic_SPLIT.tsv`.

    Source	Target
    [MED 4 8 5 [MAX 8 4 9 ] ]	6

The first line names the columns, then follows one row a line, a tab between text and label. The
label is the number of its class, or the label itself where labels are text. Loaders look for
`basic_train.tsv`, `basic_val.tsv` and `basic_test.tsv`, so these are the names; `iid` is
`basic_iid.tsv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from synthbench.evaluation.final_answer import LABEL, has_text_labels
from synthbench.sharing.parts import Part
from synthbench.tasks.base import Task
from synthbench.tasks.features import label_names

TEXT = "text"


def unsupported_reason(task: Task) -> str | None:
    """Why rows of a task cannot be written, None if they can."""
    columns = task.columns
    if TEXT in columns and (label_names(columns.get(LABEL, {})) or has_text_labels(task)):
        return None
    return "its rows are not a text with a class or another text as label"


def write(parts: Sequence[Part], directory: Path) -> None:
    """Write each part to a file of its own."""
    for part in parts:
        name = "val" if part.split == "validation" else part.split
        file = directory / part.task.variant / f"basic_{name}.tsv"
        file.parent.mkdir(exist_ok=True)
        with file.open("w", encoding="utf-8", newline="\n") as lines:
            lines.write("Source\tTarget\n")
            for batch in part.batches([TEXT, LABEL]):
                pairs = zip(batch[TEXT].to_pylist(), batch[LABEL].to_pylist(), strict=True)
                lines.writelines(f"{text}\t{label}\n" for text, label in pairs)
