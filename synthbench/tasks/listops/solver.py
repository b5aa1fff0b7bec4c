"""The reference solver of ListOps: one row, word by word, in the paper's words."""

from __future__ import annotations

from synthbench.tasks.trees.expression import Expression

_OPERATORS = ("MIN", "MAX", "MED", "SM")
_VALUES = {str(digit): digit for digit in range(10)}


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
        if word in _VALUES:
            node = Expression(word, [], _VALUES[word])
        elif word == "]":
            if not open_lists or not open_lists[-1].arguments:
                raise ValueError(f"nothing to close in {text!r}")
            node = open_lists.pop()
            node.value = apply(node.symbol, [argument.value for argument in node.arguments])
            node.depth = 1 + max([argument.depth for argument in node.arguments])
            # Among digits it does not matter which one decides.
            kept = deciding(node, strict) if node.depth > 1 else node.arguments
            node.dependency_depth = 1 + max([argument.dependency_depth for argument in kept])
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


def apply(operator: str, values: list[int]) -> int:
    """The value of an operator over one or more values."""
    if operator == "SM":
        return sum(values) % 10
    decisive = _decisive(operator, values)
    return sum(decisive) // len(decisive)


def _decisive(operator: str, values: list[int]) -> list[int]:
    """The value of MIN, MAX or MED, or for MED the two middle values whose mean it is."""
    if operator == "MIN":
        return [min(values)]
    if operator == "MAX":
        return [max(values)]
    return sorted(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]


def deciding(node: Expression, strict: bool) -> list[Expression]:
    """The arguments that decide an operator's value: MIN and MAX one, MED one or two, SM all.

    Among arguments with the same value it is the shallowest (`strict`), or the first in order.
    """
    if node.symbol == "SM":
        return node.arguments
    kept: list[Expression] = []
    for decisive in _decisive(node.symbol, [argument.value for argument in node.arguments]):
        equal = [one for one in node.arguments if one.value == decisive and one not in kept]
        kept.append(min(equal, key=lambda one: one.dependency_depth) if strict else equal[0])
    return kept
