"""Modular arithmetic for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.modular_arithmetic.solver import answer, read_equation
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic


def draw_row(task: ModularArithmetic, row: Mapping[str, Any]) -> str:
    """The equation with its answer, and the calculation in whole numbers that proves it."""
    modulus = task.parameters.modulus
    a, b = read_equation(task.variant, modulus, row["text"])
    result = answer(task.variant, modulus, a, b)
    terms, whole, left = {
        "add": (f"{a} + {b}", a + b, result),
        "subtract": (f"{a} - {b}", a - b, result),
        "multiply": (f"{a} * {b}", a * b, result),
        "divide": (f"{b} * {result}", b * result, a),
        "sum-of-squares": (f"{a} * {a} + {b} * {b}", a * a + b * b, result),
    }[task.variant]
    proof = f"{terms} = {whole}"
    if times := (whole - left) // modulus:
        proof += f" = {times} * {modulus} + {left}"
    return f"{row['text']}  ->  {result}\n{proof}"
