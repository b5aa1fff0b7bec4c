"""The names that a task's module imports.

The author of a task writes `columns`, `splits`, `solve` (the rule on one row), `propose`
(candidates, many at once) and `render` (their columns, by the rule on many rows). Everything else
has a default (`synthbench.tasks.task`). A task of texts is a `TextTask`, which also has `tokens`. A
task of images is an `ImageTask` (`synthbench.tasks.images.task`). Optional modules beside the
task's own (`synthbench.tasks.optional_modules`) specify an audit and show people a
row.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.block import Block, Breakdown, Split
from synthbench.tasks.features import LABEL
from synthbench.tasks.numeric import read_class
from synthbench.tasks.parameters import Parameters, parameter
from synthbench.tasks.task import Task
from synthbench.tasks.tokens import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LABEL", "Block", "Breakdown", "Parameters", "Split", "Task", "TextTask", "parameter",
    "read_class",
]  # fmt: skip


class TextTask(Task):
    """A task whose rows are texts of known tokens, in the column `text`.

    Its blocks have `tokens` `(rows, width)`: ids from 1 in the order of `tokens`, padded with 0.
    The columns `text` and `length` (the number of tokens, if it is declared), `content` and `parse`
    follow from the ids, so `render` returns only the other columns.

    Attributes:
        separator: the text between two tokens. If it is empty, each character is a token.
        blank: the token of `text` at the places that an answer fills in. The label then has a token
            for each token of the text, and `position_accuracy` counts the blank places alone. None:
            all places of the label count.
        ordinary_bits: in texts of others, rows with less information (the entropy of their tokens,
            in bits a row) are taken for ordinary text. See `synthbench.decontamination`. Infinite
            where all rows are.
        ordinary_tokens: in texts of others, rows with fewer tokens are taken for ordinary text.
    """

    separator: ClassVar[str] = " "
    blank: ClassVar[str | None] = None
    ordinary_bits: ClassVar[float] = 32.0
    ordinary_tokens: ClassVar[int] = 33

    @property
    @abc.abstractmethod
    def tokens(self) -> tuple[str, ...]:
        """All tokens that `text` can have, in a fixed order. May be a class attribute."""

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokens with their ids."""
        return Vocabulary(tuple(self.tokens), self.separator)

    def _given(self, block: Block) -> dict[str, Any]:
        values = super()._given(block)
        if "text" not in values:
            values["text"] = self.join(block)
        if "length" in self.columns and "length" not in values:
            values["length"] = np.count_nonzero(block["tokens"], axis=1)
        return values

    def join(self, block: Block) -> pa.Array:
        """The texts of a block. A column `length` saves counting their tokens."""
        return self.vocabulary.join(self.input_ids(block), block.columns.get("length"))

    # Verdicts on grids, whose other cells are given.

    def right_places(self, row: Mapping[str, Any], answer: Any) -> dict[int, bool]:
        """As of `Task`. Without the given places of a row whose text has blank places."""
        right = super().right_places(row, answer)
        text = row.get("text")
        if self.blank is None or not isinstance(text, str):
            return right
        words = text.split(self.separator)
        filled = {place for place, word in enumerate(words, 1) if word != self.blank}
        return {place: verdict for place, verdict in right.items() if place not in filled} or right

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """As of `Task`, with `position_accuracy` over blank places if the text has `blank`."""
        measured = super().measure(row, answer)
        if self.blank is not None:
            right = self.right_places(row, answer) if answer is not None else {}
            measured["position_accuracy"] = sum(right.values()) / max(len(right), 1)
        return measured

    # Rows in texts of others, see `synthbench.decontamination`.

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """Consecutive tokens that every row has somewhere, as alternatives by place.

        Texts without it are not searched any further. Empty, the default: nothing is known.
        """
        return ()

    def row_spans(self, words: Sequence[str]) -> Iterable[tuple[int, int]]:
        """Spans of possible rows among consecutive tokens of a line. By default all are one row.

        Override it if rows have a sign that shows where they end, such as a bracket or `=`, so that
        they are found beside other tokens, too. The time must be linear in the number of words.

        Args:
            words: the tokens, which are separated alike.

        Returns:
            Spans (first, end). The words between need not be a row.
        """
        return [(0, len(words))]

    # Rows as tokens for models, see `synthbench.tasks.forms`.

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which `synthbench.tokens` gives rows, the default first.

        By default those that follow from `label`: for a class `sequence-classification`,
        `masked-lm` and `causal-lm`, for a sequence the last two. A task whose label has a token for
        each token of the text puts `token-classification` first. A class attribute will do.
        """
        if self.answer.names is not None:
            return "sequence-classification", "masked-lm", "causal-lm"
        return () if self.answer.vocabulary is None else ("masked-lm", "causal-lm")

    def input_ids(self, block: Block) -> NDArray[np.integer[Any]]:
        """The ids of the texts of a block in reading order, `(rows, width)`. Zeros are left out.

        By default `tokens`. Override it if a block holds the tokens in another order.
        """
        return block["tokens"]

    def answer_ids(self, block: Block) -> NDArray[np.int64]:
        """The labels of a block as numbers, as `Column.ids` gives them."""
        return self.answer.ids(self.render(block)[LABEL])

    #: Parameters that change no row, so that they do not name the random streams.
    unstreamed: ClassVar[tuple[str, ...]] = ()

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates of the random streams, without `unstreamed` parameters."""
        changed = self.parameters.changed()
        streamed = {name: changed[name] for name in changed if name not in self.unstreamed}
        return {**super().stream, "parameters": streamed}

    def position_ids(self, block: Block) -> NDArray[np.integer[Any]] | None:
        """Positions for the tokens of `input_ids`, `(rows, width)`; None: 0, 1, 2 and so on."""
        return None

    def answer_positions(self, block: Block) -> NDArray[np.integer[Any]] | None:
        """Positions for the tokens of answers, `(rows, any)`; 0 behind the last column.

        None: they count on behind the question's last token. Read if there are `position_ids`.
        """
        return None

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The ids themselves. Odd codes of two bytes if there are more than 255 tokens."""
        tokens = block["tokens"]
        if tokens.dtype == np.uint8:
            return tokens
        codes = np.where(tokens > 0, 2 * tokens.astype(np.uint16) + 1, 0)
        return codes.astype(">u2").view(np.uint8)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        return Block({"tokens": self.vocabulary.encode(columns["text"])})

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The label by `solve`, and the number of tokens, if there is a column for it."""
        columns = super().recompute_columns(row)
        if "length" in self.columns:
            columns["length"] = self.vocabulary.count(row["text"])
        return columns
