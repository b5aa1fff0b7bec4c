"""Rows that are there twice, missing or too many."""

import pyarrow.parquet as pq

from synthbench.verification.findings import SHOWN, Findings
from tests.verification.spoiling import IID, TRAIN, edit_manifest, failures, failures_of, rewrite


def test_a_row_of_train_in_an_evaluation_split_is_named_with_both_places(there):
    copied = pq.read_table(there / TRAIN[1]).to_pylist()[30]
    rewrite(there, IID, lambda rows: rows[4].update(copied))
    assert f" row 4: the same row as {TRAIN[1]} row 30" in failures_of(there, IID)


def test_a_row_that_is_twice_in_a_split_is_named_with_both_places(there):
    copied = pq.read_table(there / TRAIN[0]).to_pylist()[2]
    rewrite(there, TRAIN[2], lambda rows: rows[59].update(copied))
    assert f" row 59: the same row as {TRAIN[0]} row 2" in failures_of(there, TRAIN[2])


def test_a_copied_row_is_found_under_another_id_and_behind_rows_that_cannot_be_read(there):
    copied = pq.read_table(there / TRAIN[0]).to_pylist()[2]

    def spoil(rows):
        rows[3]["text"] = "nonsense"
        rows[4]["text"] = None
        rows[10].update({**copied, "id": rows[10]["id"]})

    rewrite(there, IID, spoil)
    assert f" row 10: the same row as {TRAIN[0]} row 2" in failures_of(there, IID)


def test_rows_that_were_added_or_taken_away_are_counted(there):
    rewrite(there, TRAIN[2], lambda rows: rows[:-1], adapt=False)
    assert ": has 59 rows, the manifest says 60" in failures_of(there, TRAIN[2])
    assert any("default/train has 300 rows by the manifest, 299 in" in t for t in failures(there))


def test_a_shard_that_is_not_full_is_named(there):
    rewrite(there, TRAIN[0], lambda rows: rows[:-1])
    expected = ": has 119 rows, the manifest's shard_rows says 120"
    assert expected in failures_of(there, TRAIN[0])


def test_rows_of_a_bucket_are_counted(there):
    def edit(manifest):
        buckets = manifest["variants"]["default"]["splits"]["iid"]["buckets"]
        buckets["1"], buckets["2"] = buckets["1"] + 1, buckets["2"] - 1

    edit_manifest(there, edit)
    (found,) = failures(there)
    assert found.startswith("manifest.json: rows by dependency_depth of default/iid are {'1': 9")


def test_a_bucket_that_the_split_has_not_is_named_though_it_has_no_rows(there):
    def edit(manifest):
        manifest["variants"]["default"]["splits"]["iid"]["buckets"]["9"] = 0

    edit_manifest(there, edit)
    (found,) = failures(there)
    assert found.startswith("manifest.json: rows by dependency_depth of default/iid are {'1': 8")


def test_of_a_flood_the_first_are_named_and_the_others_counted(there):
    def spoil(rows):
        for row in rows:
            row["label"] = (row["label"] + 1) % 10

    rewrite(there, TRAIN[0], spoil)
    found = failures_of(there, TRAIN[0])
    assert [text.split(":")[0] for text in found[:SHOWN]] == [f" row {i}" for i in range(SHOWN)]
    assert found[SHOWN:] == [f": wrong label: 120 in all, of which {SHOWN} stand above"]


def test_findings_of_two_places_are_summed_up():
    ours, theirs = Findings(), Findings()
    for row in range(3):
        ours.add("file", "kind", "wrong", row)
        theirs.add("file", "kind", "wrong", row + 3)
    theirs.add("other", "kind", "wrong")
    ours.merge(theirs)
    assert ours.texts() == [
        *(f"file row {row}: wrong" for row in range(5)),
        "file: kind: 6 in all, of which 5 stand above",
        "other: wrong",
    ]
