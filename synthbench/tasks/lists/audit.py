"""Shortcuts of lists: answers from a part of the list or by a similar function."""

from __future__ import annotations

from collections.abc import Callable

from synthbench.tasks.audit_spec import AuditSpec, Levels, Shortcut, fixed
from synthbench.tasks.lists.solver import END, UNION
from synthbench.tasks.lists.task import Lists

#: From the words of a row to those of an answer.
Guess = Callable[[list[str]], list[str]]


def audit_spec(task: Lists) -> AuditSpec:
    """Shortcuts that look at half of a list, or that keep or delete other occurrences."""
    guesses: list[tuple[str, str, Guess]] = []
    if task.variant in ("set", "union"):
        guesses = [
            ("first half alone", "The distinct symbols of the first half.", _first_half),
            ("order of the last", "The symbols in the order in which they last occur.", _last),
            ("neighbours alone", "The list without symbols that follow themselves.", _neighbours),
        ]
    elif task.variant == "delete":
        guesses = [
            ("delete the last occurrence", "The last occurrence is deleted.", _without_last),
            ("delete all occurrences", "All occurrences are deleted.", _without_all),
            ("delete nothing", "The whole list but its last symbol.", lambda words: words[:-3]),
        ]
    shortcuts = tuple(_shortcut(*guess) for guess in guesses)
    return AuditSpec(shortcuts=shortcuts, levels=Levels("length", task.buckets))


def _shortcut(name: str, text: str, guess: Guess) -> Shortcut:
    return fixed(
        name,
        text,
        lambda columns: [guess(row.split()) for row in columns["text"].to_pylist()],
    )


def _symbols(words: list[str]) -> list[str]:
    return [word for word in words if word != UNION]


def _first_half(words: list[str]) -> list[str]:
    symbols = _symbols(words)
    return [*dict.fromkeys(symbols[: len(symbols) // 2]), END]


def _last(words: list[str]) -> list[str]:
    return [*reversed(dict.fromkeys(reversed(_symbols(words)))), END]


def _neighbours(words: list[str]) -> list[str]:
    symbols = _symbols(words)
    pairs = zip(["", *symbols[:-1]], symbols, strict=True)
    return [*(word for before, word in pairs if word != before), END]


def _without_last(words: list[str]) -> list[str]:
    symbols, deleted = words[:-2], words[-1]
    place = max(place for place, word in enumerate(symbols) if word == deleted)
    return symbols[:place] + symbols[place + 1 :]


def _without_all(words: list[str]) -> list[str]:
    return [word for word in words[:-2] if word != words[-1]]
