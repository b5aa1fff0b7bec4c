"""Text as tokens: split, numbered, padded, joined again, and refused with the reason."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synthbench.tasks import tokens
from synthbench.tasks.tokens import Vocabulary, pad

#: Words, joined four, two or one at a time, the last in two bytes; characters.
VOCABULARIES = [
    Vocabulary(("0", "1", "+")),
    Vocabulary(tuple(f"w{number}" for number in range(15))),
    Vocabulary(tuple(f"w{number}" for number in range(16))),
    Vocabulary(tuple(f"w{number}" for number in range(300)), ", "),
    Vocabulary(("(", ")", "1"), ""),
    Vocabulary(("½", "é", "1"), ""),
    Vocabulary(tuple(f"w{number}" for number in range(63)), ", "),
    Vocabulary(tuple(f"w{number}" for number in range(64))),
]
rows = st.lists(st.lists(st.integers(0, 10**6), min_size=1, max_size=11), max_size=6)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda one: one.tokens[-1])
@settings(max_examples=25)
@given(rows)
def test_texts_are_encoded_by_the_place_of_their_tokens_and_joined_again(vocabulary, numbers):
    chosen = [[number % len(vocabulary.tokens) for number in row] for row in numbers]
    texts = [vocabulary.separator.join(vocabulary.tokens[one] for one in row) for row in chosen]
    padded = pa.array(["x", *texts], pa.string())[1:]  # a slice: its buffers begin earlier
    ids = vocabulary.encode(padded)
    assert ids.dtype == vocabulary.dtype
    assert ids.shape == (len(chosen), max(map(len, chosen), default=1))
    for row, found in zip(chosen, ids.tolist(), strict=True):
        assert found == [one + 1 for one in row] + [0] * (ids.shape[1] - len(row))
    backwards = [
        vocabulary.separator.join(vocabulary.tokens[one] for one in reversed(row)) for row in chosen
    ]
    for least in (tokens._LEAST_IDS, 0):  # one at a time, and several where there are few tokens
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tokens, "_LEAST_IDS", least)
            assert vocabulary.join(ids).to_pylist() == texts
            assert vocabulary.join(np.insert(ids, [0] * 5, 0, axis=1)).to_pylist() == texts
            assert vocabulary.join(ids[:, ::-1]).to_pylist() == backwards
    assert vocabulary.split(padded).to_pylist() == [
        [vocabulary.tokens[one] for one in row] for row in chosen
    ]
    flat, lengths = vocabulary.read(padded)
    assert pad(flat, lengths, least=1).tolist() == ids.tolist()


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda one: one.tokens[-1])
@pytest.mark.parametrize("rows", [1, 1 << 16])
def test_ids_that_no_token_has_are_not_joined(vocabulary, rows):
    for wrong in (vocabulary.size, -1, 9_999):
        ids = np.full((rows, 2), wrong)
        ids[:, 0] = 1
        with pytest.raises(ValueError, match=f"^{wrong} is not the id of a token"):
            vocabulary.join(ids)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda one: one.tokens[-1])
@pytest.mark.parametrize(
    ("text", "reason"),
    [("z", "'z' is not a token. Allowed are "), ("", "not a token|no tokens"), (None, "null")],
)
def test_text_that_is_not_made_of_tokens_is_refused_with_what_is_allowed(vocabulary, text, reason):
    good = vocabulary.tokens[0]
    for texts in ([text], [good, text], [text, good], [good, text, good]):
        with pytest.raises(ValueError, match=reason):
            vocabulary.encode(pa.array(texts, pa.string()))


@given(st.lists(st.text("01 z", max_size=5), max_size=4))
@example(["0 ", " 1"])
def test_texts_are_read_where_single_characters_and_separators_alternate(texts):
    words = [text.split(" ") for text in texts]
    if all(set(row) <= {"0", "1"} for row in words):
        ids, lengths = Vocabulary(("0", "1")).read(pa.array(texts, pa.string()))
        assert [("0", "1")[one - 1] for one in ids] == [word for row in words for word in row]
        assert lengths.tolist() == [*map(len, words)]
    else:
        with pytest.raises(ValueError, match=r"is not a token|no tokens"):
            Vocabulary(("0", "1")).read(pa.array(texts, pa.string()))


def test_characters_beyond_ascii_are_named_whole():
    with pytest.raises(ValueError, match="'é' is not a token"):
        Vocabulary(("(", ")", "1"), "").encode(pa.array(["(1)", "(é)"]))


def test_words_that_are_not_tokens_have_the_number_0():
    assert Vocabulary(("a", "b")).number(pa.array(["b", "c", "a"])).tolist() == [2, 0, 1]


def test_many_allowed_tokens_are_shown_by_their_ends():
    with pytest.raises(ValueError, match=r"Allowed are w0 w1 .* w19 \.\.\. w299$"):
        VOCABULARIES[3].encode(pa.array(["w300"]))


def test_padding_fills_nested_values_behind_each_run():
    padded = pad(np.arange(6.0).reshape(3, 2), np.array([1, 0, 2]), np.nan)
    assert padded.shape == (3, 2, 2)
    assert padded[2].tolist() == [[2, 3], [4, 5]]
    assert np.isnan(padded[:2, 1:]).all()
