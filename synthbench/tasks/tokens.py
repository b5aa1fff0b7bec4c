"""Text as tokens: split into words or characters, numbered from 1, padded with 0.

    tokens   ("0", "1", "+")
    text     "1 + 0"
    split    ["1", "+", "0"]
    ids      [2, 3, 1]          1 is the first token; 0 is padding

Tasks, exports, models and audits all split and number text with this.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array, numpy_array
from synthbench.tasks.numeric import join_bytes, list_array, split_bytes, text_ends

if TYPE_CHECKING:
    import pyarrow as pa

#: The largest vocabulary whose ids have four bits. Its tokens are joined four at a time.
_QUAD_TOKENS = 15
#: The largest vocabulary whose tokens are joined two at a time.
_PAIR_TOKENS = 63
#: The number of ids, padding included, from which it pays to tabulate all groups.
_LEAST_IDS = 1 << 16
#: The most allowed tokens that an error lists.
_SHOWN_TOKENS = 20


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """The tokens that texts are made of.

    Attributes:
        tokens: all tokens, in order. The first has id 1.
        separator: the text between two tokens. If it is empty, each character is a token.

    Example:
        >>> import pyarrow as pa
        >>> from synthbench.tasks.tokens import Vocabulary
        >>> vocabulary = Vocabulary(("0", "1", "+"))
        >>> ids = vocabulary.encode(pa.array(["1 + 0", "1"]))
        >>> ids.tolist(), vocabulary.join(ids).to_pylist()
        ([[2, 3, 1], [2, 0, 0]], ['1 + 0', '1'])
    """

    tokens: tuple[str, ...]
    separator: str = " "

    @property
    def dtype(self) -> type[np.integer[Any]]:
        """The smallest type that holds every id, signed where it needs two bytes."""
        return np.uint8 if len(self.tokens) < 256 else np.int16

    @property
    def size(self) -> int:
        """The number of ids, padding included: a model's `vocab_size`."""
        return 1 + len(self.tokens)

    def split(self, texts: pa.Array) -> pa.ListArray:
        """The words or characters of each text, whether or not they are tokens.

        Raises:
            ValueError: there are nulls among the texts.
        """
        import pyarrow.compute as pc  # late, as many commands do not need it

        if texts.null_count:
            raise ValueError("text has a null where tokens are expected")
        if self.separator:
            return pc.split_pattern(texts, self.separator)
        # Arrow cannot split at an empty pattern.
        characters = arrow_array([*"".join(texts.to_pylist())])
        return list_array(characters, numpy_array(pc.utf8_length(texts)))

    def count(self, text: str) -> int:
        """Number of words or characters of a text."""
        return len(text.split(self.separator) if self.separator else text)

    def number(self, words: pa.Array) -> NDArray[np.integer[Any]]:
        """The id of each word, `(words,)` of `dtype`; 0 for a word that is not a token."""
        import pyarrow.compute as pc

        indices = pc.index_in(words, value_set=arrow_array(self.tokens))
        if not indices.null_count:
            found: NDArray[np.integer[Any]] = numpy_array(indices).astype(self.dtype)
            return found + self.dtype(1)
        known = numpy_array(indices.is_valid().cast("uint8")) > 0
        ids = np.zeros(len(words), self.dtype)
        ids[known] = numpy_array(indices.drop_null()) + 1
        return ids

    def ids_of(self, words: pa.Array) -> NDArray[np.integer[Any]]:
        """The id of each word, `(words,)` of `dtype`.

        Raises:
            ValueError: a word is not a token.
        """
        ids = self.number(words)
        if not ids.all():
            raise self._no_token(words[int(np.argmin(ids))].as_py())
        return ids

    def read(self, texts: pa.Array) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]]:
        """The ids of all texts, one text after another, and the number of tokens of each text.

        Returns:
            Ids `(tokens,)` of `dtype`, all above 0, and lengths int64 `(texts,)`.

        Raises:
            ValueError: a text is null or empty, or has a word that is not a token.
        """
        if (characters := self._characters(texts)) is not None:
            ids, lengths = characters
        else:
            split = self.split(texts)
            lengths = numpy_array(split.value_lengths()).astype(np.int64)
            ids = self.ids_of(split.flatten())
        if not lengths.all():
            raise ValueError("a text has no tokens")
        return ids, lengths

    def _characters(
        self, texts: pa.Array
    ) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]] | None:
        """As `read`, where tokens are single characters. None for other tokens and wrong texts."""
        if self._codes is None or texts.null_count or self.separator in self.tokens:
            return None
        codes, lengths = split_bytes(texts)
        if self.separator:
            # A text alternates, and begins and ends with a token. So does the next one, so that
            # tokens meet at its beginning alone.
            apart = codes == ord(self.separator)
            meets = np.ones(len(codes) + 1, np.bool_)
            meets[1:-1] = apart[1:] == apart[:-1]
            begins = np.zeros(len(codes) + 1, np.bool_)
            begins[np.cumsum(lengths, dtype=np.int64)], begins[0] = True, True
            if (meets != begins).any() or apart[:1].any() or not (lengths % 2).all():
                return None
            codes, lengths = codes[~apart], (lengths + 1) // 2
        ids = self._id_of_code.take(codes)
        return (ids, lengths) if ids.all() else None

    def encode(self, texts: pa.Array, width: int = 1) -> NDArray[np.integer[Any]]:
        """The ids of each text, padded with 0. See `read`.

        Args:
            texts: the texts.
            width: pad to at least this many tokens.

        Returns:
            Ids `(texts, width or the longest)` of `dtype`.
        """
        return pad(*self.read(texts), least=width)

    def model_inputs(
        self, texts: pa.Array | Sequence[str], width: int = 1
    ) -> dict[str, NDArray[np.int64]]:
        """The inputs of a Hugging Face model. Arguments and errors as in `encode`.

        Returns:
            `input_ids`, the ids, padded on the right with 0, and `attention_mask`, 1 for tokens
            and 0 for padding. Both int64 `(texts, width or the longest)`.

        Example:
            >>> from synthbench.tasks.tokens import Vocabulary
            >>> inputs = Vocabulary(("0", "1", "+")).model_inputs(["1 + 0", "1"])
            >>> inputs["input_ids"].tolist(), inputs["attention_mask"].tolist()
            ([[2, 3, 1], [2, 0, 0]], [[1, 1, 1], [1, 0, 0]])
        """
        import pyarrow as pa

        texts = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        ids = self.encode(texts, width)
        return {"input_ids": ids.astype(np.int64), "attention_mask": (ids > 0).astype(np.int64)}

    def join(
        self, ids: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]] | None = None
    ) -> pa.Array:
        """Texts from their ids, the opposite of `encode`.

        Args:
            ids: `(texts, width)`. Zeros are left out, wherever they are.
            lengths: the number of tokens of each text, if it is known already. It saves counting
                them where every token is one character.

        Raises:
            ValueError: an id that is not 0 and that no token has.
        """
        import pyarrow.compute as pc

        self.check_ids(ids)
        if self._codes is not None and not self.separator:
            table = self._codes.tobytes().ljust(256, b"\0")
            codes = ids.tobytes().translate(table, b"\0")
            return join_bytes(codes, np.count_nonzero(ids, axis=1) if lengths is None else lengths)
        if self._codes is not None and ids.size and ids.all():  # the rows are of one length
            texts = np.full((len(ids), 2 * ids.shape[1] - 1), ord(self.separator), np.uint8)
            texts[:, ::2] = self._codes.take(ids)
            return join_bytes(texts, np.full(len(ids), texts.shape[1]))
        grouped = bool(self.separator) and ids.size >= _LEAST_IDS
        if grouped and len(self.tokens) <= _QUAD_TOKENS:
            ids, words = _quads(ids), _quad_texts(self)
        elif grouped and len(self.tokens) <= _PAIR_TOKENS:
            ids, words = _pairs(ids, self.size), _pair_texts(self)
        else:
            words = _token_texts(self)
        used = ids > 0
        counts = np.einsum("ij->i", used, dtype=np.int32)  # a third of the time of `count_nonzero`
        ends = np.cumsum(counts)
        indices = ids.ravel().compress(used.ravel()).astype(np.int32)
        indices[(ends - counts)[counts > 0]] += len(words) // 2  # the bare form of a text's first
        used_words = pc.take(words, arrow_array(indices))
        return join_bytes(used_words.buffers()[2], np.diff(text_ends(used_words)[ends], prepend=0))

    def check_ids(self, ids: NDArray[np.integer[Any]]) -> None:
        """Make sure that every id is 0 or that of a token.

        Raises:
            ValueError: an id that no token has.
        """
        for wrong in (ids.min(initial=0), ids.max(initial=0)):
            if not 0 <= wrong < self.size:
                text = f"the tokens have the ids 1 to {self.size - 1}"
                raise ValueError(f"{wrong} is not the id of a token: {text}")

    def _both_forms(self, words: list[str]) -> pa.Array:
        """Each word with the separator before it, then each word bare."""
        behind = [self.separator + word if word else "" for word in words]
        return arrow_array([*behind, *words])

    @functools.cached_property
    def _codes(self) -> NDArray[np.uint8] | None:
        """The ASCII code of each id. None if tokens or separators are longer, or other signs."""
        signs = [*self.tokens, *([self.separator] if self.separator else [])]
        if not all(len(sign) == 1 and sign.isascii() for sign in signs):
            return None
        return np.array([0, *map(ord, self.tokens)], np.uint8)

    @functools.cached_property
    def _id_of_code(self) -> NDArray[np.integer[Any]]:
        """The id of each byte, 0 for bytes that are not tokens. Only where `_codes` is not None."""
        ids = np.zeros(256, self.dtype)
        ids[list(map(ord, self.tokens))] = np.arange(1, self.size)
        return ids

    def _no_token(self, word: str) -> ValueError:
        allowed = " ".join(self.tokens[:_SHOWN_TOKENS])
        if len(self.tokens) > _SHOWN_TOKENS:
            allowed += f" ... {self.tokens[-1]}"
        return ValueError(f"{word!r} is not a token. Allowed are {allowed}")


