"""The reference solver of ListOps: one row, word by word, in the paper's words."""

from __future__ import annotations

from synthbench.tasks.trees.expression import Expression

_OPERATORS = ("MIN", "MAX", "MED", "SM")
_DIGITS = {str(digit): digit for digit in range(10)}


def read_tree(text: str, strict: bool) -> Expression:
    """Parse one row and work out value, depth and dependency depth of every list as it closes.

    Args:
        text: the row.
        strict: which of several arguments with the same value decides, see `deciding`.

    Raises:
        ValueError: the text is not a ListOps expression.
    """
    open_lists: list[Expression] = []
    done: Expression | None = None
    for word in text.split():
        if done is not None:
            raise ValueError(f"{word!r} after the end of the expression {text!r}")
        if (digit := _DIGITS.get(word)) is not None:
            node = Expression(word, [], digit)
        elif word == "]":
            if not open_lists or not open_lists[-1].arguments:
                raise ValueError(f"nothing to close in {text!r}")
            node = open_lists.pop()
            _evaluate(node, strict)
        elif word.startswith("["):
            if word[1:] not in _OPERATORS:
                raise ValueError(f"unknown operator {word!r} in {text!r}")
            open_lists.append(Expression(word[1:], []))
            continue
        else:
            raise ValueError(f"unknown token {word!r} in {text!r}")
        if open_lists:
            open_lists[-1].arguments.append(node)
        else:
            done = node
    if done is None:
        raise ValueError(f"the expression ends too early: {text!r}")
    return done


def _evaluate(node: Expression, strict: bool) -> None:
    """Work out a list whose arguments are all there."""
    node.depth = 1 + max([argument.depth for argument in node.arguments])
    # Among digits it does not matter which one decides.
    if node.depth == 1:
        node.value = apply(node.symbol, [argument.value for argument in node.arguments])
        node.dependency_depth = 1
        return
    kept = deciding(node, strict)
    node.value = _combine(node.symbol, [argument.value for argument in kept])
    node.dependency_depth = 1 + max([argument.dependency_depth for argument in kept])


def apply(operator: str, values: list[int]) -> int:
    """The value of an operator over one or more values."""
    return _combine(operator, _decisive(operator, values))


def _decisive(operator: str, values: list[int]) -> list[int]:
    """The values that decide: all of SM, one of MIN and MAX, the one or two in MED's middle."""
    if operator == "SM":
        return values
    if operator == "MIN":
        return [min(values)]
    if operator == "MAX":
        return [max(values)]
    return sorted(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]


def _combine(operator: str, decisive: list[int]) -> int:
    """The sum of the deciding values modulo 10, or their mean, rounded down."""
    return sum(decisive) % 10 if operator == "SM" else sum(decisive) // len(decisive)


def deciding(node: Expression, strict: bool) -> list[Expression]:
    """The arguments that decide an operator's value: SM all, MIN and MAX one, MED one or two.

    Among arguments with the same value it is the shallowest (`strict`), or the first in order.
    """
    if node.symbol == "SM":
        return node.arguments
    kept: list[Expression] = []
    for value in _decisive(node.symbol, [argument.value for argument in node.arguments]):
        equal = [
            argument
            for argument in node.arguments
            if argument.value == value and argument not in kept
        ]
        shallowest = strict and len(equal) > 1
        kept.append(
            min(equal, key=lambda argument: argument.dependency_depth) if shallowest else equal[0]
        )
    return kept
