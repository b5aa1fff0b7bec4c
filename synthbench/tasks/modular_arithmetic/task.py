"""Modular arithmetic: the equations on which Transformers generalise long after they memorise.

    50 + 60 =          13    50 + 60 = 110, which leaves 13 when divided by 97
    5 / 2 =            51    2 * 51 = 102, which leaves 5 when divided by 97

A row is an equation of two numbers from 0 to 96. There are few equations (9,409, or 9,312 where 0
cannot be the divisor), and train has half of them. Test has all that are held out, about an eighth.
Where a and b may be exchanged, both orders are held out or neither: a model cannot answer `60 + 50`
in test by remembering `50 + 60` from train.

Source: Power, Burda, Edwards, Babuschkin, Misra, Grokking: Generalization Beyond Overfitting on
Small Algorithmic Datasets (2022), appendix A.1.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Parameters, Split, TextTask, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import class_label, value
from synthbench.tasks.modular_arithmetic import solver
from synthbench.tasks.row_ids import are_held_out, fingerprints

if TYPE_CHECKING:
    import pyarrow as pa

#: The words of an equation, and whether a and b may be exchanged.
_EQUATIONS = {
    "add": (("a", "+", "b", "="), True),
    "subtract": (("a", "-", "b", "="), False),
    "multiply": (("a", "*", "b", "="), True),
    "divide": (("a", "/", "b", "="), False),
    "sum-of-squares": (("a", "^2", "+", "b", "^2", "="), True),
}


@dataclasses.dataclass(frozen=True)
class ModularArithmeticParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    modulus: int = parameter(
        97, "numbers go from 0 to modulus - 1. A prime number for divide", least=7, most=1000
    )
    train_share: float = parameter(
        0.5, "how many of all equations train has, from 0.05 to 0.8", least=0.05, most=0.8
    )


class ModularArithmetic(TextTask):
    """Equations of two numbers modulo a third."""

    name = "modular-arithmetic"
    title = "Modular arithmetic"
    summary = "What is `a + b`, `a - b`, `a * b`, `a / b` or `a² + b²` modulo p?"
    source = "Grokking (Power, Burda, Edwards, Babuschkin, Misra, 2022), appendix A.1"
    variants: ClassVar[Mapping[str, str]] = {
        "add": "`a + b =`",
        "subtract": "`a - b =`",
        "multiply": "`a * b =`",
        "divide": "`a / b =`, where b is not 0: the c with b * c = a. The modulus is prime.",
        "sum-of-squares": "`a ^2 + b ^2 =`",
    }
    parameters_type = ModularArithmeticParameters
    bucket_name = "equations"
    scored_columns = ("label",)
    drawn_by_workers = False
    ordinary_bits = math.inf  # each row is an ordinary sum
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"modulus": 23},
        "medium": {},  # as in the paper
        "hard": {"modulus": 997},
    }

    def check_parameters(self) -> None:
        modulus = self.parameters.modulus
        if self.variant == "divide" and not _is_prime(modulus):
            nearest = min(filter(_is_prime, range(1000)), key=lambda prime: abs(prime - modulus))
            raise ParameterError(
                f"Parameter modulus={modulus}: variant divide needs a prime number, "
                f"such as {nearest}."
            )

    def solve(self, question: str) -> int:
        modulus = self.parameters.modulus
        a, b = solver.read_equation(self.variant, modulus, question)
        return solver.answer(self.variant, modulus, a, b)

    @property
    def tokens(self) -> tuple[str, ...]:
        signs = [word for word in dict.fromkeys(self._words) if word not in "ab"]
        return (*map(str, range(self.parameters.modulus)), *signs)

    @property
    def columns(self) -> dict[str, Column]:
        label = class_label([str(number) for number in range(self.parameters.modulus)])
        return {"text": value("string"), "label": label, "a": value("int16"), "b": value("int16")}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        every = Split("all", self.capacity(Split("all", 0), 0))
        held_out = are_held_out(fingerprints(self, self.enumerate_rows(every, 0)))
        train = Split("train", round(self.parameters.train_share * every.rows), evaluation=False)
        return train, Split("test", int(held_out.sum()))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        modulus, least = self.parameters.modulus, self._least_b
        return self._block(draws.integers(modulus, n), least + draws.integers(modulus - least, n))

    def _block(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Block:
        ids: dict[str, Any] = {token: 1 + index for index, token in enumerate(self.tokens)}
        ids |= {"a": 1 + a, "b": 1 + b}  # the id of the number n is n + 1
        tokens = np.empty((len(a), len(self._words)), self.vocabulary.dtype)
        for place, word in enumerate(self._words):
            tokens[:, place] = ids[word]
        return Block({"tokens": tokens})

    def render(self, block: Block) -> dict[str, Any]:
        a, b = self._numbers(block)
        label = self._answers[a, b].astype(np.int64)
        return {"label": label, "a": a.astype(np.int16), "b": b.astype(np.int16)}

    @functools.cached_property
    def _answers(self) -> NDArray[np.int16]:
        """The answer for each a and b, int16 `(modulus, modulus)`."""
        modulus = self.parameters.modulus
        numbers = np.arange(modulus)
        products = np.multiply.outer(numbers, numbers) % modulus
        match self.variant:
            case "add":
                table = np.add.outer(numbers, numbers) % modulus
            case "subtract":
                table = np.subtract.outer(numbers, numbers) % modulus
            case "multiply":
                table = products
            case "divide":  # a / b is where the products of b have an a
                table = np.zeros_like(products)
                table[products, numbers] = numbers[:, None]
            case _:
                squares = products.diagonal()
                table = np.add.outer(squares, squares) % modulus
        answers: NDArray[np.int16] = table.astype(np.int16)
        return answers

    @property
    def _words(self) -> tuple[str, ...]:
        return _EQUATIONS[self.variant][0]

    @property
    def commutes(self) -> bool:
        """True if a and b may be exchanged without a change of the answer."""
        return _EQUATIONS[self.variant][1]

    @property
    def _least_b(self) -> int:
        return 1 if self.variant == "divide" else 0

    def _numbers(self, block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers a and b, int64 `(rows,)` each."""
        a, b = (block["tokens"][:, self._words.index(name)].astype(np.int64) - 1 for name in "ab")
        return a, b

    @property
    def instruction(self) -> str:
        """The rule of the variant."""
        modulus = self.parameters.modulus
        rules = {
            "add": f"the remainder when a + b is divided by {modulus}",
            "subtract": f"a - b, or a - b + {modulus} if a is less than b",
            "multiply": f"the remainder when a * b is divided by {modulus}",
            "divide": f"the number c for which b * c, divided by {modulus}, leaves the remainder a",
            "sum-of-squares": f"the remainder when a * a + b * b is divided by {modulus}",
        }
        remark = ", and b is not 0" if self._least_b else ""
        return (
            f"The line has the form '{' '.join(self._words)}', where a and b are numbers from 0 to "
            f"{modulus - 1}{remark}. All arithmetic is modulo {modulus}: the answer is "
            f"{rules[self.variant]}. It is a number from 0 to {modulus - 1}."
        )

    def capacity(self, split: Split, bucket: int) -> int:
        return int(self.parameters.modulus * (self.parameters.modulus - self._least_b))

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        modulus = self.parameters.modulus
        b = np.arange(self._least_b, modulus)
        return self._block(np.repeat(np.arange(modulus), len(b)), np.tile(b, modulus))

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The variant, a and b, whatever the modulus."""
        return self._content(*self._numbers(block))

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """The content with a and b in ascending order, if they may be exchanged."""
        a, b = self._numbers(block)
        if self.commutes:
            a, b = np.minimum(a, b), np.maximum(a, b)
        return hash_rows(self._content(a, b))

    def _content(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Three odd codes of two bytes: no content ends in a zero byte."""
        variant = np.full(len(a), list(self.variants).index(self.variant))
        codes = 2 * np.column_stack([variant, a, b]) + 1
        return codes.astype(">u2").view(np.uint8)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        modulus = self.parameters.modulus
        block = Block({"tokens": self.vocabulary.encode(columns["text"], len(self._words))})
        a, b = self._numbers(block)
        allowed = (a < modulus) & (b < modulus) & (b >= self._least_b)
        if not (allowed.all() and np.array_equal(self._block(a, b)["tokens"], block["tokens"])):
            form = " ".join(self._words)
            raise ValueError(f"modular-arithmetic {self.variant}: not every row is {form!r}")
        return block

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The whole row."""
        numbers = self.tokens[: self.parameters.modulus]
        return tuple(numbers if word in "ab" else (word,) for word in self._words)

    def row_spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Each `=` with as many words before it as an equation has."""
        width = len(self._words)
        ends = [end for end, word in enumerate(words, 1) if word == "="]
        return [(end - width, end) for end in ends if end >= width]

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        a, b = solver.read_equation(self.variant, self.parameters.modulus, row["text"])
        return {"label": self.solve(row["text"]), "a": a, "b": b}


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
