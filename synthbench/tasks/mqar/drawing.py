"""Multi-query associative recall for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.mqar.task import AssociativeRecall
from synthbench.text.lines import beside


def draw_row(task: AssociativeRecall, row: Mapping[str, Any]) -> str:
    """The pairs, and each key that is asked, with its place from 1 and its value."""
    if not task.parameters.is_plain:
        words = row["text"].split()
        answers = [answer for answer, _ in task.read_slots(row["text"])]
        return beside({"row": words, "answers": answers})
    pairs, rest = task.read(row["text"])
    width = max(map(len, pairs))
    shown = "   ".join(map(" ".join, pairs.items()))
    lines = [f"{len(pairs)} pairs in {2 * len(pairs) + len(rest)} places:   {shown}"]
    for place, word in enumerate(rest, 2 * len(pairs) + 1):
        if word in pairs:
            lines.append(f"place {place:4}   {word:{width}}  ->  {pairs[word]}")
    return "\n".join(lines)
