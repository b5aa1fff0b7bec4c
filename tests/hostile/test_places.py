"""Nothing outside of a dataset is touched, and no reader waits for a pipe, whatever lies in it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.hostile import places
from tests.support import start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")

#: What leaves all that a reader of one split needs in its place.
HARMLESS_TO_EVALUATE = {
    f"link to {places.CARD}", f"endless {places.CARD}", f"pipe {places.CARD}",
    f"folder {places.CARD}", "pipe beside", "link beside", "link beside data", "legacy infos",
    "second card", "loading script",
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes():
    """What came of every dataset, from a process that listens to what it opens."""
    done = start("-m", "tests.hostile.places")
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def test_a_dataset_that_leads_elsewhere_is_never_found_good(outcomes):
    assert [name for name in places.SPOILT if outcomes[name]["verify"] == "good"] == []


def test_it_is_evaluated_only_where_all_that_is_read_lies_in_it(outcomes):
    good = {name for name in places.SPOILT if outcomes[name]["evaluate"] == "good"}
    assert good == HARMLESS_TO_EVALUATE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"link to {places.SHARD}", f"{places.SHARD}: a link, and links are not followed"),
        ("link to data", "data: not in the manifest"),
        (f"pipe {places.SHARD}", f"{places.SHARD}: not a regular file"),
        ("pipe beside", "data/default/other.parquet: not in the manifest"),
        ("link beside", "data/default/more: not in the manifest"),
        ("second card", ".huggingface.yaml: `datasets` would use it beside or instead of the card"),
        (f"link to {places.MANIFEST}", "manifest.json is a link"),
        (f"endless {places.CARD}", "README.md: a link"),
        ("shard '../secret.parquet'", "iid.shards[0].file is '../secret.parquet', expected a path"),
    ],
)
def test_the_reason_is_said(name, expected, outcomes):
    assert expected in outcomes[name]["verify"]


@pytest.mark.parametrize(
    "name",
    ["elsewhere", "above", "of nobody", "in the working directory"],
)
def test_class_folders_that_a_manifest_names_are_not_looked_for_outside_the_sources(name, outcomes):
    for reader in ("verify", "evaluate"):
        said = outcomes[f"folders {name}"][reader]
        if name == "of nobody":
            assert "'~nobody-at-all/pictures'" in said and "determine home directory" in said
            assert reader != "verify" or "no task for variant main: " in said
        else:
            assert said.startswith("error: Class folders ") and "--source-dir" in said
