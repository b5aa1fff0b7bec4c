"""Rows that are missing or too many; floods of failures."""

from synthbench.verification.findings import Findings
from tests.verification.spoiling import TRAIN, failures, failures_of, rewrite


def test_rows_that_were_added_or_taken_away_are_counted(there):
    rewrite(there, TRAIN[2], lambda rows: rows[:-1], adapt=False)
    assert ": has 59 rows, the manifest says 60" in failures_of(there, TRAIN[2])
    assert any("default/train has 300 rows by the manifest, 299 in" in t for t in failures(there))


def test_a_shard_that_is_not_full_is_named(there):
    rewrite(there, TRAIN[0], lambda rows: rows[:-1])
    expected = ": has 119 rows, the manifest's shard_rows says 120"
    assert expected in failures_of(there, TRAIN[0])


def test_findings_of_two_places_are_summed_up():
    ours, theirs = Findings(), Findings()
    for row in range(3):
        ours.add("file", "kind", "wrong", row)
        theirs.add("file", "kind", "wrong", row + 3)
    theirs.add("other", "kind", "wrong")
    ours.merge(theirs)
    assert ours.texts() == [
        *(f"file row {row}: wrong" for row in range(5)),
        "file: kind: 6 in all, of which 5 are listed above",
        "other: wrong",
    ]
