"""A row whose values were changed is named."""

import pytest

from tests.verification.spoiling import IID, TRAIN, failures, failures_of, rewrite


@pytest.mark.parametrize("column", ["label", "depth", "dependency_depth", "length"])
def test_an_edited_value_is_named_though_the_checksums_fit(there, column):
    def edit(rows):
        edited.append(rows[17][column])
        rows[17][column] = 0 if rows[17][column] else 1

    edited = []
    rewrite(there, TRAIN[1], edit)
    value = 0 if edited[0] else 1
    right = f" row 17: {column} is {value}, the reference solver gives {edited[0]}"
    assert right in failures_of(there, TRAIN[1])
    assert not any("sha256" in text or "bytes" in text for text in failures(there))
    made = f" row 17 differs from the row made again: {column} is {value} instead of {edited[0]}"
    assert made in failures_of(there, TRAIN[1], fast=False)


@pytest.mark.parametrize("other", ["0" * 16, "", "ABCDEF0123456789", "no id at all"])
def test_an_edited_id_is_named(there, other):
    rewrite(there, IID, lambda rows: rows[0].update(id=other))
    found = failures_of(there, IID, fast=False)
    assert any(
        f" row 0 differs from the row made again: id is {other!r} instead of '" in text
        for text in found
    )


def test_of_two_rows_that_changed_places_the_first_is_named(there):
    def swap(rows):
        rows[1], rows[2] = rows[2], rows[1]

    rewrite(there, TRAIN[0], swap)
    (found,) = failures(there)
    assert found.startswith("data/default/train-*.parquet: the digest of the rows is ")
    assert any(
        " row 1 differs from the row made again: " in text for text in failures(there, fast=False)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[MAX 1 2", "ValueError: the expression ends too early"),
        ("", "ValueError: the expression ends too early"),
        ("to be or not to be", "ValueError: unknown token 'to'"),
        ("[MAX 1 2 ] 3", "ValueError: '3' after the end of the expression"),
        ("[AND 1 2 ]", "ValueError: unknown operator '[AND'"),
    ],
)
def test_a_row_that_is_no_row_of_the_task_is_named(there, text, reason):
    rewrite(there, TRAIN[0], lambda rows: rows[7].update(text=text))
    found = failures_of(there, TRAIN[0])
    assert any(f" row 7: the reference solver fails: {reason}" in line for line in found)


@pytest.mark.parametrize("column", ["id", "text", "label", "dependency_depth"])
def test_a_missing_value_is_named(there, column):
    rewrite(there, TRAIN[0], lambda rows: rows[119].update({column: None}))
    made = f" row 119 differs from the row made again: {column} is None instead of "
    assert any(made in text for text in failures_of(there, TRAIN[0], fast=False))


def test_rows_that_were_added_or_taken_away_are_counted(there):
    rewrite(there, TRAIN[2], lambda rows: rows[:-1], adapt=False)
    assert ": has 59 rows, the manifest says 60" in failures_of(there, TRAIN[2])


def test_a_shard_that_is_not_full_is_named(there):
    rewrite(there, TRAIN[0], lambda rows: rows[:-1])
    expected = "manifest.json: the shards of default/train are not 299 rows, 120 in each"
    assert expected in failures(there)
