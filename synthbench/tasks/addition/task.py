"""Addition: two numbers of many digits, and their sum. Tested on more digits than trained.

    3 8 + 9 5 =        1 3 3
    3 8 + 9 5 =        3 3 1              order=reversed: the least significant digit first
    0 7 + 9 5 =        1 0 2              zero_padding=true
    3 8 * 9 5 =        3 6 1 0            multiplication

Numbers of train have 1 to 10 digits, those of test up to 30. Every pair of numbers of digits has as
many rows, and in addition every number of carries within it. a + b and b + a are held out together.

A model writes the answer from left to right. In the usual order its first digit depends on all
digits of both numbers. In reversed order every digit depends on two digits and a carry. The task's
positions (`position_ids`) show which digits have the same weight.

Source: Lee et al., Teaching Arithmetic to Small Transformers (ICLR 2024), section 3 (balance,
reversed order); Cho et al., Position Coupling (NeurIPS 2024), section 3 (more digits than in
training, zero padding, positions).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, hash_rows, mix
from synthbench.tasks.addition import digits, solver
from synthbench.tasks.addition.digits import Digits
from synthbench.tasks.addition.ids import (
    EQUALS,
    PLUS,
    TIMES,
    Ids,
    all_equal,
    numbers,
    signs,
    small_numbers,
    trimmed,
    written,
)
from synthbench.tasks.addition.positions import question_positions
from synthbench.tasks.addition.written import WrittenNumber, WrittenRow
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.coupling import first_positions
from synthbench.tasks.features import value
from synthbench.tasks.tokens import packed

if TYPE_CHECKING:
    import pyarrow as pa

#: The number of a bucket is `digits of a * _BUCKET + digits of b`.
_BUCKET = 1_000
#: The most digits that are drawn before the first row of a stream, about a second's work, and the
#: most rows of a round of an evaluation split.
_MOST_TOKENS, _EVALUATION_ROWS = 1 << 25, 2_048


@dataclasses.dataclass(frozen=True)
class AdditionParameters(Parameters):
    """Parameters of the task."""

    train_digits: int = parameter(
        10, "numbers of train and iid have 1 to so many digits", least=1, most=solver.LONGEST
    )
    test_digits: tuple[int, ...] = parameter(
        (1, 5, 10, 12, 15, 20, 25, 30),
        "numbers of test: every two of these digits, if one is more than train_digits",
        least=1,
        most=solver.LONGEST,
    )
    order: str = parameter(
        "plain",
        "the answer: plain, or reversed (the least significant digit first)",
        choices=("plain", "reversed"),
    )
    positions: str = parameter(
        "coupled",
        "positions of the reversed order: coupled, or abacus, where signs have the position 0",
        choices=("coupled", "abacus"),
    )
    zero_padding: bool = parameter(
        False,
        "zeros in front: a and b (not of multiplication) get as many digits as the longer one, and "
        "the answer as many as it can have",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positions != "coupled" and self.order != "reversed":
            raise ParameterError(
                f"Parameter positions={self.positions}: positions are given with order=reversed."
            )
        if max(self.test_digits) <= self.train_digits:
            raise ParameterError(
                f"Parameter test_digits={','.join(map(str, self.test_digits))}: at least one must "
                f"be more than train_digits, such as {self.train_digits + 1}."
            )


class Addition(TextTask):
    """Sums or products of two numbers, digit by digit."""

    name = "addition"
    title = "Addition and multiplication"
    summary = "What is the sum, or the product, of two numbers with more digits than in training?"
    source = (
        "Teaching Arithmetic to Small Transformers (Lee et al., ICLR 2024), section 3; Position "
        "Coupling (Cho et al., NeurIPS 2024), section 3"
    )
    variants: ClassVar[Mapping[str, str]] = {
        "addition": "`a + b =`",
        "multiplication": "`a * b =`",
    }
    parameters_type = AdditionParameters
    categories = ("text-generation",)
    bucket_name = "digits_a"  # with those of b: see `buckets`
    group_by = (
        Breakdown("digits_a"),
        Breakdown("digits_b"),
        Breakdown("digits_a", across="digits_b"),
    )
    scored_columns = ("label",)
    drawn_by_workers = False
    forms = ("causal-lm", "masked-lm")
    unstreamed = ("positions",)
    tokens = (*"0123456789", "+", "*", "=")
    ordinary_tokens = 15  # sums of numbers with six digits have fewer
    block_rows = 1_024  # of many buckets with few rows each
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"train_digits": 3, "test_digits": (2, 3, 4, 5, 6, 9)},
        "medium": {},
        "hard": {"train_digits": 30, "test_digits": (10, 20, 30, 40, 60, 90)},
    }

    def solve(self, question: str) -> str:
        zero_padding = self.parameters.zero_padding
        a, b = solver.read_numbers(self.variant, zero_padding, question)
        return " ".join(solver.answer(self.variant, self.parameters.order, zero_padding, a, b))

    @property
    def columns(self) -> dict[str, Column]:
        number = value("int16")
        columns = {"text": WrittenRow(), "label": WrittenNumber()}
        return {**columns, "digits_a": number, "digits_b": number}

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round, which draws a block of every size.

        Raises:
            ParameterError: the first row would take too long.
        """
        sizes = split.buckets[: _EVALUATION_ROWS if split.evaluation else self.round_rows]
        tokens = self.block_rows * sum(sum(divmod(size, _BUCKET)) for size in sizes)
        if tokens > _MOST_TOKENS:
            most = round((_MOST_TOKENS / self.block_rows) ** (1 / 3))
            raise ParameterError(
                f"Split {split.name} of addition: a stream begins with {tokens:,} digits. Allowed "
                f"are {_MOST_TOKENS:,}, as with train_digits={most} or fewer test_digits. "
                "Datasets may have such rows."
            )
        return self.round_rows

    @functools.cached_property  # asked for with every one of hundreds of buckets
    def splits(self) -> tuple[Split, ...]:
        trained = _pairs(range(1, self.parameters.train_digits + 1))
        longer = tuple(pair for pair in _pairs(self.parameters.test_digits) if pair not in trained)
        return (
            Split("train", 200_000, trained, evaluation=False),
            Split("iid", 3_000, trained),
            Split("test", 100 * len(longer), longer),
        )

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        a, b = (numpy_array(columns[name]).astype(np.int64) for name in ("digits_a", "digits_b"))
        return a * _BUCKET + b

    def bucket_label(self, bucket: int) -> str:
        return "{} x {}".format(*divmod(bucket, _BUCKET))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        places = divmod(bucket, _BUCKET)
        if self.variant == "addition":
            return self._block(*digits.draw_pairs(draws, n, *places))
        return self._block(*(digits.draw_numbers(draws, n, count) for count in places))

    def capacity(self, split: Split, bucket: int) -> int:
        return math.prod(map(digits.how_many, divmod(bucket, _BUCKET)))

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        a, b = (digits.every_number(places) for places in divmod(bucket, _BUCKET))
        return self._block(np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1)))

    def _block(self, a: Digits, b: Digits) -> Block:
        lengths = digits.lengths(a), digits.lengths(b)
        if self._pads_numbers:
            lengths = (np.maximum(*lengths),) * 2
        return Block({"tokens": self._joined(a, lengths[0], b, lengths[1])})

    def _joined(self, a: Digits, length_a: Digits, b: Digits, length_b: Digits) -> Ids:
        """The ids of rows with these numbers, in so many digits each."""
        sign = PLUS if self.variant == "addition" else TIMES
        column = np.ones((len(a), 1), np.uint8)
        parts = [written(a, length_a), sign * column, written(b, length_b), EQUALS * column]
        ids = np.hstack(parts, dtype=np.uint8, casting="unsafe")
        return ids if len(ids) and ids.all() else trimmed(ids)

    def render(self, block: Block) -> dict[str, Any]:
        a, b = small_numbers(block["tokens"])
        combine = digits.sum_digits if self.variant == "addition" else digits.product_digits
        lengths = digits.lengths(a), digits.lengths(b)
        label = self.answers(combine(a, b), *lengths)
        return {"label": label, "digits_a": lengths[0], "digits_b": lengths[1]}

    def answers(self, result: Digits, digits_a: Digits, digits_b: Digits) -> Ids:
        """The ids of results as answers, `(rows, width)`. Zeros count for nothing.

        Args:
            result: digits, the least significant first, `(rows, any)`.
            digits_a: how many digits a has, `(rows,)`.
            digits_b: how many b has.
        """
        padded = self.parameters.zero_padding
        length = self._most_digits(digits_a, digits_b) if padded else digits.lengths(result)
        ids = written(result, length)
        return ids[:, ::-1] if self.parameters.order == "reversed" else ids

    def _most_digits(self, digits_a: Digits, digits_b: Digits) -> Digits:
        """The most digits that answers to numbers of so many digits can have, `(rows,)`."""
        if self.variant == "addition":
            return np.maximum(digits_a, digits_b) + 1
        return digits_a + digits_b

    @property
    def _pads_numbers(self) -> bool:
        return self.parameters.zero_padding and self.variant == "addition"

    def position_ids(self, block: Block) -> Digits | None:
        """Positions that begin at a number that is drawn for each row. See `question_positions`.

        It is from 1 to what leaves room for the longest answer of all splits. Only in reversed
        order: in the usual order, positions would show how many digits the answer has.
        """
        if self.parameters.order != "reversed":
            return None
        abacus = self.parameters.positions == "abacus"
        first = self._starts(block, self._digits_at_most(block))
        return question_positions(block["tokens"], first, abacus)

    def answer_positions(self, block: Block) -> Digits | None:
        """The positions of an answer's digits, if they do not follow that of the last sign.

        Behind the longest answer that a row can have they are 0.
        """
        if self.parameters.positions == "coupled":
            return None
        most = self._digits_at_most(block)
        first, places = self._starts(block, most), np.arange(most.max(initial=0) + 1)
        return np.where(places <= most[:, None], first[:, None] + places, 0)

    def _longest(self) -> int:
        """The most digits of an answer in any split."""
        parameters = self.parameters
        most = np.array(max(parameters.train_digits, *parameters.test_digits))
        return int(self._most_digits(most, most))

    def _starts(self, block: Block, most: Digits) -> Digits:
        """The first position of each row, int64 `(rows,)`, from `_digits_at_most`."""
        return first_positions(self.content(block), most, self._longest())

    def _digits_at_most(self, block: Block) -> Digits:
        """The most digits that each row's answer can have, int64 `(rows,)`."""
        return self._most_digits(*map(digits.lengths, numbers(block["tokens"])))

    @property
    def instruction(self) -> str:
        """The rule of the variant, and how the answer is written."""
        is_sum, parameters = self.variant == "addition", self.parameters
        noun = "sum" if is_sum else "product"
        rule = f"The line has two whole numbers, and the answer is their {noun}"
        first = "so that the least significant digit comes first"
        if parameters.zero_padding:
            most = "one digit more than the longer number" if is_sum else "as many digits as both"
            rule += f", written with {most} by zeros in front"
            if parameters.order == "reversed":
                rule += f". Then all its digits, with these zeros, are reversed, {first}"
        elif parameters.order == "reversed":
            rule += f", with its digits reversed, {first}"
        return f"{rule}."

    def content(self, block: Block) -> Ids:
        """The ids without zeros in front of the numbers, whatever the order of the answer."""
        if not self._pads_numbers:
            return block["tokens"]
        a, b = small_numbers(block["tokens"])
        return self._joined(a, digits.lengths(a), b, digits.lengths(b))

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of both numbers, whatever their order."""
        a, b = map(hash_rows, self._number_ids(block["tokens"]))
        return mix(a + b)

    def _number_ids(self, tokens: Ids) -> tuple[Ids, Ids]:
        """The ids of both numbers without zeros in front, padded with 0 on the right."""
        sign, equals = signs(tokens)
        if not self._pads_numbers and all_equal(sign) and all_equal(equals):
            return tokens[:, : sign[0]], tokens[:, sign[0] + 1 : equals[0]]
        a, b = (
            packed(written(number, digits.lengths(number))).astype(np.uint8, copy=False)
            for number in small_numbers(tokens)
        )
        return a, b

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens = self.vocabulary.encode(columns["text"]).astype(np.uint8)
        a, b = numbers(tokens)
        block = self._block(a, b)
        is_number = max(a.max(initial=0), b.max(initial=0)) < 10 and a.shape[1] <= solver.LONGEST
        if not (is_number and np.array_equal(block["tokens"], tokens)):
            form = self.variants[self.variant].strip("`")
            raise ValueError(f"addition: not every row is {form!r} with numbers as they should be")
        return block

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The sign between two digits."""
        return self.tokens[:10], ("+" if self.variant == "addition" else "*",), self.tokens[:10]

    def row_spans(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Each `=` with the two numbers before it."""
        for end, word in enumerate(words, 1):
            if word == "=":
                sign = max(0, _before_digits(words, end - 1) - 1)
                yield _before_digits(words, sign), end

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers = solver.read_numbers(self.variant, self.parameters.zero_padding, row["text"])
        a, b = (len(str(int(number))) for number in numbers)
        return {**super().recompute_columns(row), "digits_a": a, "digits_b": b}


def _pairs(places: Iterable[int]) -> tuple[int, ...]:
    """The buckets of all pairs of numbers of digits."""
    return tuple(a * _BUCKET + b for a, b in itertools.product(places, repeat=2))


def _before_digits(words: Sequence[str], end: int) -> int:
    """The beginning of the digits that end here."""
    while end and words[end - 1].isdigit():
        end -= 1
    return end
