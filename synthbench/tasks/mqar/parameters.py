"""Parameters of mqar: sizes of train and test, places of questions, noise, rewrites and hops."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from synthbench.errors import ParameterError
from synthbench.tasks.base import Parameters, parameter


@dataclasses.dataclass(frozen=True)
class RecallParameters(Parameters):
    """Parameters. The defaults are the smallest size of the paper's figure 2."""

    vocabulary: int = parameter(
        8192, "different tokens: values one half, keys and blank the other", least=16, most=16384
    )
    length: tuple[int, ...] = parameter(
        (64,), "places of a row of train, even numbers from 8 to 2048"
    )
    pairs: tuple[int, ...] = parameter(
        (4,), "pairs of a row of train from 2 to 512, as many numbers as `length` has"
    )
    test_lengths: tuple[int, ...] = parameter(
        (64, 128, 256), "lengths of test, even numbers", least=8, most=2048
    )
    test_pairs: tuple[int, ...] = parameter(
        (4, 8, 16),
        "pairs of test, with each length that has four places a pair, but not the sizes of train",
        least=2,
        most=512,
    )
    gaps: str = parameter(
        "power",
        "where keys are asked: power (slot g with a weight of 1/(g + 1)) or uniform",
        choices=("power", "uniform"),
    )
    filler: str = parameter(
        "blank",
        "other places: blank, or random (any token but the row's keys)",
        choices=("blank", "random"),
    )

    noise: float = parameter(
        0.0, "share of noise pairs, whose keys are not asked, among the first pairs",
        least=0.0, most=0.9,
    )  # fmt: skip
    rewrites: float = parameter(
        0.0, "share of keys that are given a new value before they are asked", least=0.0, most=1.0
    )
    hops: int = parameter(
        1, "2: the pair of an asked key has another key, whose pair has the value", least=1, most=2
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes()
        for name, lengths in (("length", self.length), ("test_lengths", self.test_lengths)):
            for odd in (length for length in lengths if length % 2):
                raise ParameterError(
                    f"Parameter {name}={odd}: allowed are even numbers, such as {odd + 1}."
                )
        if self.vocabulary % 2:
            raise ParameterError(
                f"Parameter vocabulary={self.vocabulary}: allowed are even numbers, such as "
                f"{self.vocabulary + 1}."
            )
        for length, pairs in self.sizes:
            if self.least_length(pairs) > length:
                raise ParameterError(
                    f"Parameter pairs={pairs}: {length} places allow 2 to {length // 4}."
                    if self.is_plain
                    else f"Parameter length={length}: {pairs} pairs with noise, rewrites and hops "
                    f"need {self.least_length(pairs)} places."
                )
        if not self.is_plain and self.filler != "blank":
            raise ParameterError(
                "Parameter filler=random: noise, rewrites and hops need filler=blank."
            )
        if not self.test_sizes:
            raise ParameterError(
                f"Parameter test_pairs={','.join(map(str, self.test_pairs))}: test has no size but "
                f"those of train. {max(self.test_lengths)} places allow 2 to "
                f"{max(self.test_lengths) // 4}."
            )
        keys = self.vocabulary // 2 - 1
        for name, most in (("pairs", max(self.pairs)), ("test_pairs", max(self.test_pairs))):
            if most > keys:
                raise ParameterError(
                    f"Parameter {name}={most}: {self.vocabulary} tokens have {keys} keys."
                )
            if (used := self.first_pairs(most)) > keys:
                raise ParameterError(
                    f"Parameter {name}={most}: with noise and hops a row has {used} keys, and "
                    f"{self.vocabulary} tokens have {keys}."
                )

    def _check_sizes(self) -> None:
        """Raise `ParameterError` unless sizes of train are different pairs of numbers."""
        for name, sizes, most in (("length", self.length, 2048), ("pairs", self.pairs, 512)):
            least = 8 if name == "length" else 2
            for number in (size for size in sizes if not least <= size <= most):
                raise ParameterError(f"Parameter {name}={number}: allowed are {least} to {most}.")
        if len(self.length) != len(self.pairs):
            raise ParameterError(
                f"Parameter pairs={','.join(map(str, self.pairs))}: expected {len(self.length)} "
                "numbers, a number of pairs for each length."
            )
        if len(set(self.sizes)) < len(self.sizes) or not self.sizes:
            raise ParameterError(
                f"Parameter length={','.join(map(str, self.length))}: allowed are different sizes, "
                "each a length and the number of pairs in the same place."
            )

    @property
    def is_plain(self) -> bool:
        """True without noise, rewritten keys and second hops."""
        return self.noise == 0 and self.rewrites == 0 and self.hops == 1

    def noise_pairs(self, pairs: int) -> int:
        """The number of noise pairs beside so many pairs that are asked."""
        return math.floor(self.noise * self.hops * pairs / (1 - self.noise) + 0.5)

    def rewritten(self, pairs: int) -> int:
        """The number of keys that are given a new value."""
        return math.floor(self.rewrites * pairs + 0.5)

    def first_pairs(self, pairs: int) -> int:
        """The number of pairs in front."""
        return self.hops * pairs + self.noise_pairs(pairs)

    def least_length(self, pairs: int) -> int:
        """The places that a row of so many asked pairs needs."""
        return 2 * (self.first_pairs(pairs) + self.rewritten(pairs) + pairs)

    def to_dict(self) -> dict[str, Any]:
        """All parameters as JSON values: a single size as two numbers."""
        values = super().to_dict()
        for name in ("length", "pairs"):
            if len(values[name]) == 1:
                (values[name],) = values[name]
        return values

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Length and pairs of the rows of train."""
        return [*zip(self.length, self.pairs, strict=True)]

    @property
    def test_sizes(self) -> list[tuple[int, int]]:
        """Length and pairs of the rows of test: all that fit, but the sizes of train."""
        return [
            (length, pairs)
            for length in self.test_lengths
            for pairs in self.test_pairs
            if self.least_length(pairs) <= length and (length, pairs) not in self.sizes
        ]
