"""Regular languages: from a regular expression to its minimal complete automaton.

    (ab)*    state  first word   a   b
             q0                  q1  q2     the only state whose words are in the language
             q1     a            q2  q0
             q2     b            q2  q2     dead: no continuation is in the language

1. Each letter of the expression is a position. Which positions may follow which is read off the
   expression (Glushkov, 1961).
2. A set of positions that a word may end at is a state of an automaton (subset construction).
3. States whose continuations in the language are the same are one state (Moore, 1956). States are
   numbered by their first words: shorter words first, then in alphabetical order.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.tasks.automaton.expression import START, Positions, read_expression
from synthbench.text.lines import short

Ids = NDArray[np.int64]
Truths = NDArray[np.bool_]

#: The most states of an automaton, and of the automaton before states are merged.
MOST_STATES, _MOST_SETS = 128, 2_048
#: The most steps that Python's `re` may need to find all states, see `_matching_steps`.
_MOST_STEPS = 20_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Language:
    """The minimal complete automaton of a regular expression. State 0 is the start.

    Attributes:
        letters: the letters of the expression, in alphabetical order.
        moves: the state after each state and letter, int64 `(states, letters)`.
        accepts: the states whose words are in the language, bool `(states,)`.
        words: the first word that leads to each state.
        continuations: words that separate the states. For any two states, some continuation among
            them leads to a state that accepts from just one of the two.
    """

    letters: tuple[str, ...]
    moves: Ids
    accepts: Truths
    words: tuple[str, ...]
    continuations: tuple[str, ...]

    @functools.cached_property
    def live(self) -> Truths:
        """The states from which some word leads to a state that accepts, bool `(states,)`."""
        live, before = self.accepts, np.zeros_like(self.accepts)
        while (live != before).any():
            live, before = live | live[self.moves].any(axis=1), live
        return live

    @functools.cached_property
    def window(self) -> int | None:
        """The least k such that the last k symbols of a live word give its state, or None.

        A word is live as long as a continuation of it is in the language. No window shows whether
        a long word is still live.
        """
        # Pairs of different states that words with the same last symbols may lead to.
        pairs = np.outer(self.live, self.live) & ~np.eye(len(self.moves), dtype=bool)
        window = 0
        while pairs.any():
            left, right = np.nonzero(pairs)
            after = np.zeros_like(pairs)
            for move in self.moves.T:
                after[move[left], move[right]] = True
            after &= np.outer(self.live, self.live)
            np.fill_diagonal(after, False)
            if (after == pairs).all():
                return None
            pairs, window = after, window + 1  # pairs only ever get fewer
        return window


@functools.lru_cache(maxsize=64)
def language(expression: str) -> Language:
    """The automaton of an expression.

    Args:
        expression: letters with `( ) | * +`.

    Raises:
        ParameterError: the expression is malformed or too large, it has fewer than two letters, or
            its automaton has one state or too many.
    """
    positions = read_expression(expression)
    letters = tuple(sorted(set(positions.letters)))
    if len(letters) < 2:
        raise _refusal(expression, f"its only letter is {letters[0]}, and two are needed")
    moves, accepts = _subsets(expression, positions, letters)
    states, continuations = _merged(moves, accepts, letters)
    count = int(states.max()) + 1
    if not 2 <= count <= MOST_STATES:
        raise _refusal(
            expression,
            f"its automaton has {count} of 2 to {MOST_STATES} states",
        )
    # A merged state is first met where its number first occurs.
    first = np.unique(states, return_index=True)[1]
    moves, accepts = states[moves[first]], accepts[first]
    words = tuple(_first_words(moves, letters))
    automaton = Language(letters, moves, accepts, words, continuations)
    if _matching_steps(positions, automaton) > _MOST_STEPS:
        raise _refusal(
            expression,
            "too many parts of it match alike, so Python's re, which proves the labels, would "
            "need too long",
        )
    return automaton


def _refusal(expression: str, problem: str) -> ParameterError:
    return ParameterError(f"Parameter language={short(expression)}: {problem}.")


def _subsets(expression: str, positions: Positions, letters: tuple[str, ...]) -> tuple[Ids, Truths]:
    """The automaton of sets of positions, its states in the order of their first words."""
    named = np.array(["", *positions.letters])
    of_letter = [named == letter for letter in letters]
    follows = positions.follows > 0
    start = np.zeros(len(named), bool)
    start[START] = True
    sets, numbers, moves = [start], {start.tobytes(): 0}, []
    for subset in sets:  # grows while it is read
        after = follows[subset].any(axis=0)
        line = []
        for positions_of_letter in of_letter:
            reached = after & positions_of_letter
            number = numbers.setdefault(reached.tobytes(), len(sets))
            if number == len(sets):
                sets.append(reached)
            line.append(number)
        moves.append(line)
        if len(sets) > _MOST_SETS:
            raise _refusal(
                expression, f"it needs more than {_MOST_SETS:,} states before the smallest is found"
            )
    accepts: Truths = np.array([bool(subset[positions.ends].any()) for subset in sets])
    return np.array(moves), accepts


def _merged(moves: Ids, accepts: Truths, letters: tuple[str, ...]) -> tuple[Ids, tuple[str, ...]]:
    """The number of each state's class, and continuations that separate the classes.

    Classes are numbered by their first states.
    """
    columns = {"": accepts}
    classes = accepts.astype(np.int64)
    todo = [""]
    for suffix in todo:  # grows while it is read
        for move, letter in zip(moves.T, letters, strict=True):
            column = columns[suffix][move]
            finer = np.unique(2 * classes + column, return_inverse=True)[1].reshape(-1)
            if finer.max() > classes.max():
                classes = finer
                columns[letter + suffix] = column
                todo.append(letter + suffix)
    _, first, classes = np.unique(classes, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))
    return numbers[classes.reshape(-1)], tuple(columns)


def _first_words(moves: Ids, letters: tuple[str, ...]) -> Iterator[str]:
    """The first word that leads to each state."""
    words = {0: ""}
    for state in range(len(moves)):  # states are numbered by their first words
        for letter, after in zip(letters, moves[state].tolist(), strict=True):
            words.setdefault(after, words[state] + letter)
    return (words[state] for state in range(len(moves)))


def _matching_steps(positions: Positions, automaton: Language) -> float:
    """A bound on the steps of a matcher that backtracks, over all words that the solver asks.

    These are a first word, a letter and a continuation each. Steps are ways through the positions.
    """
    named = np.array(["", *positions.letters])
    step = {x: positions.follows * (named == x).astype(np.float64) for x in automaton.letters}
    # Ways to read a first word and a letter, by the position reached.
    start = (np.arange(len(named)) == START).astype(np.float64)
    ways = {"": start}
    for word in automaton.words:
        for letter in automaton.letters:
            ways[word + letter] = ways[word] @ step[letter]
    # Ways to go on with a continuation or a part of it, by the position where it begins.
    onwards: dict[str, NDArray[np.float64]] = {"": np.ones(len(named))}
    for word in automaton.continuations[1:]:
        onwards[word] = 1 + step[word[0]] @ onwards[word[1:]]
    reached, further = np.array([*ways.values()]), np.array([*onwards.values()])
    return float((reached @ further.T).sum())
