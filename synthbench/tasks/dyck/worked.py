"""Worked solutions of Dyck words: after each bracket how many are open and which is due.

o1 o2 c1 c2     o1: 1 open, c1 is due.
                o2: 2 open, c2 is due.
                c1: 1 open, c2 is due.
                c2: all are closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.dyck.solver import CLOSE, NOTHING, OPEN
from synthbench.tasks.dyck.task import Dyck
from synthbench.tasks.worked import Sentence, ended, expect, following

_DUE = Sentence("{}: {} open, {} is due.")
_CLOSED = Sentence("{}: all are closed.")


def write_steps(task: Dyck, question: str) -> Iterator[str]:
    """A step for each bracket."""
    count = 0
    for word, due in zip(question.split(), task.solve(question), strict=True):
        count += 1 if word[0] == OPEN else -1
        yield _DUE(word, count, due) if count else _CLOSED(word)


def replay_steps(task: Dyck, question: str, steps: Sequence[str]) -> str:
    """The places of open brackets, of which the greatest of a kind is closed."""
    left, answer = iter(steps), list[str]()
    kinds = [word[1:] for word in question.split()]
    places: set[int] = set()
    for place, word in enumerate(question.split()):
        if word[0] == OPEN:
            places.add(place)
        else:
            places.remove(max(opening for opening in places if kinds[opening] == word[1:]))
        step = following(left)
        if not places:
            expect(step, (_CLOSED.read(step)[0], word))
            answer.append(NOTHING)
            continue
        named, count, due = _DUE.read(step)
        expect(step, (named, word), (count, len(places)), (due, CLOSE + kinds[max(places)]))
        answer.append(due)
    ended(left)
    return " ".join(answer)
