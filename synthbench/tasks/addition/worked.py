"""Worked solutions of addition: place by place, as at school.

    9 5 + 7 =      Digit 1 from the right: 5 + 7 + 0 = 12, so write 2 and carry 1.
                   Digit 2 from the right: 9 + 0 + 1 = 10, so write 0 and carry 1.
                   The sum is 102.

A product is the sum of the products with each digit of the second number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.addition.solver import answer, read_numbers
from synthbench.tasks.addition.task import Addition
from synthbench.tasks.worked import Sentence, ended, expect, following

_PLACE = Sentence("Digit {} from the right: {} + {} + {} = {}, so write {} and carry {}.")
_PRODUCT = Sentence("{} * {} = {}, in all {}.")
_RESULT = Sentence("The {} is {}.")
#: How the result is written, by whether zeros are in front of it and by its order.
_WRITTEN = {
    (True, "plain"): Sentence("With zeros in front: {}."),
    (False, "reversed"): Sentence("With its digits reversed: {}."),
    (True, "reversed"): Sentence("With zeros in front, then reversed: {}."),
}
_NOUNS = {"addition": "sum", "multiplication": "product"}


def write_steps(task: Addition, question: str) -> Iterator[str]:
    """Each place with its carry, or the product with each digit, then the result."""
    parameters = task.parameters
    a, b = read_numbers(task.variant, parameters.zero_padding, question)
    if task.variant == "addition":
        carry = 0
        for place in range(max(len(a), len(b))):
            x, y = (int(number) // 10**place % 10 for number in (a, b))
            carried, (carry, digit) = carry, divmod(x + y + carry, 10)
            yield _PLACE(place + 1, x, y, carried, x + y + carried, digit, carry)
    else:
        whole = 0
        for place, digit in enumerate(reversed(b)):
            part = int(digit) * 10**place
            whole += int(a) * part
            yield _PRODUCT(int(a), part, int(a) * part, whole)
    plain = answer(task.variant, "plain", False, a, b)
    yield _RESULT(_NOUNS[task.variant], plain)
    if sentence := _WRITTEN.get((parameters.zero_padding, parameters.order)):
        yield sentence(answer(task.variant, parameters.order, parameters.zero_padding, a, b))


def replay_steps(task: Addition, question: str, steps: Sequence[str]) -> str:
    """Every step is calculated again, with the digits of the question."""
    words, left = question.split(), iter(steps)
    sign = words.index("+" if task.variant == "addition" else "*")
    a, b = words[:sign], words[sign + 1 : -1]
    is_sum = task.variant == "addition"
    result = _replay_places(a, b, left) if is_sum else _replay_products(a, b, left)
    step = following(left)
    noun, written = _RESULT.read(step)
    expect(step, (noun, _NOUNS[task.variant]), (written, result))
    order = task.parameters.order
    if sentence := _WRITTEN.get((task.parameters.zero_padding, order)):
        step = following(left)
        (written,) = sentence.read(step)
    digits = written[::-1] if order == "reversed" else written
    padded = max(len(a), len(b)) + 1 if is_sum else len(a) + len(b)
    length = padded if task.parameters.zero_padding else len(result)
    expect(step, (digits, "0" * (length - len(result)) + result))
    ended(left)
    return written


def _replay_places(a: list[str], b: list[str], left: Iterator[str]) -> str:
    """The digits of the sum that the steps write, from the right to the left."""
    digits, carry = "", "0"
    for place in range(1, 1 + max(len(a), len(b))):
        step = following(left)
        at, x, y, carried, total, digit, onward = _PLACE.read(step)
        true = [number[-place] if place <= len(number) else "0" for number in (a, b)]
        expect(step, (at, place), (x, true[0]), (y, true[1]), (carried, carry))
        expect(step, (total, sum(map(int, (x, y, carried)))), (total, int(onward + digit)))
        expect(step, (len(digit), 1))
        digits, carry = digit + digits, onward
    return (carry + digits).lstrip("0") or "0"


def _replay_products(a: list[str], b: list[str], left: Iterator[str]) -> str:
    """The sum of the products that the steps name, one for each digit of b."""
    number, whole = int("".join(a)), 0
    for place, digit in enumerate(reversed(b)):
        step = following(left)
        said, factor, product, so_far = _PRODUCT.read(step)
        expect(step, (said, number), (int(factor), int(digit + "0" * place)))
        expect(step, (product, number * int(factor)), (so_far, whole + int(product)))
        whole = int(so_far)
    return str(whole)
