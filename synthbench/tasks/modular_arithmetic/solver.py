"""The reference solver of modular arithmetic: one equation, in Python's whole numbers."""

from __future__ import annotations

#: The form of an equation of each variant.
FORMS = {
    "add": "a + b =",
    "subtract": "a - b =",
    "multiply": "a * b =",
    "divide": "a / b =",
    "sum-of-squares": "a ^2 + b ^2 =",
}


def read_equation(variant: str, modulus: int, text: str) -> tuple[int, int]:
    """The numbers a and b of an equation.

    Raises:
        ValueError: the text does not have the variant's form, or a number is not allowed.
    """
    form, words = FORMS[variant].split(), text.split()
    allowed = {str(number): number for number in range(modulus)}
    terms = dict(zip(form, words, strict=False))
    fits = len(words) == len(form) and all(
        word in allowed if name in "ab" else word == name
        for name, word in zip(form, words, strict=False)
    )
    if not fits or (variant == "divide" and terms["b"] == "0"):
        remark = " and b not 0" if variant == "divide" else ""
        raise ValueError(
            f"expected {FORMS[variant]!r} with a and b from 0 to {modulus - 1}{remark}, "
            f"got {text!r}"
        )
    return allowed[terms["a"]], allowed[terms["b"]]


def answer(variant: str, modulus: int, a: int, b: int) -> int:
    """The value of an equation, from 0 to modulus - 1."""
    match variant:
        case "add":
            return (a + b) % modulus
        case "subtract":
            return (a - b) % modulus
        case "multiply":
            return a * b % modulus
        case "divide":
            return a * pow(b, -1, modulus) % modulus
        case _:
            return (a**2 + b**2) % modulus
