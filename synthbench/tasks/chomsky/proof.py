"""Answers to many strings of one length are checked, mostly without computing them.

Strings `x` and answers `y` are places among a function's `symbols` and `answers`, `(rows, length)`
each; `_` is the place behind the last answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.chomsky.functions import Calculation
from synthbench.tasks.chomsky.stack import ModularArithmeticBrackets, SolveEquation
from synthbench.tasks.chomsky.task import Chomsky
from synthbench.tasks.tokens import Vocabulary, pad
from synthbench.tasks.trees.nesting import Nesting

X = NDArray[np.int64]
#: Which rows are right, bool `(rows,)`. NumPy's comparisons are untyped.
Right = Any
_END, _BEHIND = 2, 3


def prove_rows(task: Chomsky, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    x, ids = block["tokens"].astype(np.int64) - 1, answers.read(rows["label"])
    y, lengths = pad(ids[0].astype(np.int64) - 1, ids[1], fill=-1), (x >= 0).sum(axis=1)
    right = np.zeros(len(x), np.bool_)
    answer_width, check = _CHECKS[task.variant]
    for length in np.unique(lengths).tolist():
        width = answer_width(length)
        alike = np.flatnonzero((lengths == length) & (ids[1] == width))
        if len(alike):
            right[alike] = check(x[alike, :length], y[alike, :width], *task.function.rule)
    right &= numpy_array(rows["length"]) == lengths
    return right


def _even_pairs(x: X, y: X, program: bool) -> Right:
    """Each change undoes the one before, so only both ends count."""
    return y[:, 0] == (x[:, 0] != x[:, -1])


def _modular_arithmetic_simple(x: X, y: X, program: bool, modulus: int) -> Right:
    """An automaton, whose state is a sum and a term that is yet to be added."""
    digits, operators = x[:, ::2], x[:, 1::2]
    is_calculation = (digits < modulus).all(axis=1) & (operators >= modulus).all(axis=1)
    is_calculation &= x.shape[1] % 2 == 1
    total, term = np.zeros(len(x), np.int64), digits[:, 0]
    for operator, digit in zip(operators.T - modulus, digits[:, 1:].T, strict=False):
        if program:
            total = np.where(operator < 2, total + term, total)
            term = np.select([operator == 0, operator == 1], [digit, -digit], term * digit)
        else:
            results = [term + digit, term - digit]
            term = np.select([operator == 0, operator == 1], results, term * digit)
        term %= modulus
    return is_calculation & ((total + term) % modulus == y[:, 0])


def _parity_check(x: X, y: X, program: bool) -> Right:
    return np.bitwise_xor.reduce(x, axis=1) == y[:, 0]


def _cycle_navigation(x: X, y: X, program: bool, modulus: int) -> Right:
    """A walk back from the end by each step leads to 0."""
    back, forth = ((x == symbol).sum(axis=1) for symbol in (0, 2))
    return (y[:, 0] + back - forth) % modulus == 0


def _stack_manipulation(x: X, y: X, program: bool) -> Right:
    """From the end: a pop takes away the nearest push before it that no other pop has taken."""
    is_action, is_pop, pops = x >= 2, x == 2, np.zeros(len(x), np.int64)
    kept = np.zeros(x.shape, np.bool_)
    for place in reversed(range(x.shape[1])):
        kept[:, place] = ~is_pop[:, place] & (pops == 0)
        pops = np.where(is_pop[:, place], pops + 1, np.maximum(pops - 1, 0))
    order = np.argsort(~kept[:, ::-1], axis=1, kind="stable")
    content = np.take_along_axis(np.where(x > 2, x - 3, x)[:, ::-1], order, axis=1)
    height, places = kept.sum(axis=1)[:, None], np.arange(x.shape[1] + 1)
    content = np.pad(content, ((0, 0), (0, 1)))
    expected = np.select([places < height, places == height], [content, _END], _BEHIND)
    in_order = ~is_action[:, 0] & ~(is_action[:, :-1] & ~is_action[:, 1:]).any(axis=1)
    return in_order & (expected == y).all(axis=1)


def _reverse_string(x: X, y: X, program: bool) -> Right:
    return (x == y[:, ::-1]).all(axis=1)


def _modular_arithmetic_brackets(x: X, y: X, program: bool, modulus: int) -> Right:
    return _values(x, ModularArithmeticBrackets(modulus=modulus)) == y[:, 0]


def _solve_equation(x: X, y: X, program: bool, modulus: int) -> Right:
    """The answer in place of x."""
    function = SolveEquation(modulus=modulus)
    hidden, equals = (function.symbols.index(symbol) for symbol in "x=")
    left, is_hidden = x[:, :-2], x[:, :-2] == hidden
    filled = np.where(is_hidden, y, left)
    is_equation = (is_hidden.sum(axis=1) == 1) & (x[:, -2] == equals) & (x[:, -1] < modulus)
    if not is_equation.all() or (filled == equals).any():
        raise ValueError("not an equation")
    return _values(filled, function) == x[:, -1]


def _values(x: X, function: Calculation) -> X:
    """The values of a function's expressions, the innermost brackets first.

    Raises:
        ValueError: a string is not an expression.
    """
    symbols, modulus = function.symbols, function.modulus
    minus, closing = symbols.index("-"), symbols.index(")")
    outside = np.full((len(x), 1), len(symbols))
    before, behind = np.hstack([outside, x[:, :-1]]), np.hstack([x[:, 1:], outside])
    is_sign = (x == minus) & (behind < modulus) & (before >= modulus) & (before != closing)
    has_sign = np.hstack([outside < 0, is_sign[:, :-1]])
    value: X = np.where(has_sign, -x, x)[~is_sign]
    nesting = Nesting.read(np.where(is_sign, 0, x + 1), symbols)
    symbol = nesting.tokens - 1
    is_digit, is_operand = symbol < modulus, (symbol < modulus) | nesting.opening
    for places, parts in nesting.from_inside():
        first, last = parts[:, 0], parts[:, -1]
        if parts.shape[1] == 1:
            fits, result = is_digit[first], value[first]
        else:
            fits = is_operand[first] & ~is_operand[parts[:, 1]] & is_operand[last]
            fits &= parts.shape[1] == 3
            operator, a, b = symbol[parts[:, 1]], value[first], value[last]
            kinds = [operator == symbols.index(name) for name in "+-"]
            result = np.select(kinds, [a + b, a - b], a * b)
        if not fits.all():
            raise ValueError("not an expression")
        value[places] = result % modulus
    if not is_operand[nesting.roots].all():
        raise ValueError("not an expression")
    return value[nesting.roots] % modulus


def _duplicate_string(x: X, y: X, program: bool) -> Right:
    return (y.reshape(len(x), 2, -1) == x[:, None]).all(axis=(1, 2))


def _missing_duplicate(x: X, y: X, program: bool) -> Right:
    """With the answer in the hidden place, both halves are the same."""
    half, hidden = x.shape[1] // 2, x == 2
    filled, end = np.where(hidden, y, x), x[:, 2 * half :]
    same = (filled[:, :half] == filled[:, half : 2 * half]).all(axis=1) & (end == 3).all(axis=1)
    return same & (hidden.sum(axis=1) == 1) & (filled[:, : 2 * half] < 2).all(axis=1)


def _odds_first(x: X, y: X, program: bool) -> Right:
    """Both parts of the answer, put back where they come from."""
    string, first = np.empty_like(x), (x.shape[1] + 1 - program) // 2
    string[:, int(program) :: 2], string[:, 1 - program :: 2] = y[:, :first], y[:, first:]
    return (string == x).all(axis=1)


def _binary_addition(x: X, y: X, program: bool) -> Right:
    both = zip(_numbers(x), _ended(y), strict=True)
    return np.array([a + b == c for ((a, b), c) in both])


def _binary_multiplication(x: X, y: X, program: bool) -> Right:
    both = zip(_numbers(x), _ended(y), strict=True)
    return np.array([a * b == c for ((a, b), c) in both])


def _compute_sqrt(x: X, y: X, program: bool) -> Right:
    """The square of the root is not too large, the square of the next number is."""
    step = -1 if program else 1
    both = zip(_numbers(x[:, ::step]), _numbers(y[:, ::step]), strict=True)
    return np.array([root**2 <= number < (root + 1) ** 2 for (number,), (root,) in both])


def _bucket_sort(x: X, y: X, program: bool) -> Right:
    """The answer ascends, and has as many of each digit."""
    numbers = range(1 + max(int(x.max()), int(y.max())))
    same = [(x == digit).sum(axis=1) == (y == digit).sum(axis=1) for digit in numbers]
    return np.logical_and.reduce([(y[:, 1:] >= y[:, :-1]).all(axis=1), *same])


def _numbers(x: X) -> Iterator[list[int]]:
    """The binary numbers of each row, the least digit first, with a 2 between two numbers."""
    for row in (ord("0") + x).astype(np.uint8):
        yield [int(part[::-1], 2) for part in row.tobytes().split(b"2")]


def _ended(y: X) -> Iterator[int]:
    """The numbers of answers with an end, or -1 for an answer in another form."""
    ends, places = (y == _END).argmax(axis=1), np.arange(y.shape[1])
    is_behind, is_end = places > ends[:, None], places == ends[:, None]
    fits = (np.select([is_behind, is_end], [y == _BEHIND, y == _END], y < 2)).all(axis=1)
    last = y[np.arange(len(y)), np.maximum(ends - 1, 0)]
    fits &= (ends == 1) | ((ends > 1) & (last == 1))
    for (number,), fit in zip(_numbers(np.where(places < ends[:, None], y, 0)), fits, strict=True):
        yield number if fit else -1


def _same(length: int) -> int:
    return length


def _digit(length: int) -> int:
    return 1


def _longer(length: int) -> int:
    return length + 1


#: For each variant the number of tokens of answers by the length of strings, and the check.
_CHECKS: dict[str, tuple[Callable[[int], int], Callable[..., Any]]] = {
    "even-pairs": (_digit, _even_pairs),
    "modular-arithmetic-simple": (_digit, _modular_arithmetic_simple),
    "parity-check": (_digit, _parity_check),
    "cycle-navigation": (_digit, _cycle_navigation),
    "stack-manipulation": (_longer, _stack_manipulation),
    "reverse-string": (_same, _reverse_string),
    "modular-arithmetic-brackets": (_digit, _modular_arithmetic_brackets),
    "solve-equation": (_digit, _solve_equation),
    "duplicate-string": (lambda length: 2 * length, _duplicate_string),
    "missing-duplicate": (_digit, _missing_duplicate),
    "odds-first": (_same, _odds_first),
    "binary-addition": (_longer, _binary_addition),
    "binary-multiplication": (_same, _binary_multiplication),
    "compute-sqrt": (lambda length: (length + 1) // 2, _compute_sqrt),
    "bucket-sort": (_same, _bucket_sort),
}
