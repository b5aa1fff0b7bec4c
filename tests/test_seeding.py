"""The draws: pinned for ever, statistically right, and found by their coordinates alone.

The golden values below were drawn once and must never change: every dataset rests on them.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench import seeding
from synthbench.seeding import NORMAL_BITS, Choice, Draws, hash_rows, threshold

STREAM = {"task": "golden", "seed": 0}
MANY = 200_000


def draws(block=0, **changes):
    return Draws({**STREAM, **changes}, block)


def deviation(observed, expected, variance):
    """By how many standard deviations a mean of `MANY` independent draws is off."""
    return float(abs(observed - expected) / (variance / MANY) ** 0.5)


# Golden values.


def test_raw_words_are_pinned():
    golden = [0x169AC883A14248E2, 0x8E848F3BE05745E6, 0xC441ED3C978BF6BF, 0x6FA667D644FB3A86]
    assert draws().words(4).tolist() == golden
    assert draws(block=1).words(2).tolist() == [0x54989798AF59E587, 0x5813AB480E888CE9]
    assert draws(block=2**63).words(2).tolist() == [0x9C4B20FD397FF80F, 0xC4286B3527F6A675]
    assert draws(seed=1).words(2).tolist() == [0x54C2BE6C9F294C7C, 0x55C551F922C3200E]


def test_integers_are_pinned():
    assert draws().integers(10, 8).tolist() == [6, 0, 8, 5, 5, 7, 2, 4]
    assert draws().integers(10, (4, 2)).tolist() == [[6, 0], [8, 5], [5, 7], [2, 4]]
    assert draws().integers(10**6, 4).tolist() == [88299, 556710, 766630, 436132]
    assert draws().integers(1 << 32, 3).tolist() == [379242627, 2391052091, 3292654908]


def test_numbers_below_bounds_of_their_own_are_pinned_and_uniform():
    bounds = np.array([[10, 10, 10], [1, 1000, 2**32 - 1]])
    halves = draws().halves(6).tolist()
    expected = [
        half * bound >> 32 for half, bound in zip(halves, bounds.ravel().tolist(), strict=True)
    ]
    assert draws().below(bounds).ravel().tolist() == expected
    assert draws().below(bounds).tolist()[0] == [6, 0, 8]
    counts = np.bincount(draws().below(np.full(70_000, 7)), minlength=7)
    assert abs(counts - 10_000).max() < 400


def test_halves_bits_and_floats_are_pinned():
    assert draws().halves(5).tolist() == [2705475810, 379242627, 3763815910, 2391052091, 2542532287]
    assert np.flatnonzero(draws().bits(0.3, 12)).tolist() == [1, 6]
    golden = [0.08829930509205852, 0.5567101975614976, 0.7666309616975437]
    assert draws().floats(3).tolist() == golden


def test_permutations_normals_and_choices_are_pinned():
    assert draws().permutations(2, 6).tolist() == [[0, 3, 1, 5, 4, 2], [2, 3, 4, 5, 1, 0]]
    assert draws().permutation(8).tolist() == [0, 3, 1, 5, 4, 2, 7, 6]
    units = draws().normals(6) * 2**NORMAL_BITS
    assert units.tolist() == [347754, -1416971, 1213055, 149560, 243921, 763128]
    choice = Choice(np.array([3, 1, 4, 1, 5]), [0.1, 0.2, 0.3, 0.15, 0.25])
    assert choice.draw(draws(), 12).tolist() == [1, 3, 5, 4, 4, 5, 1, 4, 4, 1, 4, 1]


def test_hash_rows_are_pinned():
    texts = [b"listops\0parity\0\0", b"abcdefghi"]
    content = np.array([list(text.ljust(16, b"\0")) for text in texts], np.uint8)
    assert hash_rows(content).tolist() == [0x345D96CF2BDD5436, 0x85C0C8DB3EB553C7]
    content = np.array([[0, 0], [1, 0], [0, 1], [255, 255]], np.uint8)
    golden = [0, 0xBFEF8030DDC2D772, 0x7ADF15071F54B904, 0x0D516551CC07AE9E]
    assert hash_rows(content).tolist() == golden


# What each draw is, in plain Python on the raw words.


@given(st.integers(1, 1 << 32), st.integers(0, 9))
def test_an_integer_is_a_raw_word_multiplied_and_shifted(high, count):
    if high <= 1 << 12:
        expected = [half * high >> 32 for half in draws().halves(count).tolist()]
    else:
        expected = [word * high >> 64 for word in draws().words(count).tolist()]
    assert draws().integers(high, count).tolist() == expected


def test_halves_are_the_low_and_the_high_half_of_each_word():
    words = draws().words(50).tolist()
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
    assert draws().halves(100).tolist() == halves
    assert draws().halves(99).tolist() == halves[:99]


def test_floats_are_the_upper_53_bits_and_bits_a_comparison():
    expected = [(word >> 11) * 2.0**-53 for word in draws().words(50).tolist()]
    assert draws().floats(50).tolist() == expected
    for probability in (0.0, 0.2, 0.5, 1.0):
        expected = [half < probability * 2**32 for half in draws().halves(99).tolist()]
        assert draws().bits(probability, 99).tolist() == expected


def test_a_permutation_is_the_order_of_its_keys():
    keys = draws().words(30).reshape(3, 10).tolist()
    expected = [sorted(range(10), key=row.__getitem__) for row in keys]
    assert draws().permutations(3, 10).tolist() == expected


class CoarseDraws(Draws):
    """Draws whose words often have equal upper halves, and are sometimes equal."""

    def words(self, count):
        return super().words(count) & np.uint64(0x7_0000_0001)


@pytest.mark.parametrize("kind", [Draws, CoarseDraws])
@given(st.integers(0, 5), st.integers(0, 9), st.integers(0, 9), st.integers(1, 40))
def test_an_arrangement_is_a_permutation_compared(kind, rows, zeros, ones, cached):
    expected = kind(STREAM).permutations(rows, zeros + ones) >= zeros
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeding, "_CACHED_VALUES", cached)
        found = kind(STREAM).arrangements(rows, zeros, ones)
    assert found.dtype == np.int8
    assert found.tolist() == expected.tolist()


@given(st.integers(0, 9), st.integers(1, 9), st.integers(1, 40))
def test_cached_parts_are_all_rows_with_whole_words_of_draws(rows, length, cached):
    table = np.arange(rows * length).reshape(rows, length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeding, "_CACHED_VALUES", cached)
        parts = list(seeding.cached_parts(table))
    assert [row for part in parts for row in part.tolist()] == table.tolist()
    assert all(len(part) % 2 == 0 for part in parts[:-1])


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=50))
def test_a_choice_gives_each_value_the_part_of_the_half_words_that_its_weight_is(weights):
    values = np.arange(len(weights))
    edges = [threshold(sum(weights[: place + 1]) / sum(weights)) for place in values]
    expected = [sum(half >= edge for edge in edges[:-1]) for half in draws().halves(200)]
    assert Choice(values, weights).draw(draws(), 200).tolist() == expected


def plain_fingerprint(content):
    """SplitMix64's finaliser over words of eight bytes, zero words left out."""

    def mix(state):
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
        return state ^ (state >> 31)

    state = 0
    for position in range(-(-len(content) // 8)):
        word = int.from_bytes(content[8 * position : 8 * position + 8], "little")
        if word:
            state = (mix(state ^ word) + (position + 1) * 0x9E3779B97F4A7C15) % 2**64
    return mix(state)


contents = st.binary(max_size=300).map(lambda content: content.rstrip(b"\0"))


@given(st.lists(contents, min_size=1, max_size=20), st.integers(0, 20), st.randoms())
def test_hash_rows_depend_on_content_alone_not_on_padding_or_order_of_rows(rows, padding, random):
    random.shuffle(rows)
    width = max(map(len, rows)) + padding
    table = np.array([list(row.ljust(width, b"\0")) for row in rows], np.uint8)
    assert hash_rows(table).tolist() == [plain_fingerprint(row) for row in rows]


# Draws have the distributions they are named for.


def test_normals_have_mean_0_variance_1_no_skew_and_the_kurtosis_of_a_normal():
    drawn = draws().normals(MANY)
    assert deviation(drawn.mean(), 0, 1) < 4
    assert deviation((drawn**2).mean(), 1, 2) < 4
    assert deviation((drawn**3).mean(), 0, 15) < 4
    assert deviation((drawn**4).mean(), 3, 96) < 4
    assert deviation((np.abs(drawn) < 1).mean(), 0.6826895, 0.2166) < 4
    assert 4.0 < np.abs(drawn).max() < 4.4
    units = drawn * 2**NORMAL_BITS
    assert np.array_equal(units, np.round(units))


def test_the_table_of_normals_is_symmetric_ascending_and_has_unit_variance():
    table = seeding._normal_table().astype(np.float64) * 2.0**-NORMAL_BITS
    assert np.array_equal(table, -table[::-1])
    assert (np.diff(table) > 0).all()
    assert table.var() == pytest.approx(1, abs=1e-4)


def test_another_table_of_normals_is_noticed(monkeypatch):
    monkeypatch.setattr(seeding, "_NORMAL_TABLE_SHA256", "0" * 64)
    with pytest.raises(RuntimeError, match="another table of normal deviates"):
        seeding._normal_table.__wrapped__()


# Randomness has coordinates.


def test_streams_with_other_coordinates_share_no_word():
    names: list[dict[str, object]] = [
        {},
        {"seed": 1},
        {"seed": "0"},
        {"seed": None},
        {"seed": True},
        {"split": "train"},
        {"split": "test"},
        {"split": "tr\u00e4in"},
        {"bucket": 1},
        {"bucket": 2},
        {"parameters": {"n": 1}},
        {"parameters": {"n": [1]}},
    ]
    words = np.concatenate([Draws({**STREAM, **name}).words(20_000) for name in names])
    assert len(np.unique(words)) == len(words)


def test_blocks_of_a_stream_share_no_word():
    words = np.concatenate([draws(block).words(20_000) for block in (*range(12), 2**32, 2**64 - 1)])
    assert len(np.unique(words)) == len(words)


def test_the_order_in_which_coordinates_are_named_does_not_matter():
    again = Draws(dict(reversed(STREAM.items())))
    assert again.words(3).tolist() == draws().words(3).tolist()


def test_draws_go_on_where_the_last_ones_ended():
    whole = draws().words(11).tolist()
    parts = draws()
    assert [*parts.words(0), *parts.words(3), *parts.words(1), *parts.words(7)] == whole
    mixed = draws()
    mixed.halves(3)  # two words, the last half is left
    mixed.integers(10**6, (2, 2))
    assert mixed.words(1).tolist() == whole[6:7]


@pytest.mark.parametrize("shape", [0, (0,), (0, 3), (3, 0), (2, 3), 5, np.int64(5)])
def test_every_draw_has_the_shape_it_was_asked_for(shape):
    expected = np.empty(shape).shape
    for drawn in (
        draws().halves(shape),
        draws().integers(10, shape),
        draws().integers(10**6, shape),
        draws().bits(0.5, shape),
        draws().floats(shape),
        draws().normals(shape),
    ):
        assert drawn.shape == expected


def test_impossible_draws_are_refused():
    for high in (0, -1, (1 << 32) + 1):
        with pytest.raises(ValueError, match=f"integers below {high}: allowed are 1 to 4294967296"):
            draws().integers(high, 1)
    for probability in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="allowed are 0 to 1"):
            draws().bits(probability, 1)


def test_the_global_random_state_neither_matters_nor_moves():
    def everything():
        one = draws()
        return [
            one.integers(10, 5).tolist(),
            one.normals(5).tolist(),
            one.permutations(2, 5).tolist(),
            one.bits(0.5, 5).tolist(),
        ]

    np.random.seed(1)
    random.seed(1)
    first, state = everything(), random.getstate()
    ahead = np.random.get_state(legacy=False)["state"]["pos"]
    np.random.seed(2)
    assert everything() == first
    np.random.seed(1)
    everything()
    assert np.random.get_state(legacy=False)["state"]["pos"] == ahead
    assert random.getstate() == state


# Fingerprints.


def test_200_000_rows_have_as_many_hashes():
    numbers = np.arange(1, 200_001)
    short = numbers.astype(">u4").view(np.uint8).reshape(-1, 4)
    long = np.hstack([short, np.full((200_000, 13), 7, np.uint8)])
    found = hash_rows(short)
    assert len(np.unique(found)) == 200_000
    assert len(np.intersect1d(found, hash_rows(long))) == 0
    # Every bit is set in half of them, but for five standard deviations.
    ones = [int(((found >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    assert all(abs(count - 100_000) < 1_120 for count in ones)


def test_a_byte_in_another_place_makes_another_row():
    assert len(np.unique(hash_rows(np.eye(64, dtype=np.uint8)))) == 64


@pytest.mark.parametrize("ties", [False, True])
def test_arrangements_are_those_of_permutations(monkeypatch, ties):
    if ties:  # equal keys, and keys that differ in the last bit alone
        words = Draws.words
        monkeypatch.setattr(Draws, "words", lambda self, count: words(self, count) % np.uint64(3))
    zeros_and_ones = Draws({"s": 1}).arrangements(50, 20, 7)
    assert zeros_and_ones.tolist() == (Draws({"s": 1}).permutations(50, 27) >= 20).tolist()
    assert Draws({"s": 1}).permutations(50, 27).tolist() == [
        sorted(range(27), key=row.__getitem__)
        for row in Draws({"s": 1}).words(50 * 27).reshape(50, 27).tolist()
    ]
