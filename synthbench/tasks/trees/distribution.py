"""The probabilities of keys: which value and depth the proposal gives to an operator.

Every node has a key, a small integer made of its value and its depth. A `KeyDistribution` says how
an operator's key follows from its arguments' keys. From this the probability of every key is
computed, first for operators with one level left, then with two, and so on.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import total
from synthbench.tasks.trees.grammar import Grammar

#: A key is `value << DEPTH_BITS | depth`. A value is at most 255. The depth of a digit is 0.
DEPTH_BITS = 6
DEPTH_MASK = (1 << DEPTH_BITS) - 1
#: The largest error of the sum of all chances.
_MOST_ERROR = 0.01


@dataclasses.dataclass(frozen=True)
class KeyDistribution(abc.ABC):
    """The law of an operator's key, given the keys of its arguments.

    Instances can be hashed. Tables are cached by instance.

    Attributes:
        grammar: the proposal.
        root: the number of the only operator that is drawn, None for any. Its arguments may have
            any operators.
        enumerated: whether `sampling` lists all combinations of arguments to choose from.
    """

    grammar: Grammar
    root: int | None = dataclasses.field(default=None, kw_only=True)
    enumerated: ClassVar[bool] = False

    @property
    def kinds(self) -> Sequence[int]:
        """The numbers of the operators that are drawn."""
        return range(self.grammar.operators) if self.root is None else (self.root,)

    @property
    @abc.abstractmethod
    def leaves(self) -> dict[int, float]:
        """The keys of digits, each with its chance."""

    @abc.abstractmethod
    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int8], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        """The keys of many operators.

        Args:
            kinds: the operators, uint8 `(operators,)`.
            arity: how many arguments each has, int8 `(operators,)`.
            arguments: keys of the arguments, int16 `(max_args, operators)`, padded with 0.
        """

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        """The chance of every key of an operator over `arity` independent arguments.

        Goes through all combinations. Where there are many keys, override this with a faster way.
        Use only IEEE additions, multiplications and divisions in a fixed order, so that the result
        has the same bits everywhere.

        Args:
            kind: the operator.
            arity: number of arguments.
            arguments: the chance of every key of one argument.

        Returns:
            The possible keys with their chances.
        """
        operators, chances = combinations(self, kind, arity, arguments)
        outcomes: dict[int, float] = {}
        for key, chance in zip(operators.keys.tolist(), chances, strict=True):
            outcomes[key] = outcomes.get(key, 0.0) + chance
        return outcomes

    def argument(self, height: int) -> dict[int, float]:
        """The chance of every key of an argument with `height` levels left for operators."""
        p_op = self.grammar.p_op
        if height == 0 or p_op == 0.0:
            return self.leaves
        mixed = {key: (1.0 - p_op) * chance for key, chance in self.leaves.items()}
        for key, chance in operator_chances(dataclasses.replace(self, root=None), height).items():
            mixed[key] = p_op * chance
        return mixed


class Operators(NamedTuple):
    """Many operators with their arguments: see `KeyDistribution.keys`."""

    keys: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    arity: NDArray[np.int8]
    arguments: NDArray[np.int16]

    @staticmethod
    def concatenate(parts: list[Operators]) -> Operators:
        """All operators, in order."""
        keys, kinds, arity, arguments = zip(*parts, strict=True)
        return Operators(
            np.concatenate(keys),
            np.concatenate(kinds),
            np.concatenate(arity),
            np.concatenate(arguments, axis=1),
        )


def combinations(
    distribution: KeyDistribution, kind: int, arity: int, arguments: dict[int, float]
) -> tuple[Operators, list[float]]:
    """All operators of one kind over `arity` arguments, with their chances."""
    choices = list(itertools.product(sorted(arguments), repeat=arity))
    keys = np.zeros((distribution.grammar.max_args, len(choices)), np.int16)
    keys[:arity] = np.array(choices, np.int16).T
    kinds, arities = np.full(len(choices), kind, np.uint8), np.full(len(choices), arity, np.int8)
    chances = [math.prod(map(arguments.__getitem__, choice)) for choice in choices]
    return Operators(distribution.keys(kinds, arities, keys), kinds, arities, keys), chances


@functools.lru_cache(maxsize=1024)
def operator_chances(distribution: KeyDistribution, height: int) -> dict[int, float]:
    """The chance of every key of an operator with `height` levels left, itself included.

    Raises:
        ParameterError: rounding errors are too large.
    """
    argument = distribution.argument(height - 1)
    grammar = distribution.grammar
    share = 1.0 / (len(distribution.kinds) * len(grammar.arities))
    chances: dict[int, float] = {}
    for kind in distribution.kinds:
        for arity in grammar.arities:
            for key, chance in distribution.chances(kind, arity, argument).items():
                if chance > 0.0:
                    chances[key] = chances.get(key, 0.0) + share * chance
    # Rounding errors grow with every level if an operator has more than one operator below it.
    if not abs(total(chances.values()) - 1.0) < _MOST_ERROR:
        raise ParameterError(
            f"Parameter p_op={grammar.p_op}: the chances of trees of depth {height} cannot be "
            f"computed with up to {grammar.max_args} arguments. Allowed are depths up to "
            f"{height - 1}, or a lower p_op or max_args."
        )
    return chances
