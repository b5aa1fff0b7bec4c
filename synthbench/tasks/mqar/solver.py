"""The reference solver of mqar: a dictionary."""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence

#: The token of places without a pair or a question, and that of places that nobody asks.
BLANK, NOT_ASKED = "blank", "_"


def pairs_and_rest(
    text: str, keys: Collection[str], values: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """The value of each key, and the tokens behind the pairs.

    The keys of the pairs are those that stand in the row twice.

    Raises:
        ValueError: the text is not a row of the task.
    """
    words = text.split()
    count = collections.Counter(word for word in words if word in keys)
    asked = {key for key, times in count.items() if times > 1}
    head, rest = words[: 2 * len(asked)], words[2 * len(asked) :]
    pairs = dict(zip(head[::2], head[1::2], strict=True))
    wrong = (
        not asked
        or len(words) % 2
        or pairs.keys() != asked
        or not all(value in values for value in pairs.values())
        or not all(word in keys or word in values or word == BLANK for word in rest)
        or sorted(word for word in rest[::2] if word in asked) != sorted(asked)
        or any(word in asked for word in rest[1::2])
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
