"""The reference solver of state tracking: multiply the elements of one row, one after another."""

from __future__ import annotations

import functools

#: The most elements of a row.
LONGEST = 1_000
#: A group's name, such as `Z60`, `S3` or `A4xZ5`, or the lines of its table of products.
Group = str | tuple[str, ...]


def running_products(group: Group, text: str) -> list[str]:
    """The product of the elements so far, at each element.

    Args:
        group: the group.
        text: its elements, separated by spaces.

    Raises:
        ValueError: the text lacks elements, has too many, or one that is not in the group.
    """
    words, name = text.split(), group if isinstance(group, str) else "the group"
    if not 1 <= len(words) <= LONGEST:
        raise ValueError(f"expected 1 to {LONGEST} elements of {name}, got {len(words)}")
    for word in words:
        if not is_symbol(group, word):
            raise ValueError(f"{word!r} is not an element of {name}: expected {_form(group)}")
    products = words[:1]
    for word in words[1:]:
        products.append(product(group, products[-1], word))
    return products


#: Rows repeat the products and elements of a group, of which there are few.
_remembered = functools.lru_cache(maxsize=1 << 16)


@_remembered
def product(group: Group, x: str, y: str) -> str:
    """First x, then y: numbers are added, and permutations send i to y(x(i))."""
    if isinstance(group, tuple):
        return group[int(x)].split()[int(y)]
    factors = zip(group.split("x"), x.split(":"), y.split(":"), strict=True)
    return ":".join(_product_in_factor(*each) for each in factors)


def _product_in_factor(factor: str, x: str, y: str) -> str:
    if factor[0] == "Z":
        return str((int(x) + int(y)) % int(factor[1:]))
    if factor[0] == "H":  # matrices (1 a c, 0 1 b, 0 0 1)
        (a, b, c), (d, e, f) = map(int, x), map(int, y)
        modulus = int(factor[1:])
        return f"{(a + d) % modulus}{(b + e) % modulus}{(c + f + a * e) % modulus}"
    return "".join(y[int(point) - 1] for point in x)


@_remembered
def is_element(group: Group, word: str) -> bool:
    """True if a word is an element of the group."""
    if isinstance(group, tuple):
        return word in map(str, range(len(group)))
    factors, parts = group.partition("-")[0].split("x"), word.split(":")
    return len(factors) == len(parts) and all(map(_is_in_factor, factors, parts))


@_remembered
def is_symbol(group: Group, word: str) -> bool:
    """True if a row may have the word: of some groups rows have some elements alone."""
    if group == "A5-generators":
        return word in ("23451", "21435")
    if group == "S5-swaps":
        swapped = [point for point, place in zip(word, "12345", strict=False) if point != place]
        return is_element(group, word) and len(swapped) in (0, 2)
    return is_element(group, word)


def _is_in_factor(factor: str, part: str) -> bool:
    kind, size = factor[0], int(factor[1:])
    if kind == "Z":
        return part in map(str, range(size))
    if kind == "H":
        return len(part) == 3 and set(part) <= set("0123456789"[:size])
    if kind == "D":  # a square's corners in order, from any of them and either way round
        ways = "".join(map(str, range(1, size // 2 + 1))) * 2
        return len(part) == size // 2 and (part in ways or part in ways[::-1])
    if sorted(part) != sorted("123456789"[:size]):
        return False
    return kind == "S" or _is_even(part)


def _is_even(permutation: str) -> bool:
    """True if points and cycles are both even or both odd in number."""
    left, cycles = set(permutation), 0
    while left:
        point, cycles = min(left), cycles + 1
        while point in left:
            left.remove(point)
            point = permutation[int(point) - 1]
    return (len(permutation) - cycles) % 2 == 0


def _form(group: Group) -> str:
    """The form of an element that a row of the group may have."""
    if isinstance(group, tuple):
        return f"a number from 0 to {len(group) - 1}"
    named = {
        "A5-generators": "23451 or 21435",
        "S5-swaps": "12345, or two of its numbers exchanged",
    }
    if group in named:
        return named[group]
    forms = {
        "Z": "a number from 0 to {last}",
        "S": "a permutation of 1 to {size}",
        "A": "an even permutation of 1 to {size}",
        "D": "the numbers 1 to {corners} in a circle, from any of them and either way round",
        "H": "three digits from 0 to {last}",
    }
    parts = []
    for factor in group.split("x"):
        size = int(factor[1:])
        parts.append(forms[factor[0]].format(size=size, last=size - 1, corners=size // 2))
    return " and ".join(parts) + (", separated by a colon" if len(parts) > 1 else "")