def pad(
    values: NDArray[Any], lengths: NDArray[np.integer[Any]], fill: float = 0, least: int = 0
) -> NDArray[Any]:
    """Consecutive runs of values as the rows of one array.

    Args:
        values: all runs, one after another, `(values, ...)`.
        lengths: the length of each run.
        fill: the padding behind a run.
        least: the smallest width of the array.

    Returns:
        `(runs, longest, ...)`, of the values' type.
    """
    shape = (len(lengths), max(least, int(lengths.max(initial=0))), *values.shape[1:])
    padded = np.full(shape, fill, values.dtype)
    padded[np.arange(shape[1]) < lengths[:, None]] = values
    return padded


def packed(ids: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Ids `(rows, width)` with the zeros of each row behind all others. The order stays."""
    used = ids > 0
    if not (used[:, 1:] > used[:, :-1]).any():
        return ids
    return pad(ids[used], np.count_nonzero(used, axis=1), least=ids.shape[1])


def _side_by_side(ids: NDArray[np.integer[Any]], count: int) -> NDArray[np.uint8]:
    """The ids, with zeros up to a width that `count` divides."""
    rows, width = ids.shape
    padded = np.zeros((rows, -(-width // count) * count), np.uint8)
    padded[:, :width] = ids
    return padded


def _pairs(ids: NDArray[np.integer[Any]], size: int) -> NDArray[np.uint16]:
    """Every two neighbouring ids of a row as one number in base `size`, `(rows, pairs)`."""
    words = _side_by_side(ids, 2).view("<u2")
    pairs: NDArray[np.uint16] = words - (words >> np.uint16(8)) * np.uint16(256 - size)
    return pairs


def _quads(ids: NDArray[np.integer[Any]]) -> NDArray[np.uint16]:
    """Every four neighbouring ids of a row as one number, `(rows, quads)`."""
    words = _side_by_side(ids, 4).view("<u4")
    words = words | words >> np.uint32(4)  # the lowest byte and the third have a pair each
    quads = words & np.uint32(0xFF) | words >> np.uint32(8) & np.uint32(0xFF00)
    narrowed: NDArray[np.uint16] = quads.astype(np.uint16)
    return narrowed


@functools.lru_cache(maxsize=8)
def _token_texts(vocabulary: Vocabulary) -> pa.Array:
    """The text of every id, 0 included."""
    return vocabulary._both_forms(["", *vocabulary.tokens])


@functools.lru_cache(maxsize=8)
def _pair_texts(vocabulary: Vocabulary) -> pa.Array:
    """The text of every number that `_pairs` can give, without its zeros."""
    words = ["", *vocabulary.tokens]
    return vocabulary._both_forms(_twos(vocabulary, words))


@functools.lru_cache(maxsize=8)
def _quad_texts(vocabulary: Vocabulary) -> pa.Array:
    """The text of every number that `_quads` can give, without its zeros."""
    words = ["", *vocabulary.tokens, *[""] * (_QUAD_TOKENS - len(vocabulary.tokens))]
    return vocabulary._both_forms(_twos(vocabulary, _twos(vocabulary, words)))


def _twos(vocabulary: Vocabulary, words: list[str]) -> list[str]:
    """Every word in front of every word. The one in front changes fastest."""
    join = vocabulary.separator.join
    return [join(filter(None, (first, second))) for second in words for first in words]
