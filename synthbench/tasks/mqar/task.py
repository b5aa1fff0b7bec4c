"""Multi-query associative recall (MQAR): pairs of keys and values, then some of the keys again.

    k5 v9 k2 v7 blank blank k2 blank k5 blank blank blank
    _  _  _  _  _     _     v7 _     v9 _     _     _

A row begins with pairs of a key and a value. Behind them are slots of two places: in some slots
is a key, each key in exactly one slot, and there its value is asked. Train, iid and
validation have rows of one size or several. Test has more pairs and more places. The parameters
`noise`, `rewrites` and `hops` make rows of other slots: see `synthbench.tasks.mqar.memory`.

Source: Zoology (Arora, Eyuboglu, Timalsina, Johnson, Poli, Zou, Rudra, Ré, ICLR 2024), figure 2.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, mix
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block, Breakdown, Split, TextTask
from synthbench.tasks.column import Column
from synthbench.tasks.features import sequence, value
from synthbench.tasks.mqar import memory
from synthbench.tasks.mqar.draws import RemainingWeights, distinct, without
from synthbench.tasks.mqar.parameters import RecallParameters
from synthbench.tasks.mqar.solver import BLANK, NOT_ASKED, pairs_and_rest, recall, recall_written

if TYPE_CHECKING:
    import pyarrow as pa

#: The number of a bucket is `length * _BUCKET + pairs`.
_BUCKET = 1_000
#: The weight of the first slot. Slot `g` has the whole part of `_WEIGHT / (g + 1)`.
_WEIGHT = 1 << 24
#: A token and its place as one number.
_PLACE_BITS, _PLACES = np.uint64(32), np.uint64((1 << 32) - 1)
#: Places of two tokens of a repeated key: the row of each, the first place and the second.
Repeated = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


class AssociativeRecall(TextTask):
    """Keys with their values, then the keys alone."""

    name = "mqar"
    title = "Multi-query associative recall"
    summary = "For each key that appears a second time: which value was it paired with?"
    source = "Zoology (Arora, Eyuboglu et al., ICLR 2024), figure 2"
    parameters_type = RecallParameters
    categories = ("token-classification",)
    bucket_name = "pairs"  # of a certain length: see `buckets`
    scored_columns = ("label",)
    drawn_by_workers = False
    group_by = (Breakdown("pairs"), Breakdown("length"))
    forms = ("token-classification", "masked-lm", "causal-lm")
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        # The sizes of the paper's figure 2.
        "easy": {},
        "medium": {
            "length": (128,),
            "pairs": (8,),
            "test_lengths": (128, 256, 512),
            "test_pairs": (8, 16, 32),
        },
        "hard": {
            "length": (256,),
            "pairs": (16,),
            "test_lengths": (256, 512, 1024),
            "test_pairs": (16, 32, 64),
        },
        "hardest": {
            "length": (512,),
            "pairs": (64,),
            "test_lengths": (512, 1024, 2048),
            "test_pairs": (64, 128, 256),
        },
    }

    def solve(self, question: str) -> list[str]:
        if not self.parameters.is_plain:
            return [answer for answer, _ in self.read_slots(question)]
        return recall(*self.read(question))

    def read(self, text: str) -> tuple[dict[str, str], list[str]]:
        """The value of each key, and the tokens behind the pairs.

        Raises:
            ValueError: the text is not a row of the task.
        """
        return pairs_and_rest(text, self._keys, self._values)

    def read_slots(self, text: str) -> list[tuple[str, list[tuple[int, str, str]]]]:
        """The answer at each place and the pairs that lead to it, see `recall_written`.

        Raises:
            ValueError: the text is not a row of the task.
        """
        return recall_written(text, self._keys, self._values, self.parameters.hops)

    @property
    def tokens(self) -> tuple[str, ...]:
        return (BLANK, *self._keys, *self._values)

    @functools.cached_property
    def _keys(self) -> dict[str, None]:
        return dict.fromkeys(f"k{number}" for number in range(1, self._half))

    @functools.cached_property
    def _values(self) -> dict[str, None]:
        return dict.fromkeys(f"v{number}" for number in range(1, self._half + 1))

    @property
    def _half(self) -> int:
        """The number of values, and the largest id of a key. Key 1 has the id 2."""
        half: int = self.parameters.vocabulary // 2
        return half

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "text": value("string"),
            "label": sequence(tuple(self._values), ignored=NOT_ASKED),
            "pairs": value("int16"),
            "length": value("int16"),
        }

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        trained = tuple(length * _BUCKET + pairs for length, pairs in self.parameters.sizes)
        larger = tuple(length * _BUCKET + pairs for length, pairs in self.parameters.test_sizes)
        return (
            Split("train", 100_000, trained, evaluation=False),
            Split("iid", 3_000, trained),
            Split("validation", 3_000, trained),
            Split("test", 500 * len(larger), larger),
        )

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        length, pairs = (
            numpy_array(columns[name]).astype(np.int64) for name in ("length", "pairs")
        )
        buckets: NDArray[np.int64] = length * _BUCKET + pairs
        return buckets

    def bucket_label(self, bucket: int) -> str:
        length, pairs = divmod(bucket, _BUCKET)
        return f"{pairs} in {length}"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        length, pairs = divmod(bucket, _BUCKET)
        if not self.parameters.is_plain:
            return self._propose_slots(draws, n, length, pairs)
        keys = 2 + distinct(draws, n, pairs, self._half - 1)
        values = 1 + self._half + distinct(draws, n, pairs, self._half)
        slots = self._slots(draws, n, length // 2 - pairs, pairs)
        tokens = np.ones((n, length), self.vocabulary.dtype)
        tokens[:, 2 * pairs :] = self._filler(draws, keys, length - 2 * pairs)
        tokens[:, 0 : 2 * pairs : 2], tokens[:, 1 : 2 * pairs : 2] = keys, values
        places = 2 * (pairs + slots)
        np.put_along_axis(tokens, places, keys.astype(tokens.dtype), axis=1)
        return Block({"tokens": tokens, "asked": (1 + places).astype(np.int16)})

    def _propose_slots(self, draws: Draws, n: int, length: int, pairs: int) -> Block:
        """Rows with noise, rewritten keys or second hops."""
        parameters = self.parameters
        noise, rewrites = parameters.noise_pairs(pairs), parameters.rewritten(pairs)
        head, asked_keys, last = memory.draw_pairs(
            draws, n, self._half, pairs, noise, parameters.hops
        )
        tokens = np.ones((n, length), np.int64)
        tokens[:, : head.shape[1]] = head
        first = head.shape[1] // 2
        slots = first + self._slots(draws, n, length // 2 - first, pairs + rewrites)
        values = np.empty((n, 0), np.int64)
        if rewrites:
            values = 1 + self._half + distinct(draws, n, rewrites, self._half)
        memory.add_questions(tokens, slots, asked_keys, last, values)
        return Block({"tokens": tokens.astype(self.vocabulary.dtype)})

    def _slots(self, draws: Draws, n: int, slots: int, pairs: int) -> NDArray[np.int64]:
        """The slot in which each key is asked, `(n, pairs)`.

        Slots are drawn one after another, without replacement. Slots that are drawn first tend to
        come first in the row, so they go to the keys in random order.
        """
        weights = np.ones(slots, np.int64)
        if self.parameters.gaps == "power":
            weights = _WEIGHT // np.arange(1, slots + 1)
        left, drawn = RemainingWeights(weights, n), np.empty((n, pairs), np.int64)
        for number in range(pairs):
            drawn[:, number] = left.remove(draws.below(left.totals))
        return np.take_along_axis(drawn, draws.permutations(n, pairs), axis=1)

    def _filler(
        self, draws: Draws, keys: NDArray[np.int64], places: int
    ) -> NDArray[np.int64] | int:
        """The ids behind the pairs, before keys are asked, `(rows, places)`.

        A random key is there once at most, so that no other keys are in a row twice than
        those of its pairs. In its further places are blanks.
        """
        n, pairs = keys.shape
        if self.parameters.filler == "blank":
            return 1
        drawn = draws.integers(self.parameters.vocabulary - pairs, (n, places))
        ids = 1 + without(drawn, keys - 1)
        rows, _, again = self._repeated_keys(ids)
        ids[rows, again] = 1
        return ids

    def _repeated_keys(self, tokens: NDArray[np.integer[Any]]) -> Repeated:
        """Every place of a key that has stood in the row before, and the place where it did."""
        # Tokens with their places, as one number each, sort faster than an order is found.
        marked = tokens.astype(np.uint64) << _PLACE_BITS | np.arange(
            tokens.shape[1], dtype=np.uint64
        )
        marked.sort(axis=1)
        ordered = marked >> _PLACE_BITS
        is_key = (ordered[:, 1:] > 1) & (ordered[:, 1:] <= self._half)
        rows, at = np.nonzero(is_key & (ordered[:, 1:] == ordered[:, :-1]))
        first, again = (marked[rows, place] & _PLACES for place in (at, at + 1))
        return rows, first.astype(np.intp), again.astype(np.intp)

    def render(self, block: Block) -> dict[str, Any]:
        if not self.parameters.is_plain:
            recalled = memory.answers(block["tokens"], self._half, self.parameters.hops)
            label = np.where(recalled > 0, recalled - self._half, self._half + 1)
            label[block["tokens"] == 0] = 0
            return {"label": label, "pairs": np.count_nonzero(recalled, axis=1)}
        tokens, asked_at = block["tokens"], self._asked(block)
        # The id of '_' is behind all values.
        label = np.where(tokens > 0, tokens.dtype.type(self._half + 1), tokens.dtype.type(0))
        rows, pairs = np.nonzero(asked_at)
        label[rows, asked_at[rows, pairs] - 1] = tokens[rows, 2 * pairs + 1] - self._half
        return {"label": label, "pairs": np.count_nonzero(asked_at, axis=1)}

    def _asked(self, block: Block) -> NDArray[np.int16]:
        """The position from 1 where each pair is asked, `(rows, pairs)`; 0 where no pair is."""
        if "asked" in block.columns:
            return block["asked"]
        tokens = block["tokens"]
        rows, first, again = self._repeated_keys(tokens)
        asked_at = np.zeros((len(tokens), 1 + first.max(initial=0) // 2), np.int16)
        asked_at[rows, first // 2] = again + 1
        return asked_at

    @property
    def instruction(self) -> str:
        """The rule, and the form of an answer."""
        if not self.parameters.is_plain:
            way = (
                " If this is another key, the answer is the value stored with that key."
                if self.parameters.hops > 1
                else ""
            )
            return (
                "The line has slots of two places. A key (k1, k2 and so on) with a value (v1, v2 "
                "and so on) or another key behind it stores this for the key, in place of "
                f"anything stored before. A key with '{BLANK}' behind it asks for the latest "
                f"token stored for it.{way} The answer has as many tokens as the line, separated "
                f"by spaces: the value where a key is asked, and '{NOT_ASKED}' everywhere else."
            )
        return (
            "The line begins with pairs of a key and its value. Keys are named k1, k2 and so on, "
            "values v1, v2 and so on. After the pairs each of these keys occurs once more, among "
            f"other tokens such as '{BLANK}'. The answer has as many tokens as the line, separated "
            "by spaces: where a key occurs for the second time, the value of its pair. Everywhere "
            f"else '{NOT_ASKED}'."
        )

    @property
    def block_rows(self) -> int:
        """Fewer candidates than by default, as rows are long."""
        return 2_048

    def stream_round_rows(self, split: Split) -> int:
        """Fewer rows than by default where rows are longer than 64 positions.

        Otherwise the first row would wait for thousands of long rows. A block of each bucket has at
        least that many rows.
        """
        longest = max(64, max(split.buckets) // _BUCKET)
        least = len(split.buckets) * (64 if split.evaluation else 1024)
        return max(self.round_rows * 64**2 // longest**2, least)

    @property
    def group_rows(self) -> int:
        """Rows of a Parquet row group: fewer than by default, as rows are long."""
        return 16_384

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The tokens as odd codes of two bytes, which do not depend on the size of the vocabulary.

        The code of a key is 1 modulo 4, that of a value 3. A blank has the code 1.
        """
        return self._codes.take(block["tokens"]).view(np.uint8)

    @functools.cached_property
    def _codes(self) -> NDArray[np.uint16]:
        half = np.arange(1, self._half + 1)
        return np.concatenate([[0, 1], 4 * half[:-1] + 1, 4 * half + 3]).astype(">u2")

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of the row's set of pairs: it depends neither on their order nor on the rest."""
        if not self.parameters.is_plain:
            firsts, seconds = (
                tokens.astype(np.uint64) for tokens in memory.stored_pairs(block["tokens"])
            )
            # The largest id of a key depends on the vocabulary, the code of a token does not.
            codes = self._codes.astype(np.uint64)
            pairs = codes[firsts] << np.uint64(32) | codes[seconds]
            stored = np.where(firsts > 0, mix(pairs), np.uint64(0))
            return mix(stored.sum(axis=1, dtype=np.uint64))
        asked_at = self._asked(block)
        heads = block["tokens"][:, : 2 * asked_at.shape[1]].astype(np.uint64)
        keys, values = heads[:, 0::2], heads[:, 1::2] - np.uint64(self._half)
        hashes = np.where(asked_at > 0, mix(keys << np.uint64(32) | values), np.uint64(0))
        return mix(hashes.sum(axis=1, dtype=np.uint64))

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens = self.vocabulary.encode(columns["text"])
        if not self.parameters.is_plain:
            memory.answers(tokens, self._half, self.parameters.hops)  # refuses other rows
            return Block({"tokens": tokens})
        rows, first, again = self._repeated_keys(tokens)
        head = 2 * np.bincount(rows, minlength=len(tokens))
        in_pairs = (first % 2 == 0) & (first < head[rows])
        in_rest = (again % 2 == 0) & (again >= head[rows])
        has_value = tokens[rows, np.minimum(first + 1, tokens.shape[1] - 1)] > self._half
        even = np.count_nonzero(tokens, axis=1) % 2 == 0
        if not ((head > 0).all() and even.all() and (in_pairs & in_rest & has_value).all()):
            raise ValueError("mqar: not every row has pairs, and each of their keys once more")
        return Block({"tokens": tokens})

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        columns = super().recompute_columns(row)
        if not self.parameters.is_plain:
            count = sum(answer != NOT_ASKED for answer, _ in self.read_slots(row["text"]))
            return {**columns, "pairs": count}
        pairs, _ = self.read(row["text"])
        return {**columns, "pairs": len(pairs)}
