"""Held-out rows are found in running text, however they are spaced; other text is not."""

import re

import numpy as np
import pytest

import synthbench
from synthbench.decontamination.lines import can_touch
from synthbench.decontamination.search import Search, search_for, text_tasks
from synthbench.errors import UsageError
from synthbench.llm.conversations import question
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.registry import task, task_class
from tests.support import every_variant

RANDOM = np.random.default_rng(0)
VARIANTS = [one for name in text_tasks() for one in every_variant(name)]


def words_of(one, row):
    return row.split() if one.separator else list(row)


def joined(one, row):
    """The row without the white space that it can do without."""
    first, *others = words_of(one, row)
    touch, text, before = can_touch(frozenset(one.tokens)), first, first
    for word in others:
        stands_apart = before.isalpha() or word.isalpha() or not touch
        both = re.search(r"\w$", before) and re.match(r"\w", word)
        text += (" " if stands_apart and both else "") + word
        before = word
    return text


def spread(one, row):
    """The row with all kinds of white space."""
    spaces = [" ", "   ", "\t", "\u00a0", "\u2009 "]
    space = str(RANDOM.choice(spaces))
    return space.join(words_of(one, row))


def drawn(one, split, count):
    return [row["text"] for row in sample_rows(one, split, count)]


@pytest.mark.parametrize("one", VARIANTS, ids=lambda one: f"{one.name}-{one.variant}")
def test_every_held_out_row_that_counts_is_found_and_no_training_row(one, search):
    texts, rows = [], []
    for split in (split.name for split in one.splits if split.evaluation):
        for row in drawn(one, split, 3):
            if not search.counts(one, words_of(one, row)):
                continue
            written = row if one.name == "sudoku" else joined(one, row)  # points end sentences
            forms = (
                row,
                f"3. What is {row}, please? 4",
                f"It is called f({row}).",
                f"Solve\n{row}\nAnswer: 4\n\n{row}",
                question(one, row)
                if row in question(one, row)
                else row,  # small mazes are on many lines
                written,
                f'He wrote "{written}", and so on',
                spread(one, row),
            )
            texts += forms
            rows += [row] * len(forms)
    # Sums are ordinary texts, and 16 cells are too few.
    assert rows or one.name == "modular-arithmetic" or one.variant == "4x4"
    for text, row, found in zip(texts, rows, search.find(texts), strict=True):
        assert (one.name, row) in {(each.task, each.row) for each in found}, text
    trained, alone = drawn(one, "train", 20), search_for((one.name,), None)
    if one.variant != "missing-duplicate":  # whose strings have other rows on both sides of a ?
        assert not any(alone.find([f"What is {row} then" for row in trained]))


def test_short_rows_count_if_asked_for():
    asked = Search(["modular-arithmetic"], min_bits=0)
    for one in every_variant("modular-arithmetic"):
        rows = drawn(one, "test", 20)
        found = asked.find([f"What is {row} 3 mod 97?" for row in rows])
        for those, row in zip(found, rows, strict=True):
            assert row in {each.row for each in those}
    assert Search(["modular-arithmetic"]).find(rows) == [[] for _ in rows]


def test_rows_of_other_levels_are_found(search):
    for name in ("parity", "listops", "ctl"):
        for level in task_class(name).levels:
            one = task(name, level=level)
            rows = drawn(one, "test", 8)
            for row, found in zip(rows, search.find(rows), strict=True):
                assert row in {each.row for each in found}, (name, level)


def test_a_number_of_parity_is_never_read_as_two(search):
    """At level easy all numbers have one digit, but `10` is one of the other levels."""
    assert synthbench.is_held_out("parity", "0 4 1 0 =")
    assert not synthbench.is_held_out("parity", "1 10 4 10 =")
    assert search.find(["1 10 4 10 =", "0410=", "0 4 1 0 ="])[:2] == [[], []]
    rows = drawn(task("parity"), "train", 2_000)
    assert not any(search_for(("parity",), None).find(rows))


def test_a_row_is_told_with_task_variant_and_split():
    searched = Search(["listops", "ctl", "parity"])
    texts = ["Solve [MAX 0[MIN 4 6]].", "1 2 3 4 = 3", "and 3 1 2 1= 2 3 1 2 1= 2"]
    listops, nothing, parity = searched.find(texts)
    assert listops == [("listops", "default", "iid", "[MAX 0 [MIN 4 6 ] ]")]
    assert nothing == []
    assert parity == [("parity", "default", "test", "3 1 2 1 =")]
    assert searched.least_tokens == {"listops": 3, "ctl": 3, "parity": 3}


def test_what_is_part_of_a_word_or_of_a_longer_row_is_none(search):
    held_out = "[MAX 0 [MIN 4 6 ] ]"
    assert synthbench.is_held_out("listops", held_out)
    longer = next(
        text
        for digit in range(10)
        for text in [f"[SM {digit} {held_out} ]"]
        if not synthbench.is_held_out("listops", text)
    )
    others = [longer, "[MAXIMUM 0 [MIN 4 6]]", "[MAX 0 [MIN 4 6 and", "MAX 0 MIN 4 6"]
    (row,) = drawn(task("parity"), "test", 1)
    others += [row.replace("=", ""), f"0.{row}", f"x{row}", f"1 2 + {row}"]
    assert search.find(others) == [[] for _ in others]


def test_prose_code_and_tables_are_left_alone(search):
    texts = [
        "In 1998 a 40-page report had 3 + 4 = 7 authors and a budget of 0. See a (b) and c.",
        "100 bed, 101 a bad deed, dead 110; f(0101) == 0b0101",
        "-" * 80 + "\n" + "=" * 80 + "\n+-----+-----+\n| a | b |",
        "x = (3+4)*5 - [1, 2, 3][0]; print((1+2), 10000000000000000000000000000000000000)",
        "Mo Tu We\n 1  2  3\n 8  9 10",
    ]
    assert search.find(texts) == [[] for _ in texts]


def test_a_task_without_texts_is_refused():
    with pytest.raises(UsageError, match=r"'composites': its rows are not texts. Allowed are"):
        Search(["composites"])
