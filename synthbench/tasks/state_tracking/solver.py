"""The reference solver of state tracking: multiply the elements of one row, one after another."""

from __future__ import annotations

import functools

#: The most elements of a row.
LONGEST = 1_000


def running_products(group: str, text: str) -> list[str]:
    """The product of the elements so far, at each element.

    Args:
        group: the group's name, such as `Z60`, `S3` or `A4xZ5`.
        text: its elements, separated by spaces.

    Raises:
        ValueError: the text has no elements, too many, or one that is not in the group.
    """
    words = text.split()
    if not 1 <= len(words) <= LONGEST:
        raise ValueError(f"expected 1 to {LONGEST} elements of {group}, got {len(words)}")
    for word in words:
        if not is_element(group, word):
            raise ValueError(f"{word!r} is not an element of {group}: expected {_form(group)}")
    products = words[:1]
    for word in words[1:]:
        products.append(product(group, products[-1], word))
    return products


#: Rows repeat the products and elements of a group, of which there are few.
_remembered = functools.lru_cache(maxsize=1 << 16)


@_remembered
def product(group: str, x: str, y: str) -> str:
    """First x, then y: numbers are added, and permutations send i to y(x(i))."""
    factors = zip(group.split("x"), x.split(":"), y.split(":"), strict=True)
    return ":".join(
        str((int(one) + int(other)) % int(factor[1:]))
        if factor[0] == "Z"
        else "".join(other[int(point) - 1] for point in one)
        for factor, one, other in factors
    )


@_remembered
def is_element(group: str, word: str) -> bool:
    """Whether a word is an element of the group."""
    factors, parts = group.split("x"), word.split(":")
    return len(factors) == len(parts) and all(map(_is_in_factor, factors, parts))


def _is_in_factor(factor: str, part: str) -> bool:
    kind, size = factor[0], int(factor[1:])
    if kind == "Z":
        return part in map(str, range(size))
    if sorted(part) != sorted("123456789"[:size]):
        return False
    return kind == "S" or _is_even(part)


def _is_even(permutation: str) -> bool:
    """Whether points and cycles are both even or both odd in number."""
    left, cycles = set(permutation), 0
    while left:
        point, cycles = min(left), cycles + 1
        while point in left:
            left.remove(point)
            point = permutation[int(point) - 1]
    return (len(permutation) - cycles) % 2 == 0


def _form(group: str) -> str:
    """What an element of the group looks like."""
    forms = {
        "Z": "a number from 0 to {last}",
        "S": "a permutation of 1 to {size}",
        "A": "an even permutation of 1 to {size}",
    }
    parts = [
        forms[factor[0]].format(size=int(factor[1:]), last=int(factor[1:]) - 1)
        for factor in group.split("x")
    ]
    return " and ".join(parts) + (", separated by a colon" if len(parts) > 1 else "")
