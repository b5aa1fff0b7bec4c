"""A row whose values were changed is named."""

import re

import pyarrow.parquet as pq
import pytest

from synthbench.dataset.digest import RowDigest
from synthbench.tasks.registry import make_task
from synthbench.tasks.row_ids import columns_of
from synthbench.verification.findings import SHOWN
from tests.verification.spoiling import (
    IID,
    TEST,
    TRAIN,
    edit_manifest,
    failures,
    failures_of,
    record,
    rewrite,
)


@pytest.mark.parametrize("column", ["label", "depth", "dependency_depth", "length"])
def test_an_edited_value_is_named_though_the_checksums_fit(there, column):
    def edit(rows):
        edited.append(rows[17][column])
        rows[17][column] = 0 if rows[17][column] else 1

    edited = []
    rewrite(there, TRAIN[1], edit)
    found = failures_of(there, TRAIN[1])
    value = 0 if edited[0] else 1
    right = f" row 17: {column} is {value}, the reference solver gives {edited[0]}"
    assert right in found
    assert not any("sha256" in text or "bytes" in text for text in failures(there))


@pytest.mark.parametrize("other", ["0" * 16, "", "ABCDEF0123456789", "no id at all"])
def test_an_edited_id_is_named(there, other):
    rewrite(there, IID, lambda rows: rows[0].update(id=other))
    assert any(text.startswith(f" row 0: id is {other!r}, ") for text in failures_of(there, IID))


def test_a_changed_row_is_found_by_its_id_even_if_checksum_and_digest_are_made_to_fit(there):
    def change(rows):
        rows[0].update(text="[MAX 1 2 ]", label=2, depth=1, dependency_depth=1, length=4)

    rewrite(there, IID, change)
    task = make_task("listops")
    digest = RowDigest(columns_of(task))
    digest.update(pq.read_table(there / IID))
    edit_manifest(
        there, lambda manifest: record(manifest, IID)[0].update(digest=digest.hexdigest())
    )
    found = failures(there)
    assert not any("digest of the rows" in text for text in found)
    wrong = rf"{IID} row 0: id is '\w{{16}}', the row's content gives [0-9a-f]{{16}}"
    assert any(re.fullmatch(wrong, text) for text in found)


def test_two_rows_that_changed_places_change_the_digest_of_their_split(there):
    def swap(rows):
        rows[1], rows[2] = rows[2], rows[1]

    rewrite(there, TRAIN[0], swap)
    (found,) = failures(there)
    assert found.startswith("data/default/train-*.parquet: the digest of the rows is ")


def test_texts_that_changed_places_are_named_in_both_rows(there):
    def swap(rows):
        rows[1]["text"], rows[2]["text"] = rows[2]["text"], rows[1]["text"]

    rewrite(there, TRAIN[0], swap)
    found = failures_of(there, TRAIN[0])
    for row in (1, 2):
        assert any(text.startswith(f" row {row}: id is ") for text in found)


def test_rows_that_changed_places_between_splits_change_both_digests(there):
    rows = {file: pq.read_table(there / file).to_pylist()[0] for file in (IID, TRAIN[2])}
    for file, other in ((IID, TRAIN[2]), (TRAIN[2], IID)):
        rewrite(there, file, lambda there, other=other: there[0].update(rows[other]))
    found = failures(there)
    for split in ("iid", "train"):
        assert any(f"data/default/{split}-*.parquet: the digest" in text for text in found)


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
def test_a_row_that_is_no_row_of_the_task_is_named_and_all_others_are_checked(there, text, reason):
    def spoil(rows):
        rows[7]["text"] = text
        rows[8]["label"] = (rows[8]["label"] + 1) % 10

    rewrite(there, TRAIN[0], spoil)
    found = failures_of(there, TRAIN[0])
    assert any(f" row 7: the reference solver fails: {reason}" in line for line in found)
    assert any(line.startswith(" row 8: label is") for line in found)
    assert not any(" row 6:" in line or " row 9:" in line for line in found)


@pytest.mark.parametrize("column", ["id", "text", "label", "dependency_depth"])
def test_a_missing_value_is_named(there, column):
    rewrite(there, TRAIN[0], lambda rows: rows[119].update({column: None}))
    assert f" row 119: {column} is missing" in failures_of(there, TRAIN[0])


def test_a_shard_without_any_whole_row_is_looked_through(there):
    rewrite(there, TEST, lambda rows: [{**row, "text": None} for row in rows])
    found = failures_of(there, TEST)
    assert found[:6] == [
        *(f" row {row}: text is missing" for row in range(SHOWN)),
        f": missing text: 20 in all, of which {SHOWN} are listed above",
    ]
