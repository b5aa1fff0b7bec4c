"""Words of a regular language, and words that leave it, drawn for many rows at once.

A word is live as long as a continuation of it is in the language. Uniform symbols would leave (ab)*
after three symbols or so, and all further states would be the same. So each word stays live with a
probability of one half, and otherwise leaves at a place that is uniform among those where words of
the language can be left. Up to there a word is uniform among all words that leave at this place (or
stay live to the end), and all symbols behind it are uniform. Languages that no word can leave have
uniform symbols.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.automaton.language import Language

Ids = NDArray[np.int64]

#: Probabilities are multiples of 2 to the power of minus this.
_BITS = 63


class WordSampler:
    """Draws words of a language.

    Args:
        language: the language.
        longest: the most symbols of a word.
    """

    def __init__(self, language: Language, longest: int) -> None:
        self._moves, live = language.moves, language.live
        stays = (live[self._moves] & live[:, None]).tolist()
        leaves = (~live[self._moves] & live[:, None]).astype(int).tolist()
        moves = self._moves.tolist()
        live_moves = [
            [*itertools.compress(*of_state)] for of_state in zip(moves, stays, strict=True)
        ]
        self._live = _counts(live_moves, live.astype(int).tolist(), longest)
        self._left = _counts(live_moves, [*map(sum, leaves)], longest)
        self._stays, self._leaves = stays, leaves
        self._behind = longest  # the line of symbols behind those that leave

    @functools.cached_property
    def _thresholds(self) -> NDArray[np.uint64]:
        """By letter but the last, whose threshold no word reaches: those of all lines and states.

        The lines are for r symbols that stay live to the end of the word, in line r - 1, for a
        symbol behind those that leave, and for r symbols and another that leaves the language.
        """
        moves = self._moves.tolist()
        uniform = [_shares([1] * len(moves[0]))] * len(moves)
        to_end, to_leave = (
            [_thresholds(moves, self._stays, few) for few in counts[:-1]]
            for counts in (self._live, self._left)
        )
        away = [*map(_shares, self._leaves)]
        lines = np.array([*to_end, uniform, away, *to_leave], np.uint64)
        return np.ascontiguousarray(lines.reshape(-1, lines.shape[2]).T[:-1])

    def stays_live(self, length: int) -> bool:
        """True if a word of so many symbols is live."""
        return self._live[length][0] > 0

    def draw(self, draws: Draws, n: int, length: int) -> Ids:
        """`n` words as the numbers of their letters from 0, int64 `(n, length)`."""
        places = np.array([t for t in range(length) if self._left[t][0]], np.int64)
        last = np.full(n, length)  # how many symbols stay live
        if len(places):
            ends = places[draws.integers(len(places), (n,))]
            live = draws.bits(0.5, (n,)) if self.stays_live(length) else np.zeros(n, bool)
            last = np.where(live, length, ends)
        words = (draws.words(n * length) >> np.uint64(64 - _BITS)).reshape(n, length)
        letters = np.zeros((length, n), np.int64)
        moves, (states, choices) = self._moves.ravel(), self._moves.shape
        stays = last == length
        line = states * np.where(stays, last - 1, self._behind + 1 + last)
        least = states * np.where(stays, 0, self._behind)
        state, at = np.zeros(n, np.int64), np.empty(n, np.int64)
        for place, (word, letter) in enumerate(zip(words.T.copy(), letters, strict=True)):
            np.maximum(np.subtract(line, states * place, out=at), least, out=at)
            at += state
            for thresholds in self._thresholds:
                letter += word >= thresholds.take(at)
            state *= choices
            state += letter
            state = moves.take(state)
        return np.ascontiguousarray(letters.T)


@functools.lru_cache(maxsize=64)
def word_sampler(language: Language, longest: int) -> WordSampler:
    """The sampler of a language, made once in a process."""
    return WordSampler(language, longest)


def _counts(moves: list[list[int]], ends: list[int], longest: int) -> list[list[int]]:
    """For 0, 1, ... symbols and each state, the number of live words, each times its last weight.

    Args:
        moves: the live states after each state.
        ends: the weight of each state at the end of a word.
        longest: the most symbols.
    """
    counts = [ends]
    for _ in range(longest):
        few = counts[-1]
        counts.append([sum(few[after] for after in row) for row in moves])
    return counts


def _thresholds(moves: list[list[int]], stays: list[list[bool]], few: list[int]) -> list[list[int]]:
    """For each state the thresholds of its letters."""
    return [
        _shares([few[after] if stay else 0 for after, stay in zip(*of_state, strict=True)])
        for of_state in zip(moves, stays, strict=True)
    ]


def _shares(weights: list[int]) -> list[int]:
    """Cumulative shares of exact weights, in units of 2**-63. Without weights all are equal."""
    whole = sum(weights)
    if not whole:
        return _shares([1] * len(weights))
    return [(so_far << _BITS) // whole for so_far in itertools.accumulate(weights)]
