"""Shortcuts of Dyck words: answers from the last brackets alone, or by the rule of nesting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, Shortcut, fixed
from synthbench.tasks.dyck.solver import CLOSE, NOTHING, OPEN
from synthbench.tasks.dyck.task import Dyck

#: The brackets that `window` looks at.
_WINDOW = 8


def audit_spec(task: Dyck) -> AuditSpec:
    """The last bracket that opens, a stack of the last brackets, and nesting for `shuffled`."""
    shortcuts = [
        _shortcut("last opened", "The last bracket that opens, open or not.", _last_opened),
        _shortcut(
            f"last {_WINDOW} brackets",
            f"The last bracket that is open among the last {_WINDOW} alone.",
            lambda words: _stack(words, _WINDOW),
        ),
    ]
    if task.variant == "shuffled":
        shortcuts.append(
            _shortcut(
                "as if nested",
                "A bracket that closes takes the last open bracket away, of whatever kind.",
                lambda words: _stack(words, len(words)),
            )
        )
    return AuditSpec(
        shortcuts=tuple(shortcuts),
        distributions={"due brackets": _due},
        levels=Levels("length", task.buckets),
    )


def _shortcut(name: str, text: str, guess: Callable[[list[str]], list[str]]) -> Shortcut:
    return fixed(
        name,
        text,
        lambda columns: [guess(row.split()) for row in columns["text"].to_pylist()],
    )


def _last_opened(words: Sequence[str]) -> list[str]:
    last, answers = NOTHING, []
    for word in words:
        last = CLOSE + word[1:] if word[0] == OPEN else last
        answers.append(last)
    return answers


def _stack(words: Sequence[str], window: int) -> list[str]:
    """The top of a stack of the last brackets, or the bracket's own kind if it is empty."""
    answers = []
    for place, word in enumerate(words, start=1):
        surplus, due = 0, CLOSE + word[1:]
        for before in reversed(words[max(0, place - window) : place]):
            if before[0] != OPEN:
                surplus += 1
            elif surplus:
                surplus -= 1
            else:
                due = CLOSE + before[1:]
                break
        answers.append(due)
    return answers


def _due(columns: Columns) -> list[str]:
    labels = (label.split(" ") for label in columns["label"].to_pylist())
    return [word for label in labels for word in label if word != NOTHING]
