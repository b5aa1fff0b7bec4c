"""Worked solutions of copying: for each place that asks, the place of its symbol.

s3 copy s7 s1 s4 copy blank      Place 6 asks for the symbol at place 3: s7.
                                 Place 7 asks for the symbol at place 4: s1.

The last step says how many places do not ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from synthbench.tasks.copying.places import LAYOUTS
from synthbench.tasks.copying.solver import BLANK, COPY, NOT_ASKED
from synthbench.tasks.copying.task import Copying
from synthbench.tasks.worked import Sentence, ended, expect, following

_ASKED = Sentence("Place {} asks for the symbol at place {}: {}.")
_OTHERS = Sentence("The other {} places do not ask.")


def write_steps(task: Copying, question: str) -> Iterator[str]:
    """The place of each symbol that is asked."""
    words = question.split()
    block = task.parse({"text": pa.array([question])})
    places, sources = LAYOUTS[task.variant](block["tokens"])
    for place, source in zip(places.tolist(), sources.tolist(), strict=True):
        yield _ASKED(place + 1, source + 1, words[source])
    yield _OTHERS(len(words) - len(places))


def replay_steps(task: Copying, question: str, steps: Sequence[str]) -> str:
    """Every asked place is followed to its symbol by the rule of the variant."""
    words, left = question.split(), iter(steps)
    answer = [NOT_ASKED] * len(words)
    for place, source in _asked(task.variant, words):
        step = following(left)
        expect(step, *zip(_ASKED.read(step), (place + 1, source + 1, words[source]), strict=True))
        answer[place] = words[source]
    step = following(left)
    expect(step, (_OTHERS.read(step)[0], answer.count(NOT_ASKED)))
    ended(left)
    return " ".join(answer)


def _asked(variant: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each place that asks, and the place of its symbol, from 0."""
    marks = [place for place, word in enumerate(words) if word == COPY]
    if variant == "selective":
        symbols = (place for place, word in enumerate(words) if word not in (BLANK, COPY))
        yield from zip(marks, symbols, strict=True)
        return
    if variant == "induction":
        first, source = marks[1], marks[0] + 1
    else:
        first = max(place for place, word in enumerate(words) if word not in (BLANK, COPY))
        query = [*words[marks[0] + 1 : first + 1]]
        source = next(
            place for place in range(len(query), marks[0])
            if [*words[place - len(query) : place]] == query
        )  # fmt: skip
    yield from ((place, source + place - first) for place in range(first, len(words)))
