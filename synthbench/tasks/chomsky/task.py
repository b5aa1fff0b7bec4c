"""Tasks of the Chomsky hierarchy: fifteen functions of strings, which need more and more memory.

    even-pairs        0 1 1 0            0          01 and 10: two pairs
    reverse-string    0 0 1 0            0 1 0 0
    binary-addition   1 1 plus 0 1 1     1 0 0 1 end _ _      3 + 6 = 9, the least digit first

Models are trained on strings of up to 40 symbols and tested on strings of up to 500. The functions
are in `regular`, `stack` and `tape`, by the memory that they need according to the paper.

Source: Delétang et al., Neural Networks and the Chomsky Hierarchy (ICLR 2023).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, TextTask, parameter
from synthbench.tasks.chomsky import regular, solver, solver_modular, stack, tape
from synthbench.tasks.chomsky.functions import BEHIND, END, MODULUS, Modular, StringFunction
from synthbench.tasks.column import Column
from synthbench.tasks.coupling import first_positions, of_copies
from synthbench.tasks.features import sequence, value
from synthbench.tasks.numeric import distinct_numbers
from synthbench.tasks.row_ids import share_of
from synthbench.tasks.sequences import Digit

#: The variants by the paper's names: four regular, four context-free, seven context-sensitive.
FUNCTIONS: Mapping[str, type[StringFunction]] = {
    "even-pairs": regular.EvenPairs,
    "modular-arithmetic-simple": regular.ModularArithmeticSimple,
    "parity-check": regular.ParityCheck,
    "cycle-navigation": regular.CycleNavigation,
    "stack-manipulation": stack.StackManipulation,
    "reverse-string": stack.ReverseString,
    "modular-arithmetic-brackets": stack.ModularArithmeticBrackets,
    "solve-equation": stack.SolveEquation,
    "duplicate-string": tape.DuplicateString,
    "missing-duplicate": tape.MissingDuplicate,
    "odds-first": tape.OddsFirst,
    "binary-addition": tape.BinaryAddition,
    "binary-multiplication": tape.BinaryMultiplication,
    "compute-sqrt": tape.ComputeSqrt,
    "bucket-sort": tape.BucketSort,
}
#: The symbols of all variants. Equal strings have equal ids, whatever the variant.
SYMBOLS = (*"01234+-*()x=?#", "pop", "push0", "push1", "plus", "times", *map(str, range(5, 128)))

#: Symbols of the strings whose answers are computed together, which bounds the memory.
_TOGETHER = 1 << 20
#: The longest strings, in symbols.
LONGEST = 1000
#: The longest strings of train with which `tokens` begins within two seconds if all have this
#: length. Of several lengths as many symbols are allowed. Rounds of evaluation splits are smaller,
#: so their strings may be longer.
_STREAMED_ALONE = {"solve-equation": 100, "modular-arithmetic-brackets": 250}
_LONGER_EVALUATION, _EVALUATION_ROWS = 8, 2_048
#: Candidates for each row that the split may have. Some are drawn twice.
_CANDIDATES = 1.05
#: The longest strings of train with which `tokens` begins within two seconds and 500 MiB.
_STREAMED_LONGEST = {
    "duplicate-string": 250,
    "reverse-string": 400,
    "odds-first": 400,
    "bucket-sort": 400,
    "binary-multiplication": 400,
    "binary-addition": 500,
    "stack-manipulation": 500,
    "compute-sqrt": 800,
}


@dataclasses.dataclass(frozen=True)
class ChomskyParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    train_lengths: tuple[int, ...] = parameter(
        tuple(range(1, 41)), "lengths of train and iid, in symbols", least=1, most=LONGEST
    )
    test_lengths: tuple[int, ...] = parameter(
        (*range(41, 500, 10), 500), "lengths of test, in symbols", least=1, most=LONGEST
    )
    modulus: int = parameter(
        MODULUS,
        "modulus of the two modular arithmetics, of solve-equation and of cycle-navigation",
        least=2,
        most=128,
    )
    positions: str = parameter(
        "counted",
        "counted, or coupled: in reverse-string, duplicate-string and odds-first a symbol and its "
        "copies in the answer have the same position",
        choices=("counted", "coupled"),
    )
    reading: str = parameter(
        "paper",
        "paper or program: whose rule counts in modular-arithmetic-simple, odds-first and "
        "compute-sqrt, where the two differ",
        choices=("paper", "program"),
    )
    symbols: int = parameter(
        0,
        "different symbols, at least 2, in reverse-string, duplicate-string, odds-first and "
        "bucket-sort; 0: those of the paper",
        least=0,
        most=128,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symbols == 1:
            raise ParameterError("Parameter symbols=1: allowed are 0 and 2 to 128.")


class Chomsky(TextTask):
    """A function of strings of various lengths."""

    name = "chomsky"
    title = "The Chomsky hierarchy"
    summary = "What is the output of a string function on strings longer than any in training?"
    source = "Neural Networks and the Chomsky Hierarchy (Delétang et al., ICLR 2023)"
    variants: ClassVar[Mapping[str, str]] = {
        name: f"{function.given.capitalize()} → {function.asked}."
        for name, function in ((name, make()) for name, make in FUNCTIONS.items())
    }
    parameters_type = ChomskyParameters
    categories = ("text-generation",)
    bucket_name = "length"
    block_rows, group_rows = 512, 16_384  # of many lengths with few rows each, and of long rows
    scored_columns = ("label",)
    drawn_by_workers = False
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"train_lengths": tuple(range(1, 11)), "test_lengths": tuple(range(11, 21))},
        "medium": {},  # as in the paper
        "hard": {
            "train_lengths": tuple(range(21, 61)),
            "test_lengths": tuple(range(100, 1001, 100)),
        },
    }

    def check_parameters(self) -> None:
        parameters = self.parameters
        if parameters.symbols and not self.function.takes_numbers:
            able = ", ".join(name for name, function in FUNCTIONS.items() if function.takes_numbers)
            raise ParameterError(
                f"Parameter symbols={parameters.symbols}: strings of {self.variant} have the "
                f"symbols of the paper. Other numbers of symbols are possible in {able}."
            )
        if parameters.modulus != MODULUS and not isinstance(self.function, Modular):
            able = ", ".join(
                name for name, function in FUNCTIONS.items() if issubclass(function, Modular)
            )
            raise ParameterError(
                f"Parameter modulus={parameters.modulus}: answers of {self.variant} are not modulo "
                f"a number. The modulus is a parameter of {able}."
            )
        if parameters.positions == "coupled" and not self.function.copies:
            able = ", ".join(name for name, function in FUNCTIONS.items() if function.copies)
            raise ParameterError(
                f"Parameter positions=coupled: answers of {self.variant} are not copies of "
                f"symbols. Coupled positions are possible in {able}."
            )
        for name in ("train_lengths", "test_lengths"):
            if not self._lengths(lengths := getattr(self.parameters, name)):
                least = f"strings of {self.variant} have {self.function.shortest} symbols or more"
                raise ParameterError(f"Parameter {name}={max(lengths)}: {least}.")

    def solve(self, question: str) -> list[str]:
        return self.solve_as(question, self.function.program)

    def solve_as(self, question: str, program: bool) -> list[str]:
        """The answer by the reference solver, in the reading of the paper or of its program.

        Raises:
            ValueError: the question is not a string of the variant.
        """
        parameters = self.parameters
        if self.variant in solver_modular.MODULAR:
            return solver_modular.solve(self.variant, question, program, parameters.modulus)
        return solver.solve(self.variant, question, program, parameters.symbols)

    @functools.cached_property
    def function(self) -> StringFunction:
        """The variant's function."""
        parameters = self.parameters
        program = parameters.reading == "program"
        return FUNCTIONS[self.variant](program, parameters.symbols, parameters.modulus)

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.function.symbols

    @property
    def columns(self) -> dict[str, Column]:
        answers = self.function.answers
        label = sequence(answers, ignored=BEHIND if END in answers else None)
        if self.function.is_digit:
            label = Digit(answers)
        return {"text": value("string"), "label": label, "length": value("int16")}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        short = self._lengths(self.parameters.train_lengths)
        long = self._lengths(self.parameters.test_lengths)
        train = Split("train", 200_000, short, evaluation=False)
        return train, Split("iid", 4_000, short), Split("test", 100 * len(long), long)

    def _lengths(self, lengths: tuple[int, ...]) -> tuple[int, ...]:
        """The lengths of this variant's strings. A length that they lack becomes a shorter length.

        So 500 becomes 499 if all strings have odd lengths, as in the published program.
        """
        least, step = self.function.shortest, self.function.step
        possible = [length - (length - least) % step for length in lengths if length >= least]
        return tuple(dict.fromkeys(possible))

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round.

        Raises:
            ParameterError: the first row would take too long.
        """
        evaluation = split.evaluation
        name = "test_lengths" if split.name == "test" else "train_lengths"
        if self.variant in _STREAMED_ALONE:
            most = _STREAMED_ALONE[self.variant] * (_LONGER_EVALUATION if evaluation else 1)
            alone = Split(split.name, split.rows, (most,), evaluation)
            late = self._drawn_symbols(split) > self._drawn_symbols(alone)
            allowed = f"as many symbols as with {name}={min(most, LONGEST)}"
        else:
            most = LONGEST if evaluation else _STREAMED_LONGEST.get(self.variant, LONGEST)
            late, allowed = max(split.buckets) > most, f"up to {most}, as with {name}={most}"
        if late:
            raise ParameterError(
                f"Parameter {name}: the first row of a stream of {self.variant} waits for "
                f"thousands of strings of up to {max(split.buckets):,} symbols. Allowed are "
                f"{allowed}. Datasets may have such rows."
            )
        return self.round_rows

    def _drawn_symbols(self, split: Split) -> int:
        """About the symbols of the strings that are drawn for a round.

        Strings are drawn in whole blocks of a length. Short strings may be too few, and then there
        are more of the longer lengths.
        """
        left = min(self.round_rows, _EVALUATION_ROWS) if split.evaluation else self.round_rows
        lengths, symbols = sorted(split.buckets), 0
        for place, length in enumerate(lengths):
            share, strings = share_of(self, split, length), self.capacity(split, length)
            wanted = left / (len(lengths) - place)
            rows = min(wanted, strings * share) if strings else wanted
            symbols += length * math.ceil(_CANDIDATES * rows / share / self.block_rows)
            left -= int(rows)
        return symbols * self.block_rows

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return self._block(self.function.draw(draws, n, bucket))

    def capacity(self, split: Split, bucket: int) -> int | None:
        return self.function.count(bucket)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return self._block(self.function.every(bucket))

    def _block(self, x: NDArray[np.integer[Any]]) -> Block:
        return Block({"tokens": x.astype(np.uint8) + np.uint8(1)})

    def render(self, block: Block) -> dict[str, Any]:
        """The labels, computed for many strings of a length at once."""
        tokens = block["tokens"]
        lengths = np.count_nonzero(tokens, axis=1)
        answers = []
        for length in distinct_numbers(lengths):
            of_length = np.flatnonzero(lengths == length)
            together = _TOGETHER // length
            for rows in np.split(of_length, range(together, len(of_length), together)):
                x = tokens[rows, :length].astype(np.int64) - 1
                ids = self.function.answer(x).reshape(len(rows), -1) + 1
                answers.append((rows, ids.astype(np.uint8)))
        width = max((ids.shape[1] for _, ids in answers), default=1)
        label = np.zeros((len(tokens), width), np.uint8)
        for rows, ids in answers:
            label[rows, : ids.shape[1]] = ids
        return {"label": label}

    @property
    def instruction(self) -> str:
        """The rule of the variant."""
        function = self.function
        question = (function.program and function.program_asked) or function.asked
        ended = f", then '{END}'" if self.answer.ignored else ""
        tokens = "" if function.is_digit else " Its tokens are separated by spaces."
        return f"The line is {function.given}. The answer is {question}{ended}.{tokens}"

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates of the random streams. Both readings have the same strings."""
        changed = {**self.parameters.changed(), "reading": "paper"}
        changed.pop("positions", None)
        return {**super().stream, "parameters": changed}

    def position_ids(self, block: Block) -> NDArray[np.int64] | None:
        """With `positions=coupled`, positions that count on from a number drawn for each row."""
        if self.parameters.positions != "coupled":
            return None
        tokens = block["tokens"]
        places = np.arange(tokens.shape[1])
        return np.where(tokens == 0, 0, self._first_positions(block)[:, None] + places)

    def answer_positions(self, block: Block) -> NDArray[np.int64] | None:
        """The positions of the symbols that answers are copies of."""
        lengths = np.count_nonzero(block["tokens"], axis=1)
        sources = [
            self.function.answer(np.arange(length)[None])[0] for length in distinct_numbers(lengths)
        ]
        return of_copies(self._first_positions(block), lengths, sources)

    def _first_positions(self, block: Block) -> NDArray[np.int64]:
        parameters, lengths = self.parameters, np.count_nonzero(block["tokens"], axis=1)
        longest = max(
            *parameters.train_lengths, *parameters.test_lengths, int(lengths.max(initial=0))
        )
        return first_positions(self.content(block), lengths, longest)

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The symbols, numbered as in `SYMBOLS`, whatever the variant."""
        numbers = [0, *(1 + SYMBOLS.index(symbol) for symbol in self.tokens)]
        return np.array(numbers, np.uint8).take(block["tokens"])

    def problem(self, block: Block) -> NDArray[np.uint64] | None:
        """The key of rows that are held out together. See `StringFunction.problem`."""
        return self.function.problem(block["tokens"])
