"""Compositional table lookup: functions, given as tables, are applied to a symbol in sequence.

    101 d a b          forward: the symbol, then the functions in the order of their application
    b a d 101          backward: the same row in the opposite order

Both rows ask for b(a(d(101))). There are eight symbols, the bit strings `000` to `111`, each a
single token, and nine functions, the letters `a` to `i`. Each function is a random bijection of the
symbols, drawn from the seed. With seed 0, d(101) = 100, a(100) = 101 and b(101) = 101: the label is
`101`, and `steps` is 100, 101, 101.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.1 and C.2, after Liska et al.
(2018); the column `steps` after Dubois et al. (2020).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.arrow import arrow_array
from synthbench.tasks.base import Block, Parameters, Split, TextTask, parameter, read_class
from synthbench.tasks.column import Column
from synthbench.tasks.ctl.solver import LONGEST, TableSolver
from synthbench.tasks.features import class_answer, class_label, list_of, sequence, value
from synthbench.tasks.numeric import all_digits, list_array
from synthbench.tasks.row_ids import PROBLEM_BITS
from synthbench.tasks.tokens import pad

if TYPE_CHECKING:
    import pyarrow as pa

#: The most symbols and the most functions: their tables are in the manifest and in the card.
MOST_NAMES = 1024
#: The variant whose answer is a sequence.
STEPS = "steps"


@dataclasses.dataclass(frozen=True)
class TableLookupParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    symbols: int = parameter(
        8, "number of symbols, named by binary strings of equal length", least=2, most=MOST_NAMES
    )
    functions: int = parameter(
        9, "number of functions, named a to z, then aa, ab and so on", least=1, most=MOST_NAMES
    )
    train_lengths: tuple[int, ...] = parameter(
        (1, 2, 3, 4, 5), "buckets of train and, from 2 on, of iid", least=1, most=LONGEST
    )
    # The rows of one function are the tables themselves, so they belong to train.
    validation_lengths: tuple[int, ...] = parameter(
        (6, 7, 8), "buckets of validation", least=2, most=LONGEST
    )
    test_lengths: tuple[int, ...] = parameter((9, 10), "buckets of test", least=2, most=LONGEST)


class CompositionalTableLookup(TextTask):
    """Random bijections of a few symbols, composed."""

    name = "ctl"
    title = "Compositional table lookup"
    summary = "Which symbol results from applying functions, given as tables, one after another?"
    source = "NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.1 and C.2"
    variants: ClassVar[Mapping[str, str]] = {
        "forward": "The symbol, then the functions in the order of application: `101 d a b`.",
        "backward": "The functions as in b(a(d(101))), then the symbol: `b a d 101`.",
        STEPS: "As `forward`, with the symbol after each function as the answer: `100 101 101`.",
    }
    parameters_type = TableLookupParameters
    ordinary_bits, ordinary_tokens = 0.0, 3
    bucket_name = "length"
    scored_columns = ("label",)
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "symbols": 4,
            "functions": 6,
            "train_lengths": (1, 2, 3),
            "validation_lengths": (4,),
            "test_lengths": (4, 5),
        },
        "medium": {},  # as in the paper
        "hard": {
            "train_lengths": (1, 6, 7, 8, 9, 10),
            "validation_lengths": (12,),
            "test_lengths": (16, 20),
        },
    }

    def solve(self, question: str) -> int | str:
        """The name of the resulting symbol, by the tables of this seed."""
        *steps, reached = self.solver.steps(question)
        if self.variant == STEPS:
            return " ".join([*steps, reached])
        return class_answer(self.symbols, self.symbols.index(reached))

    @functools.cached_property
    def solver(self) -> TableSolver:
        """The reference solver, with the tables of this seed."""
        return TableSolver(self.variant, self.symbols, self.tables)

    @functools.cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols, `000` to `111` for 8. The label is an index into them."""
        width = (self.parameters.symbols - 1).bit_length()
        return tuple(f"{index:0{width}b}" for index in range(self.parameters.symbols))

    @functools.cached_property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions: `a` to `z`, then as in a spreadsheet `aa`, `ab` ... `aaa`."""
        letters = (itertools.product(ascii_lowercase, repeat=width) for width in itertools.count(1))
        names = map("".join, itertools.chain.from_iterable(letters))
        return tuple(itertools.islice(names, self.parameters.functions))

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*self.symbols, *self.functions)

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "text": value("string"),
            "label": sequence(self.symbols) if self.variant == STEPS else class_label(self.symbols),
            "steps": list_of(value("string")),
            "length": value("int8"),
        }

    @property
    def splits(self) -> tuple[Split, ...]:
        """Only train has rows of one function, so it shows every entry of every table.

        There is no iid split if train has no rows of several functions.
        """
        parameters = self.parameters
        composed = tuple(length for length in parameters.train_lengths if length > 1)
        return (
            Split("train", 53_704, parameters.train_lengths, evaluation=False),
            *([Split("iid", 1_000, composed)] if composed else []),
            Split("validation", 1_000, parameters.validation_lengths),
            Split("test", 1_000, parameters.test_lengths),
        )

    @property
    def tables(self) -> dict[str, Any]:
        """For each function its values at the symbols 000 to 111, in order."""
        return {
            function: [self.symbols[symbol] for symbol in table]
            for function, table in zip(self.functions, self._transitions[1:].tolist(), strict=True)
        }

    @functools.cached_property
    def _transitions(self) -> NDArray[np.uint16]:
        """The value of each function at each symbol, uint16 `(1 + functions, symbols)`.

        Row 0 is the identity, for padding. The tables depend only on the seed and the number of
        symbols: datasets of other lengths have the same tables, and with more functions the first
        ones keep theirs.
        """
        symbols, functions = self.parameters.symbols, self.parameters.functions
        draws = Draws({"task": self.name, "seed": self.seed, "symbols": symbols, "tables": True})
        drawn = draws.permutations(functions, symbols)
        return np.vstack([np.arange(symbols), drawn]).astype(np.uint16)

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        symbol = draws.integers(self.parameters.symbols, n)
        functions = draws.integers(self.parameters.functions, (n, bucket))
        return self._block(symbol, functions, max(split.buckets))

    def _block(
        self, symbol: NDArray[np.int64], functions: NDArray[np.int64], longest: int
    ) -> Block:
        """A block of `tokens` `(n, 1 + longest)`, padded with 0.

        In both variants the symbol comes first, then the functions in the order of computation.
        """
        tokens = np.zeros((len(symbol), 1 + longest), self.vocabulary.dtype)
        tokens[:, 0] = 1 + symbol
        tokens[:, 1 : 1 + functions.shape[1]] = 1 + len(self.symbols) + functions
        return Block({"tokens": tokens})

    def symbols_and_functions(self, block: Block) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
        """Indices from 0 of the symbols, `(rows,)`. From 1 of the functions, `(rows, longest)`."""
        tokens = block["tokens"].astype(np.uint16)
        symbols = np.uint16(len(self.symbols))
        return tokens[:, 0] - np.uint16(1), np.maximum(tokens[:, 1:], symbols) - symbols

    def render(self, block: Block) -> dict[str, Any]:
        steps, applied = self._steps(block)
        length = applied.sum(axis=1)
        names = arrow_array(self.symbols).take(arrow_array(steps[applied]))
        return {
            "label": (1 + steps) * applied if self.variant == STEPS else _last(steps),
            "steps": list_array(names, length),
            "length": length.astype(np.int8),
        }

    def answer_ids(self, block: Block) -> NDArray[np.int64]:
        if self.variant == STEPS:
            return super().answer_ids(block)
        steps, _ = self._steps(block)
        return _last(steps)

    def _steps(self, block: Block) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """The symbol after each function, and which functions are no padding, `(rows, longest)`."""
        reached, functions = self.symbols_and_functions(block)
        steps = np.empty_like(functions)
        for step, function in enumerate(functions.T):
            reached = steps[:, step] = self._transitions[function, reached]
        return steps, functions > 0

    def input_ids(self, block: Block) -> NDArray[np.integer[Any]]:
        """The ids in reading order. Blocks have them in the order of computation."""
        return block["tokens"][:, :: -1 if self.variant == "backward" else 1]

    @property
    def instruction(self) -> str:
        """The rule with all tables, without which nobody could answer."""
        first, then = (
            ("last", "right to left") if self.variant == "backward" else ("first", "left to right")
        )
        tables = "; ".join(
            f"{function}: {', '.join(map(' to '.join, table.items()))}"
            for function, table in self.solver.tables.items()
        )
        answer = (
            "symbol after each function, in this order, separated by spaces"
            if self.variant == STEPS
            else "symbol that is reached"
        )
        return (
            f"The line has a symbol and the names of functions, which are letters. The symbol "
            f"stands {first}. The functions are applied to it one after another, from {then}. The "
            f"answer is the {answer}. These are the functions. {tables}."
        )

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates of the random streams, without the variant.

        So all variants have the same rows in the same order.
        """
        return {name: part for name, part in super().stream.items() if name != "variant"}

    def capacity(self, split: Split, bucket: int) -> int:
        symbols, functions = self.parameters.symbols, self.parameters.functions
        return int(symbols * functions**bucket)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        symbols = np.arange(self.parameters.symbols)
        functions = all_digits(self.parameters.functions, bucket)
        return self._block(
            np.repeat(symbols, len(functions)),
            np.tile(functions, (len(symbols), 1)),
            max(split.buckets),
        )

    def content(self, block: Block) -> NDArray[np.uint8]:
        """Symbol and functions in the order of computation, whatever the tables and the variant.

        A symbol's code has a 1 before its binary digits, so that 01 and 001 differ. All codes are
        odd, so that no content ends in a zero byte.
        """
        symbols = np.arange(len(self.symbols)) + (1 << len(self.symbols[0]))
        functions = np.arange(len(self.functions)) + 1
        codes = np.concatenate([[0], 2 * symbols + 1, 2 * functions + 1]).astype(">u2")
        return codes.take(block["tokens"]).view(np.uint8)

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of the functions in the order of computation, without the symbol.

        Rows of one function are the tables, which every learner must see whole, so they get a hash
        that is never held out.
        """
        _, functions = self.symbols_and_functions(block)
        problem = hash_rows(functions.astype("<u2").view(np.uint8))
        single = np.count_nonzero(functions, axis=1) == 1
        problem[single] = PROBLEM_BITS
        return problem

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        ids, length = self.vocabulary.read(columns["text"])
        step = 1
        if self.variant == "backward":  # read from the end, the column has forward rows
            ids, length, step = ids[::-1], length[::-1], -1
        tokens = pad(ids, length, least=2)
        is_symbol = (tokens > 0) & (tokens <= len(self.symbols))
        right = (length >= 2) & (length <= 1 + LONGEST)
        if not (right.all() and is_symbol[:, :1].all() and not is_symbol[:, 1:].any()):
            raise ValueError(f"ctl {self.variant}: not every row is {self.solver.form}")
        return Block({"tokens": tokens[::step]})

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The symbol and two functions. Rows of one function are never held out."""
        functions = (self.functions,) * 2
        symbol = (self.symbols,)
        return functions + symbol if self.variant == "backward" else symbol + functions

    def row_spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Each symbol with all functions behind it, or before it in the variant `backward`."""
        symbols = [place for place, word in enumerate(words) if word in self.symbols]
        if self.variant == "backward":
            starts = [0, *(place + 1 for place in symbols)]
            return list(zip(starts, (place + 1 for place in symbols), strict=False))
        return list(itertools.pairwise([*symbols, len(words)]))

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        steps = self.solver.steps(row["text"])
        label = " ".join(steps) if self.variant == STEPS else self.symbols.index(steps[-1])
        return {"label": label, "steps": steps, "length": len(steps)}

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> int | str | None:
        """A symbol's name as text, or its index as a number or text.

        Text of several digits 0 and 1 is a name or nothing: `"10"` is neither the symbol 010 nor
        the index 10. A number is always an index: 101 is not the symbol of that name. An answer of
        `steps` is text, or a list of names.
        """
        if self.variant == STEPS:
            steps: str | None = super().read_answer(row, prediction)
            return steps
        if isinstance(prediction, bytes):
            prediction = prediction.decode("utf-8", "replace")
        if isinstance(prediction, str):
            text = prediction.strip()
            if len(text) > 1 and set(text) <= {"0", "1"} and text not in self.symbols:
                return None
        return read_class(prediction, self.symbols)


def _last(steps: NDArray[np.uint16]) -> NDArray[np.int64]:
    """The index of the last symbol of each row, which padding repeats."""
    return steps[:, -1].astype(np.int64)
