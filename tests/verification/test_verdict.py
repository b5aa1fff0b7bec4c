"""The verdict: on whole datasets, on what is none, and in words."""

import pytest

from synthbench.dataset.manifest import MANIFEST
from synthbench.errors import DatasetError
from synthbench.verification.verify import verify
from tests.verification.spoiling import IID, TEST, TRAIN, failures, rewrite

# A dataset as it was made.


def test_what_was_just_made_is_found_whole_and_the_verdict_says_what_was_looked_at(listops):
    verdict = verify(listops, workers=1, progress=False)
    assert verdict.ok
    assert verdict.failures == []
    assert verdict.checked["rows"] == 380
    assert verdict.checked["shards"] == 6
    assert verdict.checked["splits"] == 4
    assert verdict.checked["derived values"] == 4 * 380
    assert str(verdict) == (
        f"listops ({listops}) matches its manifest.\n"
        "Checked: variants 1, splits 4, shards 6, rows 380, derived values 1,520, "
        "rows made again 380."
    )


def test_all_variants_of_a_dataset_are_looked_at_and_may_have_the_same_rows(ctl):
    verdict = verify(ctl, workers=1, progress=False)
    assert verdict.made_again
    assert verdict.ok
    assert verdict.checked["variants"] == 3
    assert verdict.checked["rows"] == 105


def test_the_verdict_is_the_same_with_two_workers(there):
    def spoil(rows):
        for row in rows:
            row["label"] = (row["label"] + 1) % 10

    rewrite(there, TRAIN[0], spoil)
    (there / TEST).unlink()
    assert failures(there, workers=2) == failures(there, workers=1)


# What is no dataset, or one of another time.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", " is not a manifest: Expecting value"),
        ("not JSON", " is not a manifest: Expecting value"),
        ("[]", r": it is \[\], expected an object"),
        ("{}", ": format is missing"),
        ('{"format": 1}', ": synthbench is missing"),
        ('{"format": 2}', " has format 2. This version reads formats up to 1"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(there, text, reason):
    (there / MANIFEST).write_text(text)
    with pytest.raises(DatasetError, match=f"manifest.json{reason}"):
        verify(there, progress=False)


# The verdict in words.


def test_a_bad_verdict_lists_every_failure_and_says_how_rows_are_counted(there):
    (there / TEST).unlink()
    rewrite(there, IID, lambda rows: rows[0].update(label=(rows[0]["label"] + 1) % 10))
    verdict = verify(there, workers=1, progress=False)
    assert not verdict.ok
    lines = str(verdict).splitlines()
    assert lines[0] == (
        f"listops ({there}) does not match its manifest. Rows are counted from 0 in their file:"
    )
    assert lines[1:-2] == [f"- {failure}" for failure in verdict.failures]
    assert lines[-2].startswith("Checked: variants 1, splits 4, shards 5, rows 360")
    assert lines[-1].startswith("Not proved: default/test: ")
