"""Audit of mqar: answers that do not look at the key that is asked."""

from __future__ import annotations

from collections.abc import Callable

from synthbench.tasks.audit_spec import AuditSpec, Columns, Shortcut, fixed
from synthbench.tasks.mqar.solver import BLANK, NOT_ASKED, recall
from synthbench.tasks.mqar.task import AssociativeRecall


def audit_spec(task: AssociativeRecall) -> AuditSpec:
    """Shortcuts by the order of pairs and questions, and rows with the same pairs."""
    same_pairs = {"the same pairs": lambda columns: task.problem(task.parse(columns))}
    if not task.parameters.is_plain:
        return AuditSpec(shortcuts=_slot_guesses(), near_duplicate_keys=same_pairs)

    def guess(
        name: str, text: str, answers: Callable[[list[str], list[str]], list[str]]
    ) -> Shortcut:
        """A guess from the values in the order of presentation and the right answers in theirs."""

        def answer(text: str) -> list[str]:
            pairs, rest = task.read(text)
            keys = [word for word in rest if word in pairs]
            guessed = answers([*pairs.values()], [pairs[key] for key in keys])
            return recall(dict(zip(keys, guessed, strict=True)), rest)

        return fixed(name, text, lambda columns: [*map(answer, columns["text"].to_pylist())])

    def slots(columns: Columns) -> list[int]:
        """Places where keys are asked, in slots of two places from the end of the pairs."""
        rows = map(task.read, columns["text"].to_pylist())
        return [
            place // 2 for pairs, rest in rows for place, word in enumerate(rest) if word in pairs
        ]

    return AuditSpec(
        shortcuts=(
            guess(
                "value of the first pair",
                "The value of the first pair for every key: chance among the values of the row.",
                lambda values, right: [values[0]] * len(values),
            ),
            guess(
                "value of the last pair",
                "The value of the last pair for every key.",
                lambda values, right: [values[-1]] * len(values),
            ),
            guess(
                "order of presentation",
                "The value of the first pair for the key that is asked first, and so on.",
                lambda values, right: values,
            ),
            guess(
                "opposite order",
                "The value of the last pair for the key that is asked first, and so on.",
                lambda values, right: values[::-1],
            ),
            guess(
                "answer to the key asked before",
                "The right value of the key before; of the last pair for the key asked first.",
                lambda values, right: [values[-1], *right[:-1]],
            ),
        ),
        near_duplicate_keys=same_pairs,
        distributions={"slots of questions": slots},
    )


def _slot_guesses() -> tuple[Shortcut, ...]:
    """Shortcuts of rows with noise, rewritten keys and second hops."""

    def guess(name: str, text: str, choose: Callable[[list[str], str], str]) -> Shortcut:
        def answer(row: str) -> list[str]:
            words = row.split()
            answers = [NOT_ASKED] * len(words)
            for place in range(0, len(words) - 1, 2):
                if words[place] != BLANK and words[place + 1] == BLANK:
                    answers[place] = choose(words[:place], words[place])
            return answers

        return fixed(name, text, lambda columns: [*map(answer, columns["text"].to_pylist())])

    def first_stored(words: list[str], key: str) -> str:
        """The first value of a key, or of the key behind it."""
        behind = words[words.index(key) + 1]
        return behind if behind.startswith("v") else words[words[::2].index(behind) * 2 + 1]

    return (
        guess(
            "last value",
            "The last value before the question.",
            lambda words, key: [word for word in words if word.startswith("v")][-1],
        ),
        guess(
            "first value of the key",
            "The value that the key was given first, whatever it is given later.",
            first_stored,
        ),
    )
