"""Checks of a task's `check`: it accepts right answers alone, and withstands whatever models write.

Each check returns the problems it found, as sentences.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import time
from collections.abc import Iterator
from typing import Any

from synthbench.tasks.answer_check import MOST_CHARACTERS, accepts
from synthbench.tasks.base import LABEL, Block, Task
from synthbench.text.lines import short
from synthbench.verification.conformance.rows import Problems, inputs_of, plain_rows

#: Rows whose answers are judged, and rows among them that odd answers are given to.
_JUDGED, _ODDLY_ANSWERED = 10, 2
#: The most processor seconds of one answer.
_SECONDS = 2.0
#: Texts that answer no question.
_NONSENSE = "", " ", "\n", "?", "\0", "\ud800", "\u202e", "no answer"
#: Texts that careless parsers stumble over.
_ODD = (
    *("None", "nan", "inf", "-inf", "1e999", "1 / 0", "0 ** -1", "=", "= =", "_", "()", "[]", "{}"),
    *("9 ** 9 ** 9 ** 9", "9 ^ 9 ^ 9 ^ 9", "9 << 9 << 9 << 9", "9" * 5_000, "\u0663", "\u00b2"),
    *("__import__('os').getcwd()", "lambda: 0", "''", "1, 2", "\u00bd", "\u2212 1"),
)
#: What long and deep answers are made of: a beginning, its repetition, and an end.
_LONG = ("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("1 + ", ""), ("( 1 + ", " )"), ("a", "")


def check_checker(task: Task, block: Block) -> Problems:
    """`check` accepts labels, refuses what is not right, never raises, and is quick and pure."""
    if not task.is_checked:
        return []
    rows = plain_rows(task, block.take(slice(0, _JUDGED)))
    odd = itertools.chain.from_iterable(_withstands(task, row) for row in rows[:_ODDLY_ANSWERED])
    return [*_purity(task, rows), *_refusals(task, rows), *itertools.islice(odd, 1)]


def _refusals(task: Task, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Labels are right, and a right answer beside a wrong answer is wrong."""
    labels = list({repr(row[LABEL]): row[LABEL] for row in rows}.values())
    refused = 0
    for row in rows:
        own, question = row[LABEL], inputs_of(task, row)
        if not accepts(task, row, own):
            yield f"check refuses {short(own)}, the label of {question}."
            return
        wrong = [label for label in labels if not accepts(task, row, label)]
        refused += len(wrong)
        for other in wrong[:1]:
            texts = [task.answer.format_answer(label) for label in (own, other)]
            for both in (" or ".join(texts), "\n".join(texts), ", ".join(reversed(texts))):
                if accepts(task, row, both):
                    yield (
                        f"check accepts {short(both)} for {question}, of which a part is "
                        "wrong: parse the whole answer."
                    )
                    return
    if len(labels) > 1 and not refused:
        yield f"check accepts the labels of {len(rows)} rows for each of them: it refuses nothing."


def _withstands(task: Task, row: dict[str, Any]) -> Iterator[str]:
    """Odd, long and deep answers get a verdict at once, and nonsense is refused."""
    question = inputs_of(task, row)
    odd = itertools.chain(_NONSENSE, _ODD, _long(), _values(), _mutations(task, row[LABEL]))
    for number, answer in enumerate(odd):
        begun = time.process_time()
        right = accepts(task, row, answer)
        seconds = time.process_time() - begun
        if seconds > _SECONDS:
            yield (
                f"check takes {seconds:.1f} seconds for {short(answer)} ({_size(answer)}), an "
                f"answer to {question}: bound what it parses."
            )
            return
        if right and number < len(_NONSENSE):
            yield f"check accepts {short(answer)} for {question}, which answers no question."
            return


def _long() -> Iterator[str]:
    for characters in (2_000, 20_000, MOST_CHARACTERS):
        for begin, end in _LONG:
            times = characters // (len(begin) + len(end) + 1)
            yield begin * times + "1" + end * times
            yield begin * times


def _values() -> Iterator[Any]:
    """Values other than text."""
    yield from (None, True, -1, 2**70, 0.5, float("nan"), float("inf"), [], {}, [[]], b"1", [None])
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    yield deep


def _mutations(task: Task, label: Any) -> Iterator[Any]:
    """The label's text with parts left out, repeated and in another order."""
    text = task.answer.format_answer(label)
    words = text.split()
    yield from ("".join(words), text * 2, text[:-1], text[1:], text[::-1], f"{text} =", f"({text})")
    yield from (text.replace(word, "0", 1) for word in words[:8])
    yield from (" ".join(words[:place] + words[place + 1 :]) for place in range(min(8, len(words))))
    for between in ("", " ", "\n", " + "):
        yield between.join([text] * (MOST_CHARACTERS // (len(text) + len(between))))


def _size(answer: Any) -> str:
    return f"{len(answer):,} characters" if isinstance(answer, str) else type(answer).__name__


def _purity(task: Task, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Verdicts depend on the row and the answer alone, and rows stay as they are."""
    pairs = [(row, other[LABEL]) for row in rows for other in rows]
    before = copy.deepcopy(rows)
    first = [accepts(task, *pair) for pair in pairs]
    fresh = pickle.loads(pickle.dumps(task))
    second = [accepts(fresh, *pair) for pair in reversed(pairs)][::-1]
    if rows != before:
        yield "check changes the row that it is given."
    if first != second:
        yield (
            "check gave another verdict when it was asked again: it must depend on the row and the "
            "answer alone."
        )
