"""Countdown: an equation of the given numbers that has the value of the target.

    3 7 25 100 -> 46     100 + 3 * ( 7 - 25 )     all: each number exactly once
    3 7 25 100 -> 46     25 + 3 * 7               some: each number at most once

Every right equation is a right answer. The label is the equation that the row was drawn from. Rows
with the same numbers and the same target are held out together.

Sources: Gandhi et al., Stream of Search (COLM 2024); Pan et al., TinyZero (2025), whose published
rows have three or four numbers below 100 and targets from 10 to 99.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.countdown import solver
from synthbench.tasks.countdown.drawn import SIGNS, draw_equations
from synthbench.tasks.countdown.reading import is_right, plain_signs
from synthbench.tasks.features import list_of, value
from synthbench.tasks.numeric import list_array
from synthbench.tasks.scalar import Text
from synthbench.tasks.tokens import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

Ids = NDArray[np.uint8]
_ARROW = 1  # the id of the number n is n + 1
_OPERATIONS = "+-*/"
#: The tokens of labels. The id of the number n is n + the number of signs.
_EQUATIONS = Vocabulary((*SIGNS, *map(str, range(1, solver.LARGEST + 1))))


@dataclasses.dataclass(frozen=True)
class CountdownParameters(Parameters):
    """The parameters of countdown."""

    numbers: tuple[int, ...] = parameter(
        (3, 4), "numbers of a row", least=solver.FEWEST, most=solver.MOST
    )
    largest: int = parameter(100, "numbers are from 1 to this", least=10, most=solver.LARGEST)
    operations: str = parameter(_OPERATIONS, "the operations, some of +-*/, at least + or -")

    def __post_init__(self) -> None:
        super().__post_init__()
        operations = self.operations
        known = [sign for sign in _OPERATIONS if sign in operations]
        if len(known) < len(operations) or not {"+", "-"} & set(known):
            nearest = "".join(known) if {"+", "-"} & set(known) else "".join(["+", *known])
            raise ParameterError(
                f"Parameter operations={operations!r}: allowed are different signs of "
                f"{_OPERATIONS}, with + or - among them, such as {nearest!r}."
            )


class Equation(Text):
    """An equation as text, `25 + 3 * 7`."""

    @property
    def expected(self) -> str:
        return "an equation such as 25 + 3 * 7 or (25 - 3) × 2 = 44"

    @property
    def wanted(self) -> str:
        return "the equation"


class Countdown(TextTask):
    """Equations of given numbers that reach a target. Every right equation is a right answer."""

    name = "countdown"
    title = "Countdown"
    summary = "Which equation of the given numbers has the value of the target?"
    source = "Stream of Search (Gandhi et al., COLM 2024); TinyZero (Pan et al., 2025)"
    variants: ClassVar[Mapping[str, str]] = {
        "all": "Each number is used exactly once.",
        "some": "Each number is used at most once.",
    }
    parameters_type = CountdownParameters
    categories = ("text-generation",)
    bucket_name = "count of numbers"  # see `buckets`
    group_by = (Breakdown("numbers"), Breakdown("target", width=10))
    scored_columns = ("text",)
    drawn_by_workers = False
    # Three numbers, an arrow and a number that an equation of them gives: no ordinary text.
    ordinary_bits, ordinary_tokens = 0.0, solver.FEWEST + 2
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"numbers": (3,)},
        "medium": {},
        "hard": {"numbers": (5, 6)},
    }

    def solve(self, question: str) -> str:
        numbers, target = solver.read(question)
        return solver.solve(numbers, target, self.parameters.operations, self._uses_all)

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> str | None:
        """The equation with the signs `+ - * /`; None for a text with anything else."""
        text = self.answer.read(prediction, None)
        return None if text is None else plain_signs(text)

    def check(self, row: Mapping[str, Any], answer: Any) -> bool:
        numbers, target = solver.read(row["text"])
        operations = self.parameters.operations
        return isinstance(answer, str) and is_right(
            answer, numbers, target, operations, self._uses_all
        )

    @property
    def _uses_all(self) -> bool:
        return self.variant == "all"

    @property
    def tokens(self) -> tuple[str, ...]:
        largest = max(self.parameters.largest, solver.LARGEST_TARGET)
        return "->", *map(str, range(1, largest + 1))

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "text": value("string"),
            "label": Equation(),
            "numbers": list_of(value("int16")),
            "target": value("int16"),
        }

    @property
    def splits(self) -> tuple[Split, ...]:
        counts = self.parameters.numbers
        return Split("train", 327_680, counts, evaluation=False), Split("test", 1_024, counts)

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        lengths: NDArray[np.int64] = columns["numbers"].value_lengths().to_numpy().astype(np.int64)
        return lengths

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        least = solver.LEAST_TARGET
        targets = least + draws.integers(solver.LARGEST_TARGET + 1 - least, n)
        # So many numbers are in the equation.
        used = np.full(n, bucket) if self._uses_all else 2 + draws.integers(bucket - 1, n)
        numbers = 1 + draws.integers(self.parameters.largest, (n, bucket))
        equations, possible = np.zeros((n, 4 * bucket - 5), np.int64), np.zeros(n, np.bool_)
        for count in range(2, bucket + 1):
            rows = np.flatnonzero(used == count)
            drawn = draw_equations(
                draws, targets[rows], count, self.parameters.largest, self.parameters.operations
            )
            numbers[rows, :count], possible[rows] = drawn.numbers, drawn.possible
            equations[rows, : drawn.ids.shape[1]] = drawn.ids
        if not self._uses_all:  # a target among the numbers would be an answer by itself
            possible &= (numbers != targets[:, None]).all(axis=1)
        shuffled = np.take_along_axis(numbers, draws.permutations(n, bucket), axis=1)
        tokens = np.column_stack([1 + shuffled, np.full(n, _ARROW), 1 + targets])
        block = Block({"tokens": tokens.astype(np.uint8), "equation": equations.astype(np.int16)})
        return block.take(possible)

    def render(self, block: Block) -> dict[str, Any]:
        import pyarrow as pa

        numbers, targets = self._numbers(block)
        counts = np.count_nonzero(numbers, axis=1)
        return {
            "label": _EQUATIONS.join(block["equation"]),
            "numbers": list_array(pa.array(numbers[numbers > 0], pa.int16()), counts),
            "target": targets,
        }

    def _numbers(self, block: Block) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """The numbers `(rows, most)`, 0 behind them, and the targets `(rows,)`."""
        tokens = block["tokens"].astype(np.int16)
        arrow = (tokens == _ARROW).argmax(axis=1)[:, None]
        places = np.arange(tokens.shape[1])
        targets = np.take_along_axis(tokens, np.minimum(arrow + 1, places[-1]), axis=1)[:, 0] - 1
        return np.where(places < arrow, tokens - 1, 0), targets

    @property
    def instruction(self) -> str:
        """The rule of the variant."""
        names = self.parameters.operations
        signs = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        uses = (
            "uses every number exactly once (a number that is there twice, exactly twice)"
            if self._uses_all
            else "uses each number at most once (a number that is there twice, at most twice), and "
            "may leave out some"
        )
        exact = ", and division is exact: 7 / 2 is 3.5" if "/" in self.parameters.operations else ""
        return (
            "The line has some numbers, an arrow and a target. The answer is an equation that has "
            f"the value of the target. It {uses}, and no other number. It may have brackets and "
            f"only the operations {signs}{exact}."
        )

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of the sorted numbers and the target."""
        numbers, targets = self._numbers(block)
        width = np.zeros((len(numbers), solver.MOST + 1), np.uint8)
        ordered = np.sort(numbers, axis=1)[:, -solver.MOST :]
        width[:, solver.MOST - ordered.shape[1] : -1] = ordered
        width[:, -1] = targets
        return hash_rows(width)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens = self.vocabulary.encode(columns["text"]).astype(np.uint8)
        block = Block({"tokens": tokens})
        numbers, targets = self._numbers(block)
        counts, lengths = np.count_nonzero(numbers, axis=1), np.count_nonzero(tokens, axis=1)
        right = (lengths == counts + 2) & ((tokens == _ARROW).sum(axis=1) == 1)
        right &= (counts >= solver.FEWEST) & (counts <= solver.MOST)
        right &= (targets >= solver.LEAST_TARGET) & (targets <= solver.LARGEST_TARGET)
        if not right.all():
            raise ValueError(
                f"countdown: not every row has {solver.FEWEST} to {solver.MOST} numbers, an arrow "
                f"and a target from {solver.LEAST_TARGET} to {solver.LARGEST_TARGET}"
            )
        return block

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The arrow between two numbers."""
        return self.tokens[1:], ("->",), self.tokens[1:]

    def row_spans(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Each arrow with all numbers before it and the number behind it."""
        first = 0
        for place, word in enumerate(words):
            if word == "->":
                if solver.FEWEST <= place - first <= solver.MOST and place + 1 < len(words):
                    yield first, place + 2
                first = place + 1

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers, target = solver.read(row["text"])
        return {**super().recompute_columns(row), "numbers": numbers, "target": target}
