"""Worked solutions of lists: the new symbols, or the removed symbol.

s4 s1 union s7 s4       Place 1: s4 is new.
                        Place 2: s1 is new.
                        Place 4: s7 is new.
                        The other 1 symbols are repeated.
s4 s1 s4 delete s4      s4 is at place 1 first.
                        Behind place 1: s1 s4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.lists.solver import DELETE, END, UNION
from synthbench.tasks.lists.task import Lists
from synthbench.tasks.worked import Sentence, ended, expect, following

_LIST = Sentence("The list is {}.")
_NEW = Sentence("Place {}: {} is new.")
_REPEATED = Sentence("The other {} symbols are repeated.")
_FIRST = Sentence("{} is at place {} first.")
_BEFORE, _BEHIND = Sentence("Before place {}: {}."), Sentence("Behind place {}: {}.")


def write_steps(task: Lists, question: str) -> Iterator[str]:
    """The list, its new symbols, or the parts before and behind the deleted symbol."""
    answer = task.solve(question)  # a ValueError for a text that is not a row of the variant
    words = question.split()
    if task.variant == "identity":
        yield _LIST(" ".join(answer))
    elif task.variant == "delete":
        place = words.index(words[-1])
        yield _FIRST(words[-1], place + 1)
        if place:
            yield _BEFORE(place + 1, " ".join(words[:place]))
        if place < len(words) - 3:
            yield _BEHIND(place + 1, " ".join(words[place + 1 : -2]))
    else:
        count = answer.index(END)
        for symbol in answer[:count]:
            yield _NEW(words.index(symbol) + 1, symbol)
        yield _REPEATED(len(words) - words.count(UNION) - count)


def replay_steps(task: Lists, question: str, steps: Sequence[str]) -> str:
    """Each step is compared with the row, which is read from its first symbol to its last."""
    words, left = question.split(), iter(steps)
    replay = {"identity": _replay_list, "delete": _replay_delete}.get(task.variant, _replay_new)
    answer = replay(words, left)
    ended(left)
    return " ".join(answer)


def _replay_list(words: Sequence[str], steps: Iterator[str]) -> list[str]:
    step = following(steps)
    (said,) = _LIST.read(step)
    expect(step, (said, " ".join(words)))
    return said.split()


def _replay_new(words: Sequence[str], steps: Iterator[str]) -> list[str]:
    seen: list[str] = []
    repeated = 0
    for place, word in enumerate(words, start=1):
        if word in seen:
            repeated += 1
        elif word != UNION:
            step = following(steps)
            expect(step, *zip(_NEW.read(step), (place, word), strict=True))
            seen.append(word)
    step = following(steps)
    expect(step, (_REPEATED.read(step)[0], repeated))
    return [*seen, END]


def _replay_delete(words: Sequence[str], steps: Iterator[str]) -> list[str]:
    """The parts around the deleted symbol are put together and compared with the list."""
    step = following(steps)
    deleted, place = _FIRST.read(step)
    expect(step, (deleted, words[-1]))
    before: list[str] = []
    behind: list[str] = []
    for step in steps:
        sentence = _BEFORE if step.startswith("Before") and not behind else _BEHIND
        named, said = sentence.read(step)
        again = before if sentence is _BEFORE else behind
        expect(step, (named, place), (bool(again), False))
        if sentence is _BEFORE:
            before = said.split()
        else:
            behind = said.split()
    expect(step, (place, len(before) + 1), (deleted in before, False))
    expect(step, (" ".join([*before, deleted, *behind, DELETE, deleted]), " ".join(words)))
    return before + behind
