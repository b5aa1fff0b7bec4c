"""Parity: two numbers say which of two others is the answer.

    3 4 7 2 =          7    exactly one of 3 and 4 is odd: the third
    3 5 7 2 =          2    both of 3 and 5 are odd: the fourth

A row is an equation `a b c d =` of numbers below 11. The label is c if exactly one of a and b is
odd, else d. There are 11^4 = 14,641 equations: train has 30% of them, test all others.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.features import Feature, class_label, value
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, Task, parameter, read_class
from synthbench.tasks.scrutiny import Columns, Scrutiny, by_key, codes, numbers

NUMBERS = ("a", "b", "c", "d")
#: Part of all equations that train has.
TRAIN_SHARE = 0.3


@dataclasses.dataclass(frozen=True)
class ParityParameters(Parameters):
    """What can be set; the default is the paper's."""

    n_values: int = parameter(11, "how many values a, b, c and d may have: 0 to n_values - 1")

    def __post_init__(self) -> None:
        if not 2 <= self.n_values <= 100:
            raise ParameterError(f"Parameter n_values={self.n_values}: allowed are 2 to 100.")


class Parity(Task):
    """One of two numbers, chosen by the parities of two others."""

    name = "parity"
    title = "Parity"
    summary = "In `a b c d =`: c if exactly one of a and b is odd, else d."
    source = "Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12"
    parameters_type = ParityParameters
    bucket_name = "equations"
    judged_by = ("label",)
    breakdowns = (Breakdown("label"),)

    @functools.cached_property
    def values(self) -> tuple[str, ...]:
        """The numbers as text, in order."""
        return tuple(str(number) for number in range(self.parameters.n_values))

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*self.values, "=")

    @property
    def columns(self) -> dict[str, Feature]:
        return {
            "text": value("string"),
            "label": class_label(self.values),
            **{name: value("int8") for name in NUMBERS},
        }

    @property
    def splits(self) -> tuple[Split, ...]:
        """All equations, train and test together; test may take all that train leaves."""
        equations = self.parameters.n_values**4
        train = round(TRAIN_SHARE * equations)
        return (
            Split("train", train, (0,), evaluation=False),
            Split("test", equations - train, (0,), share=1.0),
        )

    @property
    def instruction(self) -> str:
        return (
            "These are four numbers a, b, c and d, in this order. If exactly one of a and b is "
            "odd, the answer is c; otherwise it is d."
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        numbers = draws.integers(self.parameters.n_values, (n, len(NUMBERS)))
        return Block({"numbers": numbers.astype(np.uint8)})

    def capacity(self, split: Split, bucket: int) -> int:
        return int(self.parameters.n_values ** len(NUMBERS))

    def listing(self, split: Split, bucket: int) -> Block:
        shape = (self.parameters.n_values,) * len(NUMBERS)
        numbers = np.indices(shape, np.uint8).reshape(len(NUMBERS), -1)
        return Block({"numbers": np.ascontiguousarray(numbers.T)})

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The four numbers, each plus 1; `n_values` does not count."""
        return block["numbers"] + np.uint8(1)

    def render(self, block: Block) -> dict[str, pa.Array]:
        numbers = block["numbers"]
        a, b, c, d = numbers.T
        words = [pc.take(pa.array(self.values), pa.array(column)) for column in numbers.T]
        return {
            "text": pc.binary_join_element_wise(*words, "=", " "),
            "label": pa.array(np.where((a ^ b) & 1, c, d).astype(np.int64)),
            **{
                name: pa.array(column.astype(np.int8))
                for name, column in zip(NUMBERS, numbers.T, strict=True)
            },
        }

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        words = pc.split_pattern(columns["text"], " ")
        codes = pc.index_in(words.values, value_set=pa.array([*self.values, "="]))
        if codes.null_count:
            unknown = words.values[pc.index(codes.is_null(), True).as_py()]
            raise ValueError(f"{unknown.as_py()!r} is neither a number of parity nor '='")
        tokens = codes.to_numpy(zero_copy_only=False)
        if (np.diff(words.offsets.to_numpy()) == len(NUMBERS) + 1).all():
            tokens = tokens.reshape(-1, len(NUMBERS) + 1)
            is_equals = tokens == len(self.values)
            if is_equals[:, -1].all() and not is_equals[:, :-1].any():
                return Block({"numbers": tokens[:, :-1].astype(np.uint8)})
        raise ValueError("parity: not every row is of the form 'a b c d ='")

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        """All rows are in the one bucket, 0."""
        return np.zeros(len(columns["text"]), np.int64)

    def bucket_label(self, bucket: int) -> str:
        return "all"

    # The reference solver: one row, as the paper says it.

    @functools.cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.values)}

    def _read(self, text: str) -> dict[str, int]:
        """The four numbers of a row, by name."""
        words = text.split()
        numbers = [self._number[word] for word in words[:4] if word in self._number]
        if len(words) != 5 or len(numbers) != 4 or words[4] != "=":
            raise ValueError(
                f"{text!r} is no row of parity: expected 'a b c d =' "
                f"with four numbers from 0 to {self.values[-1]}"
            )
        return dict(zip(NUMBERS, numbers, strict=True))

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers = self._read(row["text"])
        return {"label": _answer(**numbers), **numbers}

    def solve(self, question: str) -> int:
        return _answer(**self._read(question))

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> int | None:
        return read_class(prediction, self.values)

    def facts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """The indicators a and b, the outcome, the targets c and d, the label."""
        odd = {f"{name} is odd": row[name] % 2 for name in ("a", "b")}
        outcome = int(row["a"] % 2 != row["b"] % 2)
        return {**odd, "outcome": outcome, "c": row["c"], "d": row["d"], "label": row["label"]}

    def scrutiny(self) -> Scrutiny:
        def key(*names: str) -> Callable[[Columns], NDArray[np.int64]]:
            """These numbers; of `a` and `b` only whether they are odd."""
            return lambda columns: np.column_stack(
                [numbers(columns[name]) & (1 if name in "ab" else -1) for name in names]
            )

        def exchanged(columns: Columns) -> NDArray[np.uint64]:
            four = np.column_stack([numbers(columns[name]) for name in NUMBERS])
            four[:, :2].sort(axis=1)
            return codes(four + 1)

        def asked(columns: Columns) -> NDArray[np.int64]:
            return numbers(columns["a"]) + numbers(columns["b"]) & 1

        return Scrutiny(
            shortcuts=(
                by_key("c alone", "The most frequent label for c.", key("c")),
                by_key("d alone", "The most frequent label for d.", key("d")),
                by_key(
                    "c and d, neither a nor b",
                    "Both numbers that may be asked for, and nothing that says which.",
                    key("c", "d"),
                ),
                by_key("c, d and a", "The same, and whether a is odd.", key("c", "d", "a")),
                by_key("c, d and b", "The same, and whether b is odd.", key("c", "d", "b")),
            ),
            kinships={"the same with a and b exchanged": exchanged},
            traits={
                "what is asked for": lambda columns: np.array(["d", "c"])[asked(columns)],
                "c and d": lambda columns: np.where(
                    numbers(columns["c"]) == numbers(columns["d"]), "equal", "different"
                ),
                "a and b": lambda columns: np.array(["both even", "a odd", "b odd", "both odd"])[
                    (numbers(columns["a"]) & 1) + 2 * (numbers(columns["b"]) & 1)
                ],
            },
        )

    def draw(self, row: Mapping[str, Any]) -> str:
        numbers = self._read(row["text"])
        kind = {name: "odd" if numbers[name] % 2 else "even" for name in ("a", "b")}
        chosen = "c" if kind["a"] != kind["b"] else "d"
        return (
            f"{row['text']}  ->  {numbers[chosen]}\n"
            f"a is {kind['a']}, b is {kind['b']}: the answer is {chosen}"
        )


def _answer(a: int, b: int, c: int, d: int) -> int:
    """The rule: c if exactly one of a and b is odd, else d."""
    return c if (a % 2 == 1) != (b % 2 == 1) else d
