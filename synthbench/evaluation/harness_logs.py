"""Logs of lm-evaluation-harness (`--log_samples`).

An entry has the row under `doc`. Under `filtered_resps` it has what a filter made of the answer: a
text, or for a multiple choice the log-likelihood of each choice and whether it was the likeliest
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def read_logs(records: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Turn the entries of a log into dicts with `id` and `prediction`.

    Entries of all filters but the first are left out. Any other record stays as it is.

    Args:
        records: values, each with the number of its line or row.
    """
    first: Any = None
    for number, record in records:
        if not _is_entry(record):
            yield number, record
            continue
        first = first or record.get("filter")
        if record.get("filter") == first:
            yield number, _read_entry(record)


def _is_entry(record: Any) -> bool:
    if not isinstance(record, dict) or "prediction" in record:
        return False
    return isinstance(record.get("doc"), dict) and isinstance(record.get("filtered_resps"), list)


def _read_entry(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's id, if it has one, and the prediction: a text, or the likeliest choice's number."""
    row, answers = record["doc"], record["filtered_resps"]
    answer = answers[0] if answers else None
    if isinstance(answer, list):
        try:
            values = [float(choice[0]) for choice in answers]
            answer = values.index(max(values))
        except (TypeError, ValueError, LookupError, OverflowError):
            answer = None  # a choice without a log-likelihood
    return {**({"id": row["id"]} if "id" in row else {}), "prediction": answer}
