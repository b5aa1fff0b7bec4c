"""The reference solver of parity: one row, in the paper's words."""

from __future__ import annotations


def read_equation(text: str, n_values: int) -> tuple[int, int, int, int]:
    """The four numbers of a row.

    Raises:
        ValueError: the text is not of the form 'a b c d =', or a number is too large.
    """
    *numbers, end = text.split() or [""]
    allowed = {str(number): number for number in range(n_values)}
    if len(numbers) != 4 or end != "=" or not all(number in allowed for number in numbers):
        raise ValueError(
            f"expected 'a b c d =' with four numbers from 0 to {n_values - 1}, got {text!r}"
        )
    a, b, c, d = (allowed[number] for number in numbers)
    return a, b, c, d


def asks_for_c(a: int, b: int) -> bool:
    """Task 1, g(a, b) in the paper: the answer is c if exactly one of a and b is odd, else d."""
    return (a % 2 == 1) != (b % 2 == 1)
