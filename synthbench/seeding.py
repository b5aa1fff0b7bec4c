"""The only source of randomness: the few draws we need, from Philox's raw words.

NumPy promises that the raw words of a bit generator never change. It promises nothing of the
kind for `Generator.integers` or `standard_normal`, and the C library's `log` differs between
platforms. So every draw below is integer arithmetic on raw 64-bit words, or exact IEEE
operations on their shifts, and gives the same bits on every machine.

Randomness has coordinates: a stream is named by its purpose (task, variant, parameters, seed,
split, bucket), and block `b` of a stream can be made without the blocks before it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random import Philox
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

#: Normal deviates are multiples of 2**-NORMAL_BITS.
NORMAL_BITS = 20
_NORMAL_TABLE_SIZE = 1 << 16
_NORMAL_TABLE_SHA256 = "7030c40868edff0a36b70d4a06ceacbf25ac02eb87069f34786f8258a1e9a44d"

_WORD_BITS = np.uint64(32)
_LAST_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
#: SplitMix64's constants, as arrays: NumPy takes twice as long to read scalars.
_MIX_SHIFTS = tuple(np.array(shift, np.uint64) for shift in (30, 27, 31))
_MIX_FACTORS = np.array(0xBF58476D1CE4E5B9, np.uint64), np.array(0x94D049BB133111EB, np.uint64)
_MIX_STEP = np.uint64(0x9E3779B97F4A7C15)
#: Words of a row that are hashed before the next, few enough to stay in the processor's cache.
_HASHED_WORDS = 16
#: Numbers that are worked on at a time: few enough to stay in the processor's cache.
_CACHED_VALUES = 1 << 17
#: Marks the entries of a guide that do not determine the value.
_UNSETTLED = -1

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)

Shape = int | tuple[int, ...]
T = TypeVar("T", bound=np.generic)


class Draws:
    """The draws of one block of one stream.

    Args:
        stream: the stream's coordinates, a mapping of JSON values. Its canonical JSON is the key.
        block: number of the block in the stream, at least 0.

    Two streams with different coordinates, and two blocks of one stream, never share a word: the
    key is 128 bits of the SHA-256 of the coordinates, the block is the high half of the counter.

    Example:
        >>> from synthbench.seeding import Draws
        >>> Draws({"seed": 0}).integers(10, 8)
        array([4, 6, 4, 7, 8, 4, 4, 7])
    """

    def __init__(self, stream: Mapping[str, object], block: int = 0) -> None:
        name = _CANONICAL.encode(stream).encode("ascii")
        key = np.frombuffer(hashlib.sha256(name).digest()[:16], "<u8").astype(np.uint64)
        seed: Any = _Key(key)
        self._philox = Philox(seed, np.array([0, 0, block, 0], np.uint64))

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` raw 64-bit words, uint64 `(count,)`."""
        return self._philox.random_raw(count)

    def halves(self, shape: Shape) -> NDArray[np.uint32]:
        """Uniform 32-bit integers, uint32 of `shape`, low half of each word first."""
        count = _size(shape)
        halves = self.words((count + 1) // 2).astype("<u8", copy=False).view("<u4")
        return halves[:count].reshape(shape).astype(np.uint32, copy=False)

    def integers(self, high: int, shape: Shape) -> NDArray[np.int64]:
        """Uniform integers in `[0, high)`, int64 of `shape`.

        Multiply and shift: 32 random bits if `high` is at most `2**12`, else 64. The probability of
        each value is off by less than one part in `2**20` (one in `2**28` if `high` is about ten),
        too little to show in any dataset that can be written.

        Raises:
            ValueError: if `high` is not in `[1, 2**32]`.
        """
        if not 1 <= high <= 1 << 32:
            raise ValueError(f"integers below {high}: allowed are 1 to {1 << 32}")
        if high <= 1 << 12:
            product = self.halves(shape).astype(np.uint64)
            product *= np.uint64(high)
            product >>= _WORD_BITS
            return product.view(np.int64)
        words = self.words(_size(shape))
        low = ((words & _LOW_HALF) * np.uint64(high)) >> _WORD_BITS
        product = (words >> _WORD_BITS) * np.uint64(high) + low
        drawn: NDArray[np.int64] = (product >> _WORD_BITS).astype(np.int64).reshape(shape)
        return drawn

    def below(self, bounds: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Uniform integers, each in `[0, bound)` with its own bound, int64 of the bounds' shape.

        Multiply and shift, with 32 random bits each: the probability of each value is off by less
        than `2**-32`. Bounds are at least 1 and less than `2**32`.
        """
        product = self.halves(bounds.shape).astype(np.uint64)
        product *= bounds.astype(np.int64, copy=False).view(np.uint64)
        product >>= _WORD_BITS
        return product.view(np.int64)

    def bits(self, probability: float, shape: Shape) -> NDArray[np.bool_]:
        """True with the given probability (rounded to a multiple of 2**-32), bool of `shape`."""
        return self.halves(shape) < threshold(probability)

    def floats(self, shape: Shape) -> NDArray[np.float64]:
        """Uniform multiples of 2**-53 in `[0, 1)`, float64 of `shape`."""
        words = self.words(_size(shape)) >> np.uint64(11)
        drawn = words.astype(np.float64)
        drawn *= 2.0**-53
        return drawn.reshape(shape)

    def permutations(self, rows: int, length: int) -> NDArray[np.int64]:
        """`rows` independent uniform permutations of `0..length-1`, int64 `(rows, length)`.

        Each permutation is the stable argsort of `length` drawn 64-bit keys.
        """
        keys = self.words(rows * length).reshape(rows, length)
        # Without ties every algorithm gives the same order.
        kind: Any = "stable" if _has_ties(np.sort(keys, axis=1)) else None
        return np.argsort(keys, axis=1, kind=kind).astype(np.int64, copy=False)

    def arrangements(self, rows: int, zeros: int, ones: int) -> NDArray[np.int8]:
        """Random orders of two values, 0 and 1, int8 `(rows, zeros + ones)`.

        The same as `permutations(rows, zeros + ones) >= zeros`, in a fraction of the time.
        """
        arranged = np.empty((rows, zeros + ones), np.int8)
        for part in cached_parts(arranged):
            keys = self.words(part.size).reshape(part.shape)
            # The upper halves of the keys, which hardly ever tie, with the value as the lowest bit.
            halves = (keys >> _WORD_BITS).astype(np.uint32)
            halves &= np.uint32(0xFFFFFFFE)
            halves[:, zeros:] |= np.uint32(1)
            halves.sort(axis=1)
            part[:] = halves & np.uint32(1)
            ascending = halves.reshape(-1) >> np.uint32(1)
            if (ascending[1:] == ascending[:-1]).any():
                part[:] = np.argsort(keys, axis=1, kind="stable") >= zeros
        return arranged

    def permutation(self, length: int) -> NDArray[np.int64]:
        """One uniform permutation of `0..length-1`, int64 `(length,)`."""
        order: NDArray[np.int64] = self.permutations(1, length)[0]
        return order

    def normals(self, shape: Shape) -> NDArray[np.float64]:
        """Standard normal deviates, multiples of 2**-20, float64 of `shape`.

        Inverse CDF at the midpoints of 65,536 equally likely intervals: the largest deviate is
        4.3, mean and skewness are exactly 0, the variance is 1 to within 1e-4.
        """
        return normal_deviates().take(self.normal_indices(shape))

    def normal_indices(self, shape: Shape) -> NDArray[np.uint32]:
        """Indices of `normal_deviates` in place of the deviates of `normals`, uint32 of `shape`."""
        indices: NDArray[np.uint32] = self.halves(shape) >> np.uint32(16)
        return indices


class _Key(ISeedSequence):
    """A key, so that `Philox` does not first ask the operating system for another."""

    def __init__(self, key: NDArray[np.uint64]) -> None:
        self._key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key, whatever is asked for."""
        return self._key


def cached_parts(rows: NDArray[T]) -> Iterator[NDArray[T]]:
    """Views of consecutive rows, few enough that a processor's cache has room for working on them.

    Every view but the last has an even number of rows, so that its half words fill whole words.
    """
    step = max(2, _CACHED_VALUES * len(rows) // max(1, rows.size) & ~1)
    return (rows[first : first + step] for first in range(0, len(rows), step))


def _has_ties(ordered: NDArray[np.uint64]) -> bool:
    """Return true if a row of ascending numbers has equal neighbours."""
    return bool((ordered[:, 1:] == ordered[:, :-1]).any())


def _size(shape: Shape) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else int(shape)


def threshold(probability: float) -> np.uint64:
    """The 32-bit threshold below which a uniform half word falls with `probability`.

    Raises:
        ValueError: `probability` is not in `[0, 1]`.
    """
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"probability {probability}: allowed are 0 to 1")
    return np.uint64(round(probability * (1 << 32)))


@functools.cache
def normal_deviates() -> NDArray[np.float64]:
    """The 65,536 equally likely deviates that `Draws.normals` draws from, in ascending order."""
    deviates = _normal_table().astype(np.float64)
    deviates *= 2.0**-NORMAL_BITS
    return deviates


@functools.cache
def _normal_table() -> NDArray[np.int32]:
    """Inverse normal CDF at the interval midpoints, in units of 2**-20, int32 `(65536,)`.

    The rounding hides the last bits of the platform's `log`. The digest makes sure of it, so that
    no dataset is made from a different table.
    """
    from statistics import NormalDist  # late: few tasks draw normal deviates

    middles = (np.arange(_NORMAL_TABLE_SIZE // 2) + 0.5) / _NORMAL_TABLE_SIZE
    half = np.rint(np.array([*map(NormalDist().inv_cdf, middles.tolist())]) * (1 << NORMAL_BITS))
    table = np.append(half, -half[::-1]).astype("<i4")
    if hashlib.sha256(table.tobytes()).hexdigest() != _NORMAL_TABLE_SHA256:
        raise RuntimeError(
            "this platform's mathematics library gives another table of normal deviates; "
            "datasets made here would differ from those made elsewhere"
        )
    return table.astype(np.int32)


def hash_rows(content: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """64-bit hashes of rows of bytes, uint64 `(rows,)`.

    Args:
        content: uint8 `(rows, width)`, the content of each row, padded on the right with zero
            bytes. Neither padding nor width changes the hash, so the content itself must not end
            in zero bytes.

    Each nonzero word of eight bytes is mixed in with its position (SplitMix64's finaliser,
    Steele et al. 2014). Two given rows collide with a probability of about 2**-64.
    """
    state, stirred, scratch = np.zeros((3, len(content)), np.uint64)
    for first in range(0, content.shape[1], 8 * _HASHED_WORDS):
        columns = _words(content[:, first : first + 8 * _HASHED_WORDS])
        # Positions where some rows, and where all rows, have another word than 0.
        some = columns.max(axis=1, initial=0).tolist()
        every = columns.min(axis=1, initial=_LAST_WORD).tolist()
        numbers = np.arange(len(columns), dtype=np.uint64) + np.uint64(first // 8 + 1)
        steps = numbers * _MIX_STEP
        for position in filter(some.__getitem__, range(len(columns))):
            np.bitwise_xor(state, columns[position], stirred)
            _mix(stirred, scratch)
            np.add(stirred, steps[position, ...], stirred)
            if every[position]:
                state, stirred = stirred, state
            else:
                # Faster than `np.copyto` with a mask.
                np.subtract(stirred, state, stirred)
                np.multiply(stirred, columns[position] != 0, stirred)
                np.add(state, stirred, state)
    return mix(state)


def _words(content: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The words of eight bytes of every row, uint64 `(words, rows)`."""
    rows, width = content.shape
    if width % 8 or content.strides[1] > 1:
        padded = np.zeros((rows, -(-width // 8) * 8), np.uint8)
        padded[:, :width] = content
        content = padded
    return np.ascontiguousarray(content.view("<u8").T, np.uint64)


def mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: a fixed permutation of the 64-bit integers that looks random."""
    mixed = state.copy()
    _mix(mixed, np.empty_like(mixed))
    return mixed


def _mix(state: NDArray[np.uint64], scratch: NDArray[np.uint64]) -> None:
    """Apply SplitMix64's finaliser in place. `scratch` is overwritten, too."""
    shift, xor, multiply = np.right_shift, np.bitwise_xor, np.multiply
    first, second, third = _MIX_SHIFTS
    xor(state, shift(state, first, scratch), state)
    multiply(state, _MIX_FACTORS[0], state)
    xor(state, shift(state, second, scratch), state)
    multiply(state, _MIX_FACTORS[1], state)
    xor(state, shift(state, third, scratch), state)


def total(terms: Iterable[float]) -> float:
    """The sum, added up from left to right.

    From Python 3.12 on `sum` compensates for rounding, so its last bits depend on the version.
    """
    result = 0.0
    for term in terms:
        result += term
    return result


class Choice:
    """A fixed discrete distribution, for many draws.

    Args:
        values: the values, at least 0, any signed integer dtype `(values,)`.
        weights: their weights, in any unit. Probabilities are rounded to multiples of 2**-32.

    A draw uses one half word. Its upper twelve bits mostly determine the value, by one look-up.
    """

    _GUIDE_BITS = 12

    def __init__(self, values: NDArray[np.integer[Any]], weights: Sequence[float]) -> None:
        whole, running, thresholds = total(weights), 0.0, []
        for weight in weights[:-1]:
            running += weight
            thresholds.append(threshold(min(1.0, running / whole)))
        self._values = values
        self._thresholds = np.array(thresholds, np.uint64)
        slots, within = np.divmod(self._thresholds, np.uint64(1 << 32 - self._GUIDE_BITS))
        begins = slots.astype(np.intp) + (within > 0)  # the first slot from the threshold on
        self._guide = values.repeat(np.diff(begins, prepend=0, append=1 << self._GUIDE_BITS))
        self._guide[slots[within > 0].astype(np.intp)] = _UNSETTLED

    def draw(self, draws: Draws, count: int) -> NDArray[np.integer[Any]]:
        """`count` independent values, `(count,)` of the values' dtype."""
        halves = draws.halves(count)
        slots = (halves >> np.uint32(32 - self._GUIDE_BITS)).astype(np.intp)
        drawn: NDArray[np.integer[Any]] = self._guide.take(slots)
        (unsettled,) = (drawn == _UNSETTLED).nonzero()
        if len(unsettled):
            exact = halves.take(unsettled).astype(np.uint64)
            drawn[unsettled] = self._values.take(self._thresholds.searchsorted(exact, "right"))
        return drawn
