"""Worked solutions of ListOps: every list as soon as its arguments are known.

    [MED 4 8 5 [MAX 8 4 9 ] ]      [MAX 8 4 9 ]: the largest is 9.
                                   [MED 4 8 5 9 ]: in order 4 5 8 9, and in the middle are 5 and
                                   8; half of their sum 13, rounded down, is 6.

There is a step for each list, in which every inner list is its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees.expression import Expression
from synthbench.tasks.trees.rewriting import Rewriting
from synthbench.tasks.worked import Sentence, expect

_SMALLEST = Sentence("[MIN {} ]: the smallest is {}.")
_LARGEST = Sentence("[MAX {} ]: the largest is {}.")
_SUM = Sentence("[SM {} ]: {} = {}, and its last digit is {}.")
_MIDDLE = Sentence("[MED {} ]: in order {}, and in the middle is {}.")
_MIDDLES = Sentence(
    "[MED {} ]: in order {}, and in the middle are {} and {}; half of their sum {}, rounded down, "
    "is {}."
)


def write_steps(task: ListOps, question: str) -> Iterator[str]:
    """The value of each list, the innermost first."""
    yield from _lists(task.read(question))


def _lists(node: Expression) -> Iterator[str]:
    for argument in node.arguments:
        if argument.arguments:
            yield from _lists(argument)
    if node.arguments:
        yield _step(node.symbol, [argument.value for argument in node.arguments], node.value)


def _step(operator: str, values: list[int], result: int) -> str:
    words, (half, odd) = _joined(values), divmod(len(values), 2)
    match operator:
        case "MIN":
            return _SMALLEST(words, result)
        case "MAX":
            return _LARGEST(words, result)
        case "SM":
            return _SUM(words, " + ".join(map(str, values)), sum(values), result)
    ordered = sorted(values)
    if odd:
        return _MIDDLE(words, _joined(ordered), result)
    below, above = ordered[half - 1 : half + 1]
    return _MIDDLES(words, _joined(ordered), below, above, below + above, result)


def _joined(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def replay_steps(task: ListOps, question: str, steps: Sequence[str]) -> str:
    """Each step replaces a list of the text by its value, until a digit is left.

    Raises:
        ValueError: a step does not follow.
    """
    left = Rewriting(question)
    for step in steps:
        part = step.partition(":")[0]
        left.replace(part, _replayed(part, step))
    if len(left.text) != 1:
        raise ValueError(f"the steps end before the answer is known: {left.text[:80]!r} is left")
    return left.text


def _replayed(part: str, step: str) -> str:
    """The value of a list without inner lists, if what a step says of it holds."""
    operator, *words = part.removesuffix(" ]").split()
    values = [int(word) for word in words]
    if operator == "[MIN" or operator == "[MAX":
        _, said = (_SMALLEST if operator == "[MIN" else _LARGEST).read(step)
        expect(step, (said, min(values) if operator == "[MIN" else max(values)))
        return said
    if operator == "[SM":
        _, terms, total, said = _SUM.read(step)
        expect(step, (terms, " + ".join(words)), (total, sum(values)), (said, total[-1]))
        return said
    while len(values) > 2:  # what is in the middle is left when both ends are taken away
        values.remove(min(values))
        values.remove(max(values))
    ordered = " ".join(sorted(words))
    if len(values) == 1:
        _, order, said = _MIDDLE.read(step)
        expect(step, (order, ordered), (said, values[0]))
        return said
    _, order, below, above, total, said = _MIDDLES.read(step)
    pairs = (below, min(values)), (above, max(values)), (total, sum(values))
    expect(step, (order, ordered), *pairs, (said, int(total) // 2))
    return said
