"""Worked solutions of associative recall: for each asked key, the place of its pair.

k1 v5 k3 v2 k3 blank k1 blank      Place 5 asks for k3, which is at place 3 with v2 behind it.
                                   Place 7 asks for k1, which is at place 1 with v5 behind it.

The last step says how many places do not ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.mqar.solver import BLANK, NOT_ASKED
from synthbench.tasks.mqar.task import AssociativeRecall
from synthbench.tasks.worked import Sentence, ended, expect, following

_ASKED = Sentence("Place {} asks for {}, which is at place {} with {} behind it.")
_OTHERS = Sentence("The other {} places do not ask.")


def write_steps(task: AssociativeRecall, question: str) -> Iterator[str]:
    """The pair of each key that follows the pairs once more."""
    if not task.parameters.is_plain:
        slots = task.read_slots(question)
        for place, (_, way) in enumerate(slots, start=1):
            for at, key, behind in way:
                yield _ASKED(place, key, at, behind)
        yield _OTHERS(sum(not way for _, way in slots))
        return
    pairs, rest = task.read(question)
    places = {key: 1 + 2 * number for number, key in enumerate(pairs)}
    for place, word in enumerate(rest, start=1 + 2 * len(pairs)):
        if word in pairs:
            yield _ASKED(place, word, places[word], pairs[word])
    yield _OTHERS(len(pairs) + len(rest))


def replay_steps(task: AssociativeRecall, question: str, steps: Sequence[str]) -> str:
    """The places of a step hold what it says, and no repeated key is left out."""
    words, left = question.split(), iter(steps)
    answer = [NOT_ASKED] * len(words)
    if not task.parameters.is_plain:
        for place in range(0, len(words), 2):
            wanted = words[place]
            while words[place + 1] == BLANK and wanted.startswith("k"):
                pairs = (p for p in range(place - 2, -1, -2) if words[p] == wanted)
                at = next(p for p in pairs if words[p + 1] != BLANK)
                step = following(left)
                truth = (place + 1, wanted, at + 1, words[at + 1])
                expect(step, *zip(_ASKED.read(step), truth, strict=True))
                answer[place] = wanted = words[at + 1]
        step = following(left)
        expect(step, (_OTHERS.read(step)[0], answer.count(NOT_ASKED)))
        ended(left)
        return " ".join(answer)
    first: dict[str, int] = {}
    for place, word in enumerate(words, start=1):
        if word not in first or not word.startswith("k"):
            first.setdefault(word, place)
            continue
        step = following(left)
        expect(step, *zip(_ASKED.read(step), _truth(words, first[word], place), strict=True))
        answer[place - 1] = words[first[word]]
    step = following(left)
    expect(step, (_OTHERS.read(step)[0], answer.count(NOT_ASKED)))
    ended(left)
    return " ".join(answer)


def _truth(words: Sequence[str], first: int, place: int) -> tuple[object, ...]:
    return place, words[place - 1], first, words[first]
