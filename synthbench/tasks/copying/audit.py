"""Audit of copying: answers from symbols of the row that were not asked."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, Shortcut, fixed
from synthbench.tasks.copying.solver import BLANK, COPY, NOT_ASKED
from synthbench.tasks.copying.task import Copying

#: From the symbols before the last mark or query and the number of questions to answers.
Guess = Callable[[list[str], int], list[str]]


def audit_spec(task: Copying) -> AuditSpec:
    """Shortcuts by frequency and by place, and by the last symbol of a query."""
    shortcuts = [
        _guess(task, "most frequent symbol", "The row's most frequent symbol everywhere.", _common),
        _guess(task, "first symbol", "The row's first symbol everywhere.", _first),
        _guess(task, "last symbol", "The row's last symbol everywhere.", _last),
    ]
    if task.variant == "ngram":
        shortcuts.append(
            fixed(
                "after the query's last symbol",
                "What follows the last symbol of the query at its first place in the row.",
                lambda columns: [_after(text) for text in columns["text"].to_pylist()],
            )
        )
    return AuditSpec(
        shortcuts=tuple(shortcuts),
        distributions={"symbols that are asked": _asked_symbols},
        levels=Levels("length", task.buckets),
    )


def _guess(task: Copying, name: str, text: str, guess: Guess) -> Shortcut:
    def answer(row: str) -> list[str]:
        words = row.split()
        count = _questions(task.variant, words)
        known = words[: words.index(COPY)] if task.variant != "induction" else words[:-count]
        symbols = [word for word in known if word not in (BLANK, COPY)]
        return [NOT_ASKED] * (len(words) - count) + guess(symbols, count)

    return fixed(name, text, lambda columns: [*map(answer, columns["text"].to_pylist())])


def _questions(variant: str, words: Sequence[str]) -> int:
    """Number of tokens at the end that ask."""
    if variant == "selective":
        return words.count(COPY)
    return 1 + words[len(words) - 1 - words[::-1].index(COPY) :].count(BLANK)


def _common(symbols: list[str], count: int) -> list[str]:
    return [collections.Counter(symbols).most_common(1)[0][0]] * count


def _last(symbols: list[str], count: int) -> list[str]:
    return symbols[-1:] * count


def _first(symbols: list[str], count: int) -> list[str]:
    return symbols[:1] * count


def _after(text: str) -> list[str]:
    """The symbols behind the last symbol of the query, at its first place."""
    words = text.split()
    mark = words.index(COPY)
    count = _questions("ngram", words)
    last = words[len(words) - count]
    start = words.index(last) + 1
    answers = (words[start : min(mark, start + count)] + [last] * count)[:count]
    return [NOT_ASKED] * (len(words) - count) + answers


def _asked_symbols(columns: Columns) -> list[str]:
    labels = (label.split(" ") for label in columns["label"].to_pylist())
    return [word for label in labels for word in label if word != NOT_ASKED]
