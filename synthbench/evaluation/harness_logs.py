"""Answers as lm-evaluation-harness logs them with `--log_samples`.

A line has the row under `doc`, and under `filtered_resps` what one of the task's filters made of
the answer: a text, or for a multiple choice the log-likelihood of each, with a note whether it was
the likeliest text of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ROW, _ANSWERS, _FILTER = "doc", "filtered_resps", "filter"


def is_sample(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a line of such a log."""
    row, answers = entry.get(_ROW), entry.get(_ANSWERS)
    return isinstance(row, dict) and isinstance(answers, list) and "prediction" not in entry


def filter_of(entry: Mapping[str, Any]) -> Any:
    """The filter that the line is of; each logs all rows."""
    return entry.get(_FILTER)


def read_sample(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a log as `id` and `prediction`, as far as the row has an id.

    Of a multiple choice the likeliest is the prediction, by its number.
    """
    answers = entry[_ANSWERS]
    answer = answers[0] if answers else None
    if isinstance(answer, list):
        answer = _likeliest(answers)
    found = {"id": entry[_ROW]["id"]} if "id" in entry[_ROW] else {}
    return {**found, "prediction": answer}


def _likeliest(choices: Sequence[Any]) -> int | None:
    """The number of the choice of the largest log-likelihood, None if one of them has none."""
    try:
        values = [float(choice[0]) for choice in choices]
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    return max(range(len(values)), key=values.__getitem__)
