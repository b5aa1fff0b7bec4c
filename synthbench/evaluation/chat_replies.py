"""Replies of OpenAI's chat interface: of a server, of a batch, and as `llm.ask` keeps them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

#: Reasons why a reply ended at a limit of tokens, in lower case: of OpenAI's interface and vLLM,
#: Anthropic's, Inspect and Gemini, OpenAI's responses, and Transformers.
_LIMITS = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "max_completion_tokens",
     "max_new_tokens", "max_length", "token_limit", "model_context_window_exceeded"}
)  # fmt: skip
#: No request has more tokens.
_MOST_TOKENS = 1 << 53


class RunningText(str):
    """A model's reply: `evaluate` finds the answer in it, also where it reads values.

    Attributes:
        truncated: whether the reply stopped at the limit of tokens.
    """

    truncated: bool = False


def is_truncated(reason: Any) -> bool:
    """True if a finish reason says that a reply stopped at a limit of tokens.

    Example:
        >>> from synthbench.evaluation.chat_replies import is_truncated
        >>> [is_truncated(reason) for reason in ("length", "MAX_TOKENS", "stop", None)]
        [True, True, False, False]
    """
    if isinstance(reason, Mapping):  # SGLang's `{"type": "length", "length": 64}`
        reason = reason.get("type")
    return isinstance(reason, str) and reason.lower() in _LIMITS


@dataclasses.dataclass(frozen=True)
class ChatReply:
    """The reply of a model.

    Attributes:
        text: its text, without its thoughts if the server keeps them apart. None for nothing.
        finish_reason: why it stopped, such as `stop`, or `length` at the limit of tokens.
        prompt_tokens: tokens of the prompt, None if the server does not say.
        completion_tokens: tokens that were written, thoughts included; None likewise.
    """

    text: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None

    @property
    def running_text(self) -> RunningText | None:
        """The text, which knows whether it was truncated."""
        text: RunningText | None = running_text(self.text, self.finish_reason)
        return text


def read_chat_reply(body: Any) -> ChatReply:
    """The reply in the body of a response.

    Raises:
        ValueError: it is not a chat completion. The text names the missing field.
    """
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise ValueError("it has no choices[0].message")
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str | None):
        raise ValueError(f"the content of its message is of type {type(content).__name__}")
    usage, reason = body.get("usage"), choice.get("finish_reason")
    counts = usage if isinstance(usage, Mapping) else {}
    return ChatReply(
        content,
        reason if isinstance(reason, str) else "length" if is_truncated(reason) else None,
        _count(counts.get("prompt_tokens")),
        _count(counts.get("completion_tokens")),
    )


def _count(count: Any) -> int | None:
    """A number of tokens, None for anything that is not a possible number."""
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS
    return count if is_count else None


def is_batch_line(record: Mapping[Any, Any]) -> bool:
    """True if a record is a line of a batch's output file or error file."""
    return "custom_id" in record and ("response" in record or "error" in record)


def read_batch_line(record: Mapping[Any, Any]) -> dict[str, Any]:
    """The row's id, and the reply; None if the request failed."""
    response = record.get("response")
    try:
        reply = read_chat_reply(response.get("body") if isinstance(response, Mapping) else None)
    except ValueError:
        return {"id": record["custom_id"], "prediction": None}
    return {"id": record["custom_id"], "prediction": reply.running_text}


def is_kept_reply(record: Mapping[Any, Any]) -> bool:
    """True for a record that `llm.ask` has kept."""
    sample = record.get("sample")
    return (
        record.keys() >= {"id", "sample", "completion", "finish_reason"}
        and isinstance(record["id"], str)
        and isinstance(sample, int)
        and not isinstance(sample, bool)
        and isinstance(record["completion"], str | None)
        and isinstance(record["finish_reason"], str | None)
    )


def kept_reply(record: Mapping[Any, Any]) -> ChatReply:
    """The reply of a record for which `is_kept_reply` is true."""
    counts = (_count(record.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return ChatReply(record["completion"], record["finish_reason"], *counts)


def read_kept_reply(record: Mapping[Any, Any]) -> dict[str, Any]:
    """The row's id, and the reply."""
    reply = running_text(record["completion"], record["finish_reason"])
    return {"id": record["id"], "prediction": reply}


def running_text(text: Any, reason: Any = None) -> Any:
    """A text as a model's reply, with its finish reason. Anything else stays as it is.

    A reply without a text that stopped at the limit, perhaps in thoughts that the server keeps
    apart, is empty.
    """
    if text is None and is_truncated(reason):
        text = ""
    if not isinstance(text, str):
        return text
    reply = RunningText(text)
    reply.truncated = is_truncated(reason)
    return reply
