"""The reference solver of mqar: a dictionary."""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence

#: The token of places without a pair or a question, and that of places that are not asked.
BLANK, NOT_ASKED = "blank", "_"


def pairs_and_rest(
    text: str, keys: Collection[str], values: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """The value of each key, and the tokens behind the pairs.

    The keys of the pairs are those that are in the row twice.

    Raises:
        ValueError: the text is not a row of the task.
    """
    words = text.split()
    count = collections.Counter(word for word in words if word in keys)
    repeated = {key for key, times in count.items() if times > 1}
    head, rest = words[: 2 * len(repeated)], words[2 * len(repeated) :]
    pairs = dict(zip(head[::2], head[1::2], strict=True))
    wrong = (
        not repeated
        or len(words) % 2
        or pairs.keys() != repeated
        or not all(value in values for value in pairs.values())
        or not all(word in keys or word in values or word == BLANK for word in rest)
        or sorted(word for word in rest[::2] if word in repeated) != sorted(repeated)
        or any(word in repeated for word in rest[1::2])
    )
    if wrong:
        raise ValueError(
            f"expected pairs of a key and a value, then each of these keys once more and other "
            f"tokens, two places for each, such as 'k1 v5 k3 v2 k3 {BLANK} k1 {BLANK}'. Got "
            f"{text[:80]!r}"
        )
    return pairs, rest


def recall(pairs: Mapping[str, str], rest: Sequence[str]) -> list[str]:
    """For each token of a row the value that is asked there, `_` where nothing is asked."""
    return [NOT_ASKED] * (2 * len(pairs)) + [pairs.get(word, NOT_ASKED) for word in rest]


def recall_written(
    text: str, keys: Collection[str], values: Collection[str], hops: int
) -> list[tuple[str, list[tuple[int, str, str]]]]:
    """The answer at each place, and the pairs that lead to it: for rows of slots of two places.

    Args:
        text: the row. A slot is a pair, a key and a blank, or two blanks.
        keys: all keys.
        values: all values.
        hops: the most pairs that lead to a value.

    Returns:
        For each place the value that is asked, or `_`, and the place (from 1), key and second token
        of each pair on the way.

    Raises:
        ValueError: the text is not a row of the task.
    """
    words = text.split()
    memory: dict[str, tuple[int, str]] = {}
    recalled: list[tuple[str, list[tuple[int, str, str]]]] = []
    for place, (first, second) in enumerate(zip(words[::2], words[1::2], strict=False)):
        answer = NOT_ASKED
        way: list[tuple[int, str, str]] = []
        if first in keys and (second in keys or second in values):
            memory[first] = 1 + 2 * place, second
        elif first in keys and second == BLANK:
            answer = first
            while answer in keys and answer in memory and len(way) < hops:
                at, behind = memory[answer]
                way.append((at, answer, behind))
                answer = behind
        elif (first, second) != (BLANK, BLANK):
            answer = ""
        if answer not in values and answer != NOT_ASKED:
            break
        recalled += [(answer, way), (NOT_ASKED, [])]
    if len(recalled) != len(words) or all(answer == NOT_ASKED for answer, _ in recalled):
        raise ValueError(
            "expected slots of two places: a key with a value or another key, a key with a "
            f"{BLANK}, which asks for its value, or two of {BLANK}, got {text[:80]!r}"
        )
    return recalled
