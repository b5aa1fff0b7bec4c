"""Worked solutions of state tracking: the product with each further element.

1 4 3 (modulo 5)       It begins with 1.
                       1 with 4: 1 + 4 = 5, which is 0 modulo 5. So 0.
                       0 with 3: 0 + 3 = 3, which is 3 modulo 5. So 3.

213 132                It begins with 213.
                       213 with 132: 1 to 2 to 3, 2 to 1 to 1, 3 to 3 to 2. So 312.

120 211 (matrices)     It begins with 120.
                       120 with 211: 1 + 2 = 3, 2 + 1 = 3, 0 + 1 + 1 * 1 = 2, modulo 3. So 002.

There is a step for each element. Points are followed through both permutations. In a table of
products the step names the list and the position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.state_tracking.solver import running_products
from synthbench.tasks.state_tracking.task import StateTracking
from synthbench.tasks.worked import Sentence, ended, expect, following

_FIRST = Sentence("It begins with {}.")
_PRODUCT = Sentence("{} with {}: {}. So {}.")
_SUM = Sentence("{} + {} = {}, which is {} modulo {}")
_MATRIX = Sentence("{} + {} = {}, {} + {} = {}, {} + {} + {} * {} = {}, modulo {}")
_ENTRY = Sentence("position {} of list {} is {}")


def write_steps(task: StateTracking, question: str) -> Iterator[str]:
    """The product so far at each element."""
    elements, products = question.split(), running_products(task.rule, question)
    factors = _factors(task)
    yield _FIRST(elements[0])
    for x, y, z in zip(products, elements[1:], products[1:], strict=False):
        parts = zip(factors, x.split(":"), y.split(":"), z.split(":"), strict=True)
        yield _PRODUCT(x, y, "; ".join(_work(*part) for part in parts), z)


def _work(factor: str, x: str, y: str, z: str) -> str:
    """The work behind a product of two elements of one factor of the group."""
    if factor[0] == "Z":
        return _SUM(x, y, int(x) + int(y), z, factor[1:])
    if factor[0] == "H":
        return _MATRIX(*_sums(x, y), factor[1:])
    if factor == "own":
        return _ENTRY(y, x, z)
    paths = (f"{start} to {middle} to {end}" for start, (middle, end) in _paths(x, z))
    return ", ".join(paths)


def _factors(task: StateTracking) -> list[str]:
    return task.variant.partition("-")[0].split("x")


def _sums(x: str, y: str) -> list[int]:
    """The terms and the sums of the digits of two matrices (1 a c, 0 1 b, 0 0 1)."""
    (a, b, c), (d, e, f) = map(int, x), map(int, y)
    return [a, d, a + d, b, e, b + e, c, f, a, e, c + f + a * e]


def _paths(x: str, z: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Each point with where x takes it, and where the product takes it."""
    return enumerate(zip(x, z, strict=True), start=1)


def replay_steps(task: StateTracking, question: str, steps: Sequence[str]) -> str:
    """Sums are done again, and points are followed through both permutations."""
    first, *others = question.split()
    left = iter(steps)
    step = following(left)
    expect(step, (_FIRST.read(step)[0], first))
    products = [first]
    for y in others:
        step = following(left)
        x, element, work, z = _PRODUCT.read(step)
        expect(step, (x, products[-1]), (element, y))
        whole = zip(_factors(task), x.split(":"), y.split(":"), strict=True)
        parts = zip(whole, work.split("; "), strict=True)
        table = task.rule if isinstance(task.rule, tuple) else ()
        expect(step, (z, ":".join(_replayed(step, table, *of, part) for of, part in parts)))
        products.append(z)
    ended(left)
    return " ".join(products)


def _replayed(step: str, table: Sequence[str], factor: str, x: str, y: str, work: str) -> str:
    """The product of two elements of a factor, if the work that leads to it holds."""
    if factor[0] == "Z":
        addend, other, total, rest, modulus = _SUM.read(work)
        true = int(x) + int(y)
        expect(step, (addend, x), (other, y), (total, true), (modulus, factor[1:]))
        expect(step, (rest, true % int(modulus)))
        return rest
    if factor[0] == "H":
        *terms, modulus = _MATRIX.read(work)
        expect(step, (modulus, factor[1:]), *zip(terms, _sums(x, y), strict=True))
        return "".join(str(int(terms[place]) % int(modulus)) for place in (2, 5, 10))
    if factor == "own":
        position, line, entry = _ENTRY.read(work)
        expect(step, (position, y), (line, x), (entry, table[int(x)].split()[int(y)]))
        return entry
    ends = []
    for point, path in enumerate(work.split(", "), start=1):
        start, middle, end = path.split(" to ")
        expect(step, (start, point), (middle, x[point - 1]))
        expect(step, (end, y[int(middle) - 1]))
        ends.append(end)
    expect(step, (len(ends), len(x)))
    return "".join(ends)
