"""Further fields of requests to a model, such as `temperature`, as users give them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from synthbench.checks import check_whole_number
from synthbench.dataset.files import read_json
from synthbench.errors import UsageError
from synthbench.tasks.numeric import plain_value
from synthbench.text.lines import one_line, short

#: Fields that every request has already, or that change how many replies come and in which form.
_OURS = ("model", "messages", "n", "stream")


def request_fields(request: Mapping[str, Any] | None) -> dict[str, Any]:
    """Further fields of requests, where numbers of NumPy are plain numbers."""
    return {name: plain_value(value) for name, value in (request or {}).items()}


def check_request_fields(fields: Mapping[str, Any], set_by: str) -> None:
    """Make sure that fields may be in every request, and that files can hold them.

    Args:
        fields: the fields.
        set_by: who makes the requests, for the error.

    Raises:
        UsageError: a field is not the user's to set, its value is not JSON, or a seed is not a
            whole number from 0.
    """
    for name, value in fields.items():
        if name in _OURS:
            raise UsageError(f"Request field {name!r} is set by {set_by}. Leave it out.")
        try:  # to write and read it as `ask.json` holds it: neither may fail once replies are there
            record = json.dumps({"request": {name: value}}, ensure_ascii=False, allow_nan=False)
            read_json(record.encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(
                f"Request field {name!r} is {short(value)}: allowed are texts, finite numbers, "
                f"True, False, None, and lists and mappings of these ({one_line(str(error))})."
            ) from None
    if fields.get("seed") is not None:
        check_whole_number("Request field 'seed'", fields["seed"], least=0)


def fields_of_sample(fields: Mapping[str, Any], row: str, sample: int) -> dict[str, Any]:
    """The fields of one request, with a seed of its own if the fields have a seed.

    Requests with equal seeds would have equal replies. The seed is the first 31 bits of the SHA-256
    of the text `SEED ROW SAMPLE`. A sum of seed and sample would let seeds 1 and 2 share
    nearly all samples.

    Args:
        fields: the fields that all requests have.
        row: the row's id.
        sample: the number of the reply to this row, from 0.
    """
    if fields.get("seed") is None:
        return dict(fields)
    digest = hashlib.sha256(f"{fields['seed']} {row} {sample}".encode()).digest()
    return {**fields, "seed": int.from_bytes(digest[:4], "big") >> 1}
