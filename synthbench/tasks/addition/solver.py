"""The reference solver of addition: Python's whole numbers."""

from __future__ import annotations

import re

#: The most digits of a number.
LONGEST = 500
#: The sign of each variant.
SIGNS = {"addition": "+", "multiplication": "*"}


def read_numbers(variant: str, zero_padding: bool, text: str) -> tuple[str, str]:
    """The numbers a and b of a row, as written.

    Raises:
        ValueError: the text is not a row of the task.
    """
    sign = SIGNS[variant]
    match = re.fullmatch(rf"([0-9](?: [0-9])*) \{sign} ([0-9](?: [0-9])*) =", text)
    numbers = [number.replace(" ", "") for number in match.groups()] if match else []
    if not numbers or not _are_written_right(variant, zero_padding, numbers):
        zeros = "padded with zeros" if zero_padding else "without zeros in front"
        raise ValueError(
            f"expected two numbers of at most {LONGEST} digits, {zeros}, such as '3 8 {sign} 9 5 ="
            f"', got {text[:80]!r}"
        )
    a, b = numbers
    return a, b


def _are_written_right(variant: str, zero_padding: bool, numbers: list[str]) -> bool:
    """True if numbers have the zeros in front that they should have, and no more."""
    if max(map(len, numbers)) > LONGEST:
        return False
    shortest = [str(int(number)) for number in numbers]
    if zero_padding and variant == "addition":
        width = max(map(len, shortest))
        shortest = [number.zfill(width) for number in shortest]
    return numbers == shortest


def answer(variant: str, order: str, zero_padding: bool, a: str, b: str) -> str:
    """The digits of the sum or product, in the order that is asked for."""
    if variant == "addition":
        result, most = int(a) + int(b), max(len(a), len(b)) + 1
    else:
        result, most = int(a) * int(b), len(a) + len(b)
    digits = str(result).zfill(most if zero_padding else 1)
    return digits[::-1] if order == "reversed" else digits
