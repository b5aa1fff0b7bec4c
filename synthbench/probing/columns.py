"""The columns of question and answer: guessed by their usual names, and read as text."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from synthbench.errors import UsageError, unknown_name

#: Usual names of the question. The first that rows have is taken.
QUESTIONS = ("question", "prompt", "problem", "text", "instruction", "query", "messages", "input")
#: Columns that belong to a question: without them one question may have several right answers.
PARTS = ("context", "passage", "input", "choices", "options")
#: Usual names of the right answer. A dot leads into an object, as in rows for verl.
ANSWERS = (
    *("answer", "label", "target", "solution", "ground_truth", "reward_model.ground_truth"),
    *("expected", "output", "response", "completion", "answers"),
)
#: Names of a reply of a model and of its reward, in logs of training.
REPLIES, REWARDS = ("completion", "response", "reply"), ("reward", "score")
#: Where Python writes the address of an object, which differs from process to process.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The columns that are read.

    Attributes:
        question: the columns that make a question, in order.
        answer: the column of the right answer; None if rows lack answers.
    """

    question: tuple[str, ...]
    answer: str | None

    def __str__(self) -> str:
        answer = f", answer {self.answer!r}" if self.answer else ", without answers"
        return f"question {' + '.join(map(repr, self.question))}{answer}"

    @property
    def names(self) -> list[str]:
        """The columns of the table that are read."""
        paths = (*self.question, *([self.answer] if self.answer else []))
        return list(dict.fromkeys(name.partition(".")[0] for name in paths))

    def question_of(self, row: Row) -> str:
        """The question as text."""
        return "\n".join(text_of(value_at(row, name)) for name in self.question)

    def answer_value(self, row: Row) -> Any:
        """The right answer as it is in the row."""
        value = _ABSENT if self.answer is None else value_at(row, self.answer)
        return None if value is _ABSENT else value

    def answer_of(self, row: Row) -> str:
        """The right answer as text, empty without a column of answers."""
        return text_of(value_at(row, self.answer)) if self.answer else ""


def choose_columns(
    names: Collection[str], example: Row, question: Sequence[str] = (), answer: str | None = None
) -> Chosen:
    """The columns of question and answer: those that the user names, or else the usual names.

    Args:
        names: the columns of the rows.
        example: a row, for columns in objects.
        question: columns that the user named.
        answer: the column that the user named.

    Raises:
        UsageError: rows lack a named column, or every usual name of a question.
    """
    for name in (*question, *([answer] if answer else [])):
        if name.partition(".")[0] not in names or value_at(example, name) is _ABSENT:
            raise unknown_name("column", name, names)
    reply, reward = _first(REPLIES, names), _first(REWARDS, names)
    if not question:
        first = _first(QUESTIONS, names)
        if first is None:
            raise UsageError(
                f"Columns {', '.join(names)}: expected one of {', '.join(QUESTIONS)} for the "
                "question. Name it with --question COL."
            )
        question = [first, *(name for name in PARTS if name in names and name != first)]
        if answer is None and reply and reward:  # a log: prompt and reply have a reward
            question, answer = [*question, reply], reward
    if answer is None:
        known = (name for name in ANSWERS if name not in question)
        answer = next((name for name in known if value_at(example, name) is not _ABSENT), None)
    return Chosen(tuple(question), answer)


def _first(usual: Sequence[str], names: Collection[str]) -> str | None:
    return next((name for name in usual if name in names), None)


_ABSENT = object()


def value_at(row: Row, name: str) -> Any:
    """The value of a column. A dot leads into an object."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def text_of(value: Any) -> str:
    """A value as text: of messages their contents, of any other structure JSON."""
    if isinstance(value, str):
        return value
    if value is _ABSENT or value is None:
        return ""
    plain_value = plain(value)
    if isinstance(plain_value, list) and all(
        isinstance(message, dict) and isinstance(message.get("content"), str)
        for message in plain_value
    ):
        return "\n".join(message["content"] for message in plain_value)
    if isinstance(plain_value, str):
        return plain_value
    return json.dumps(plain_value, ensure_ascii=False, sort_keys=True)


def plain(value: Any) -> Any:
    """A value as JSON values that are the same in every process."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # arrays, tensors and scalars of NumPy
        return plain(value.tolist())
    if isinstance(value, bytes | bytearray):
        return f"bytes {hashlib.sha256(value).hexdigest()[:16]}"
    if hasattr(value, "tobytes"):  # an image
        return f"image {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    if hasattr(value, "model_dump"):  # of pydantic
        return plain(value.model_dump())
    return _ADDRESS.sub("", f"{type(value).__name__} {value!r}")


def answer_key(answer: str) -> str:
    """An answer such that 5, 5.0 and ' 5 ' are equal, as are Yes and yes, and JSON of any order."""
    text = " ".join(answer.split()).casefold()
    if text[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.dumps(json.loads(text), sort_keys=True)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return f"{number.normalize():f}" if number.is_finite() and abs(number) < 10**30 else text
