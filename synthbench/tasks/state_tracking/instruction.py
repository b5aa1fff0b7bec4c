"""The rule of a group in words, as prompts state it."""

from __future__ import annotations

from collections.abc import Sequence

_PERMUTATIONS = (
    "The product of two permutations applies the first and then the second: if the first sends "
    "1 to 3 and the second sends 3 to 2, their product sends 1 to 2."
)
#: What rows of some groups have, where that is not every element.
_PARTS = {
    "swaps": "The line has only permutations that exchange at most two numbers.",
    "generators": "The line has only 23451 and 21435.",
}


def in_words(rule: str | Sequence[str], example: str) -> str:
    """An element of the group, and a product.

    Args:
        rule: the group's name, such as `A4xZ5` or `S5-swaps`, or the lines of its table.
        example: one of its elements.
    """
    if not isinstance(rule, str):
        lines = "; ".join(f"{number}: {row}" for number, row in enumerate(rule))
        return (
            f"An element is a number from 0 to {len(rule) - 1}. The product of x and y is in the "
            f"list of x, at position y, counted from 0. The lists are {lines}."
        )
    whole, _, part = rule.partition("-")
    factors = whole.split("x")
    elements, products = zip(*map(_rule_of, factors), strict=True)
    if len(factors) > 1:
        return (
            f"An element is a pair such as {example}: {', a colon, and '.join(elements)}. The "
            "product of two pairs is the pair of the products of their first and of their "
            f"second parts. {' '.join(products)}"
        )
    return " ".join(filter(None, [f"An element is {elements[0]}.", products[0], _PARTS.get(part)]))


def _rule_of(factor: str) -> tuple[str, str]:
    """An element of `Z60`, `S3`, `A4`, `D8` or `H3` in words, and a sentence about products."""
    kind, size = factor[0], int(factor[1:])
    if kind == "Z":
        return f"a number from 0 to {size - 1}", (
            f"The product of two numbers is their sum modulo {size}."
        )
    if kind == "H":
        return f"three digits from 0 to {size - 1}", (
            f"The product of abc and def has the digits a + d, b + e and c + f + a * e, each "
            f"modulo {size}."
        )
    if kind == "D":
        size //= 2
    even = "an even" if kind == "A" else "a"
    points = ", ".join(map(str, range(1, size)))
    element = (
        f"{even} permutation of 1 to {size}, written as the numbers that {points} and {size} are "
        "sent to, in this order"
    )
    if kind == "D":
        element += f": a symmetry of a polygon with the corners {points} and {size} in a circle"
    return element, _PERMUTATIONS
