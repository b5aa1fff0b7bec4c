"""Laws of trees: with what chance the proposal gives an operator which value and which depth.

Every node has a key, a small integer: its value and its depth. A law says how an operator's key
follows from those of its arguments; the chances of all keys of an operator with so many levels
below follow from it, one level after another.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.trees import Grammar

#: A key is `value << DEPTH_BITS | depth`; the depth of a digit is 0.
DEPTH_BITS = 6
DEPTH_MASK = (1 << DEPTH_BITS) - 1


class Law(abc.ABC):
    """How the key of an operator follows from the keys of its arguments.

    A law is a value: it can be hashed, and equal laws are the same law.

    Attributes:
        grammar: the proposal.
        listed: whether operators are chosen from the list of all (see `settling`).
    """

    grammar: Grammar
    listed: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def leaves(self) -> dict[int, float]:
        """The keys of digits with their chances."""

    @abc.abstractmethod
    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int64], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        """The keys of many operators.

        Args:
            kinds: the operators, uint8 `(operators,)`.
            arity: how many arguments each has, int64 `(operators,)`.
            arguments: keys of the arguments, int16 `(max_args, operators)`; 0 where there is none.
        """

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        """The chance of every key of an operator over `arity` independent arguments.

        Looks at all combinations; a law with many keys must find a shorter way. IEEE additions,
        multiplications and divisions in a fixed order only: the same bits everywhere.

        Args:
            kind: the operator.
            arity: number of arguments.
            arguments: the chance of every key of one argument.

        Returns:
            The possible keys with their chances.
        """
        made, chances = combinations(self, kind, arity, arguments)
        outcomes: dict[int, float] = {}
        for key, chance in zip(made.keys.tolist(), chances, strict=True):
            outcomes[key] = outcomes.get(key, 0.0) + chance
        return outcomes

    def argument(self, height: int) -> dict[int, float]:
        """The chance of every key of an argument with `height` levels left for operators."""
        p_op = self.grammar.p_op
        if height == 0 or p_op == 0.0:
            return self.leaves
        mixed = {key: (1.0 - p_op) * chance for key, chance in self.leaves.items()}
        for key, chance in operator_chances(self, height).items():
            mixed[key] = p_op * chance
        return mixed


@dataclasses.dataclass(frozen=True)
class RootLaw(Law):
    """The law of an operator of one kind over arguments of another law.

    Attributes:
        grammar: as in that law, with a single operator.
        law: the other law.
        kind: the operator's number in it.
    """

    grammar: Grammar
    law: Law
    kind: int

    @property
    def leaves(self) -> dict[int, float]:
        return self.law.leaves

    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int64], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        return self.law.keys(np.full_like(kinds, self.kind), arity, arguments)

    def chances(self, kind: int, arity: int, arguments: dict[int, float]) -> dict[int, float]:
        return self.law.chances(self.kind, arity, arguments)

    def argument(self, height: int) -> dict[int, float]:
        return self.law.argument(height)


class Operators(NamedTuple):
    """Many operators with their arguments: see `Law.keys`."""

    keys: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    arity: NDArray[np.int64]
    arguments: NDArray[np.int16]

    def take(self, chosen: NDArray[np.int64]) -> Operators:
        """The operators at these indices, in this order."""
        return Operators(
            self.keys.take(chosen),
            self.kinds.take(chosen),
            self.arity.take(chosen),
            self.arguments.take(chosen, axis=1),
        )

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
    law: Law, kind: int, arity: int, arguments: dict[int, float]
) -> tuple[Operators, list[float]]:
    """All operators of one kind over `arity` arguments, with their chances."""
    made = list(itertools.product(sorted(arguments), repeat=arity))
    keys = np.zeros((law.grammar.max_args, len(made)), np.int16)
    keys[:arity] = np.array(made, np.int16).T
    kinds, arities = np.full(len(made), kind, np.uint8), np.full(len(made), arity, np.int64)
    chances = [math.prod(map(arguments.__getitem__, one)) for one in made]
    return Operators(law.keys(kinds, arities, keys), kinds, arities, keys), chances


@functools.lru_cache(maxsize=1024)
def operator_chances(law: Law, height: int) -> dict[int, float]:
    """The chance of every key of an operator with `height` levels left, itself included."""
    argument = law.argument(height - 1)
    grammar = law.grammar
    share = 1.0 / (grammar.operators * len(grammar.arities))
    chances: dict[int, float] = {}
    for kind in range(grammar.operators):
        for arity in grammar.arities:
            for key, chance in law.chances(kind, arity, argument).items():
                if chance > 0.0:
                    chances[key] = chances.get(key, 0.0) + share * chance
    return chances
