"""Parsers of lm-eval's, Inspect's and OpenAI's logs: records with `id` and `prediction`.

lm-evaluation-harness (`--log_samples`) writes a line for each row and filter, with the row under
`doc`. Under `filtered_resps` it has what a filter made of the answer: a text, or for a multiple
choice the log-likelihood of each choice and whether it was the likeliest text. Without
a filter, or with ours, the reply under `resps` is read. The harness does not keep finish reasons.

Inspect writes a file for each run, `.eval` or `.json`, whose samples have the row's `id` and under
`output` the model's reply.

A batch of OpenAI's interface gives a line for each request, with the row's id under `custom_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from synthbench.checks import needs
from synthbench.errors import DatasetError
from synthbench.evaluation.chat_replies import (
    is_batch_line,
    is_kept_reply,
    read_batch_line,
    read_kept_reply,
    running_text,
)
from synthbench.text.lines import one_line

#: A field of Inspect's logs beside the samples. A log of the header alone lacks the samples.
_INSPECT = {"version", "status", "eval"}
#: Inspect keeps long texts apart, and refers to them by their hash.
_ATTACHMENT = "attachment://"


def read_logs(records: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Turn the entries of logs and of batches into dicts with `id` and `prediction`.

    Of a log of lm-evaluation-harness, entries of all filters but the first are left out. Any other
    record stays as it is.

    Args:
        records: values, each with the number of its line or row.
    """
    first: Any = None
    for number, record in records:
        if not _is_entry(record):
            yield number, _read_reply(record)
            continue
        first = first or record.get("filter")
        if record.get("filter") == first:
            yield number, _read_entry(record)


def _read_reply(record: Any) -> Any:
    if isinstance(record, dict) and "prediction" not in record:
        if is_batch_line(record):
            return read_batch_line(record)
        if is_kept_reply(record):
            return read_kept_reply(record)
    return record


def _is_entry(record: Any) -> bool:
    if not isinstance(record, dict) or "prediction" in record:
        return False
    return isinstance(record.get("doc"), dict) and isinstance(record.get("filtered_resps"), list)


def _read_entry(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's id, or None, and the prediction: a text, or the likeliest choice's number."""
    row, answers = record["doc"], record["filtered_resps"]
    answer = answers[0] if answers else None
    if isinstance(answer, list):
        try:
            values = [float(choice[0]) for choice in answers]
            answer = values.index(max(values))
        except (TypeError, ValueError, LookupError, OverflowError):
            answer = None  # a choice without a log-likelihood
    is_ours = record.get("filter") == "tolerant" and "answer_kind" in row  # our reader
    match record.get("resps"):
        case [[str(reply), *_], *_] if is_ours or reply == answer:
            answer = running_text(reply)
    return {"id": row.get("id"), "prediction": answer}


def is_inspect_log(log: Mapping[Any, Any]) -> bool:
    """True if a mapping is a log of Inspect, rather than predictions by id."""
    return log.keys() >= _INSPECT and isinstance(log["eval"], Mapping)


def open_inspect_log(path: Path) -> dict[str, Any]:
    """A log of Inspect in its own format, as `inspect log dump` writes it in JSON.

    Raises:
        SynthbenchError: Inspect, which reads it, is not installed.
        DatasetError: the file cannot be read.
    """
    with needs(f"{path.name!r}, a log of Inspect,", "inspect_ai", "inspect"):
        from inspect_ai.log import read_eval_log
    try:
        log = read_eval_log(str(path), format="eval", resolve_attachments=True)
        fields: dict[str, Any] = log.model_dump(include={*_INSPECT, "samples"})
        return fields
    except Exception as error:  # whatever a damaged archive makes Inspect raise
        reason = one_line(f"{type(error).__name__}: {error}")
        raise DatasetError(f"{path} cannot be read as a log of Inspect: {reason}") from None


def read_inspect_log(log: Mapping[str, Any]) -> list[Any]:
    """The samples of a log as records; None is the prediction of a model that did not reply.

    Other values stay as they are.
    """
    samples = log.get("samples")
    return list(map(_read_sample, samples)) if isinstance(samples, list) else []


def _read_sample(sample: Any) -> Any:
    if not isinstance(sample, Mapping) or "id" not in sample:
        return sample
    output, texts = sample.get("output"), sample.get("attachments")
    output = output if isinstance(output, Mapping) else {}
    reply, choices = output.get("completion"), output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = first.get("stop_reason") if isinstance(first, Mapping) else None
    if isinstance(reply, str) and reply.startswith(_ATTACHMENT) and isinstance(texts, Mapping):
        reply = texts.get(reply.removeprefix(_ATTACHMENT))
    return {"id": sample["id"], "prediction": running_text(reply or None, reason)}
