"""The reference solver of arithmetic: one row, character by character, in the paper's words."""

from __future__ import annotations

import math

from synthbench.tasks.trees.expression import Expression

_OPERATORS = ("+", "*")
_DIGITS = tuple("0123456789")


def read_expression(text: str, modulus: int) -> Expression:
    """Parse one row and work out value and depth of every operation.

    Raises:
        ValueError: the text is not an expression.
    """
    open_brackets: list[list[Expression | str]] = [[]]
    for character in text:
        parts = open_brackets[-1]
        if character == "(":
            open_brackets.append([])
        elif character in _OPERATORS:
            parts.append(character)
        elif character in _DIGITS:
            parts.append(Expression(character, [], int(character) % modulus))
        elif character == ")" and len(open_brackets) > 1:
            open_brackets.pop()
            match parts:
                case [Expression() as left, str() as operator, Expression() as right]:
                    open_brackets[-1].append(operation(operator, left, right, modulus))
                case _:
                    raise ValueError(f"brackets without an operation of two operands: {text!r}")
        else:
            raise ValueError(f"{character!r} is out of place in {text!r}")
    match open_brackets:
        case [[Expression() as root]]:
            return root
    raise ValueError(f"{text!r} is not an expression")


def operation(operator: str, left: Expression, right: Expression, modulus: int) -> Expression:
    """The operation of two operands, with its value and depths."""
    value = apply(operator, [left.value, right.value], modulus)
    node = Expression(operator, [left, right], value)
    node.depth = 1 + max(left.depth, right.depth)
    node.dependency_depth = 1 + max(operand.dependency_depth for operand in deciding(node))
    return node


def apply(operator: str, values: list[int], modulus: int) -> int:
    """The sum or the product of one or more values."""
    result = sum(values) if operator == "+" else math.prod(values)
    return int(result % modulus)


def deciding(node: Expression) -> list[Expression]:
    """The operands that decide an operation's value: a factor of 0 if any, else both."""
    if node.symbol == "*":
        zeros = [operand for operand in node.arguments if operand.value == 0]
        if zeros:
            return [min(zeros, key=lambda operand: operand.dependency_depth)]
    return node.arguments
