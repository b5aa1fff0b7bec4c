"""Automata: the state of a finite automaton after each symbol of a word.

    a b a a    ->    q1 q0 q1 q2    in (ab)*: q2 is the state of words that have left it
    a a b b    ->    q1 q3 q1 q0    in dyck-2, (a(ab)*b)*: the number of brackets a that are open

A row is a word, and its label has the state of the language's minimal complete automaton after each
symbol. States are numbered by the first words that lead to them: q0 is the start. Train has words
of up to 50 symbols, test of up to 500.

A model that sees only the last few symbols fails where the state does not follow from them. The
least number of symbols that gives the state of a live word is `Language.window`, which an audit
prints: it is above 4 in every named language.

Sources: Liu, Ash, Goel, Krishnamurthy, Zhang, Transformers Learn Shortcuts to Automata (ICLR 2023),
for states as answers; Bhattamishra, Ahuja, Goyal, On the Ability and Limitations of Transformers to
Recognize Formal Languages (EMNLP 2020), section 5, for Tomita's languages and brackets of bounded
depth.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.automaton import solver
from synthbench.tasks.automaton.language import Language, language
from synthbench.tasks.automaton.words import word_sampler
from synthbench.tasks.base import Block, Parameters, Split, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import sequence, value
from synthbench.tasks.numeric import all_digits
from synthbench.tasks.own_variant import OWN, OwnVariant

if TYPE_CHECKING:
    import pyarrow as pa

#: The expression of each variant. In all of them no window of four symbols gives the state.
EXPRESSIONS: Mapping[str, str] = {
    "tomita-3": "(b|a((bb)+a)*a)*|(b|a((bb)+a)*a)*a((bb)+a)*(bb)*",
    "tomita-5": "(aa|bb|(ab|ba)(aa|bb)*(ab|ba))*",
    "tomita-6": "(a(ab)*(b|aa)|b(ba)*(a|bb))*",
    "tomita-7": "a*b*a*b*",
    "dyck-2": "(a(ab)*b)*",
    "dyck-4": "(a(a(a(ab)*b)*b)*b)*",
    "sixth-last": "(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)",
    OWN: "(aa|b)*",
}
#: A language is warned of if a window of at most so many symbols gives the state.
_SHORT_WINDOW = 4
#: The most symbols of a round of a stream, whose first row waits for the whole round.
_ROUND_SYMBOLS = 1 << 25


@dataclasses.dataclass(frozen=True)
class AutomatonParameters(Parameters):
    """Lengths and the language."""

    train_lengths: tuple[int, ...] = parameter(
        tuple(range(1, 51)), "lengths of train and iid, in symbols", least=1, most=solver.LONGEST
    )
    validation_lengths: tuple[int, ...] = parameter(
        tuple(range(51, 61)), "lengths of validation", least=1, most=solver.LONGEST
    )
    test_lengths: tuple[int, ...] = parameter(
        (75, 100, 150, 200, 300, 500), "lengths of test", least=1, most=solver.LONGEST
    )
    language: str = parameter(
        EXPRESSIONS[OWN],
        "a regular expression of letters with ( ) | * +, the language of the variant `own`",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        language(self.language)


class Automaton(OwnVariant):
    """The state of an automaton after each symbol of a word."""

    name = "automaton"
    title = "Automata"
    summary = "In which state is an automaton after each symbol of a word?"
    source = "Transformers Learn Shortcuts to Automata (Liu et al., ICLR 2023)"
    variants: ClassVar[Mapping[str, str]] = {
        "tomita-3": "A run of an odd number of a is never followed by one of an odd number of b.",
        "tomita-5": "Even numbers of a and of b.",
        "tomita-6": "The numbers of a and of b are equal modulo 3.",
        "tomita-7": "a*b*a*b*: at most four runs.",
        "dyck-2": "Brackets a and b, at most 2 of them open.",
        "dyck-4": "Brackets a and b, at most 4 of them open.",
        "sixth-last": "The sixth symbol from the end is a.",
        OWN: f"The expression of the parameter `language`, by default {EXPRESSIONS[OWN]}.",
    }
    parameters_type = AutomatonParameters
    own_parameter = "language"
    categories = ("token-classification",)
    bucket_name = "length"
    scored_columns = ("label",)
    drawn_by_workers = False
    forms = ("token-classification", "masked-lm", "causal-lm")
    block_rows, group_rows = 2_048, 32_768
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "train_lengths": tuple(range(1, 11)),
            "validation_lengths": (11, 12),
            "test_lengths": (15, 20),
        },
        "medium": {},
        "hard": {
            "train_lengths": tuple(range(11, 101)),
            "validation_lengths": (120, 140),
            "test_lengths": (200, 400, 700, 1000),
        },
    }

    def check_parameters(self) -> None:
        longest = max(max(split.buckets) for split in self.splits)
        # A live word with as many symbols as states comes back to a state. Then longer ones exist.
        symbols = min(longest, len(self.language.moves))
        if not word_sampler(self.language, symbols).stays_live(symbols):
            raise ParameterError(
                f"Parameter language={self.expression}: all words of {longest} symbols are "
                "in one state, as no longer word is in the language. Choose an infinite language."
            )

    def solve(self, question: str) -> list[str]:
        return solver.states_after(self.rule, question)

    @property
    def expression(self) -> str:
        """The regular expression of the variant."""
        expression: str = self.parameters.language
        return expression if self.variant == OWN else EXPRESSIONS[self.variant]

    @property
    def language(self) -> Language:
        """The minimal complete automaton of the variant."""
        return language(self.expression)

    @property
    def rule(self) -> solver.Rule:
        """The expression, and words that name its classes, for the solver."""
        language = self.language
        return solver.Rule(
            self.expression, language.letters, language.words, language.continuations
        )

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.language.letters

    @property
    def columns(self) -> dict[str, Column]:
        label = sequence(tuple(f"q{state}" for state in range(len(self.language.moves))))
        return {"text": value("string"), "label": label, "length": value("int16")}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        parameters = self.parameters
        return (
            Split("train", 100_000, parameters.train_lengths, evaluation=False),
            Split("iid", 3_000, parameters.train_lengths),
            Split("validation", 1_000, parameters.validation_lengths),
            Split("test", 500 * len(parameters.test_lengths), parameters.test_lengths),
        )

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round: fewer of words longer than 512 symbols."""
        return min(self.round_rows, _ROUND_SYMBOLS // max(split.buckets))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        sampler = word_sampler(self.language, max(split.buckets))
        return self._block(sampler.draw(draws, n, bucket))

    def _block(self, letters: NDArray[np.integer[Any]]) -> Block:
        return Block({"tokens": (1 + letters).astype(self.vocabulary.dtype)})

    def render(self, block: Block) -> dict[str, Any]:
        """The label: moves of the automaton, one symbol of all words after another."""
        table, tokens = self._transitions, block["tokens"]
        label = np.empty(tokens.shape, table.dtype)
        state = np.ones(len(tokens), table.dtype)
        for place in range(tokens.shape[1]):
            state = table[state, tokens[:, place]]
            label[:, place] = state
        return {"label": label}

    @functools.cached_property
    def _transitions(self) -> NDArray[np.integer[Any]]:
        """The id of each next state by the ids of state and symbol, `(1 + states, 1 + symbols)`.

        The id 0 is padding, whose state is 0.
        """
        return np.pad(1 + self.language.moves, ((1, 0), (1, 0))).astype(np.uint16)

    def capacity(self, split: Split, bucket: int) -> int:
        return int(len(self.tokens) ** bucket)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return self._block(all_digits(len(self.tokens), bucket))

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The letters: a word has one id in all languages."""
        codes = np.array([0, *map(ord, self.tokens)], np.uint8)
        return codes.take(block["tokens"])

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        if (longest := block["tokens"].shape[1]) > solver.LONGEST:
            raise ValueError(
                f"automaton {self.variant}: a row has {longest} symbols, allowed are 1 to "
                f"{solver.LONGEST}"
            )
        return block

    @property
    def warnings(self) -> tuple[str, ...]:
        """A language whose states follow from the last few symbols asks for no state."""
        window = self.language.window
        if window is None or window > _SHORT_WINDOW:
            return ()
        return (
            f"k = {window}: a window of so many symbols gives the state of every word that has not "
            f"left the language {self.expression}, so a model needs no memory.",
        )

    @property
    def instruction(self) -> str:
        """The moves of the automaton."""
        language = self.language
        table = "; ".join(
            f"from q{state}: "
            + ", ".join(
                f"{letter} to q{after}" for letter, after in zip(language.letters, row, strict=True)
            )
            for state, row in enumerate(language.moves.tolist())
        )
        return (
            "The line has symbols, separated by spaces. An automaton begins in state q0 and reads "
            f"them in order. Each symbol takes it to its next state, {table}. The answer has as "
            "many states as the line has symbols, separated by spaces: the state of the automaton "
            "after each symbol."
        )
