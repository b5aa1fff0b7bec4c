"""What only making a dataset again can tell, and what is said where it cannot be made."""

import json
import re
import shutil

import pytest

from synthbench import __version__
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.registry import task as make_task
from synthbench.verification.verify import verify
from tests.hostile import made
from tests.verification.forging import forge
from tests.verification.spoiling import IID, TRAIN, edit_manifest, failures, make, record, rewrite

LISTOPS = {"train": 20, "iid": 5, "validation": 5, "test": 5}


def move_test_rows_into_train(splits):
    splits["train"][3:5] = splits["test"][:2]


def exchange_validation_and_test(splits):
    splits["validation"], splits["test"] = splits["test"], splits["validation"]


def rename_a_color(splits):
    (quadrant, *_) = (one for one in splits["train"][3]["quadrants"] if one["kind"] == "mnist")
    quadrant["color"] = "blue" if quadrant["color"] == "red" else "red"


def invert_clusters(splits):
    for row in splits["test"]:
        row["cluster"] = [1 - cluster for cluster in row["cluster"]]


def claim(**parameters):
    return lambda manifest: manifest["parameters"].update(parameters)


def claim_seed(manifest):
    manifest["seed"] = 0


FOUR = list(make_task("listops").parameters.operators)
#: Few buckets, so that few blocks are made.
FEW = {"train_depths": 1, "validation_depths": 2, "test_depths": 3}
#: The task, its options, the alteration, and the first row that is not the one it should be.
FORGERIES = {
    "rows of test in train": (
        ("identity", {"train": 6, "iid": 3, "test": 3}, {}),
        {"rows": move_test_rows_into_train}, "train", 3),
    "validation and test exchanged": (
        ("composites", {"train": 20, "validation": 20, "test": 20}, {}),
        {"rows": exchange_validation_and_test}, "validation", 0),
    "another name for a colour": (
        ("composites", {"train": 20, "validation": 20, "test": 20}, {}),
        {"rows": rename_a_color}, "train", 3),
    "fewer operators than claimed": (
        ("listops", LISTOPS, {"parameters": {**FEW, "operators": "MIN,MAX"}}),
        {"claims": claim(operators=FOUR)}, "train", 0),
    "another fill than claimed": (
        ("grid-count", {"train": 6, "iid": 3, "test": 7}, {"parameters": {"fill": 0.7}}),
        {"claims": claim(fill=0.8)}, "train", 0),
    "another seed than claimed": (
        ("arithmetic", LISTOPS, {"parameters": FEW, "seed": 1}),
        {"claims": claim_seed}, "train", 0),
    "clusters inverted": (("clusters", {"test": 8}, {}), {"rows": invert_clusters}, "test", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_the_first_row_of_a_dataset_made_consistent_is_named(tmp_path, name):
    (task, rows, options), forgery, split, row = FORGERIES[name]
    options = {**options, "source_dir": made.sources()} if task == "composites" else options
    directory = make(tmp_path / "made", task, rows, **options)
    sources = {"source_dir": options.get("source_dir"), "fast": False}
    forge(directory, **forgery)
    variant = next(iter(make_task(task).variants))
    place = (
        f"data/{variant}/{split}-00000-of-00001.parquet row {row} differs from the row made again: "
    )
    assert any(text.startswith(place) for text in failures(directory, **sources))


def test_a_forgery_that_alters_nothing_is_what_its_manifest_says(tmp_path):
    directory = make(tmp_path / "made", "identity", {"train": 6, "iid": 3, "test": 3})
    forge(directory)
    assert failures(directory, fast=False) == []


def test_columns_that_differ_are_named_with_both_values(there):
    rewrite(there, TRAIN[1], lambda rows: rows[17].update(label=7, depth=9))
    row = f"{TRAIN[1]} row 17 differs from the row made again: "
    (found,) = (text for text in failures(there, fast=False) if text.startswith(row))
    assert "label is 7 instead of " in found and "depth is 9 instead of " in found
    assert "text" not in found


def test_rows_that_do_not_fill_a_chunk_are_compared_by_two_workers_as_by_one(tmp_path):
    rows = {"train": 9_000, "iid": 100, "test": 100}
    directory = make(tmp_path / "made", "identity", rows, 4_000)
    assert verify(directory, workers=2, progress=False).checked["rows made again"] == 9_200
    last = "data/default/train-00002-of-00003.parquet"
    rewrite(directory, last, lambda rows: rows[500].update(label=rows[501]["label"]))
    found = [failures(directory, fast=False, workers=workers) for workers in (1, 2)]
    assert found[0] == found[1]
    assert any(
        text.startswith(f"{last} row 500 differs from the row made again") for text in found[0]
    )


@pytest.mark.parametrize("change", [-1, 10**15])
def test_candidates_that_were_not_tried_are_named(there, change):
    def edit(manifest):
        manifest["variants"]["default"]["splits"]["iid"]["candidates"] += change

    edit_manifest(there, edit)
    (found,) = failures(there, fast=False)
    assert found.startswith("manifest.json: default/iid took ")


def test_buckets_that_are_not_those_made_are_named(there):
    def edit(manifest):
        buckets = manifest["variants"]["default"]["splits"]["iid"]["buckets"]
        buckets["1"], buckets["2"] = buckets["1"] + 1, buckets["2"] - 1

    edit_manifest(there, edit)
    (found,) = failures(there, fast=False)
    assert found.startswith("manifest.json: rows by dependency_depth of default/iid are {'1': 9")


def test_more_rows_than_exist_are_named(ctl, tmp_path):
    ctl = shutil.copytree(ctl, tmp_path / "ctl")
    edit_manifest(ctl, claim(functions=1))
    expected = re.compile(r"manifest.json: forward/train has 20 rows, but only \d+ exist")
    assert any(map(expected.fullmatch, failures(ctl, fast=False)))


# What is not proved.


def test_what_fast_leaves_out_is_said(there):
    edit_manifest(there, lambda manifest: record(manifest, IID)[0].update(candidates=10**6))
    verdict = verify(there, fast=True, workers=1, progress=False)
    assert verdict.ok and not verdict.made_again
    assert verdict.checked["rows made again"] == 0
    assert "(--fast)" in str(verdict)
    values = json.loads(json.dumps(verdict.to_dict()))
    assert values["ok"] and not values["made_again"] and values["not_proved"]


@pytest.mark.parametrize(
    ("version", "said"),
    [("0.1.0", "made by synthbench 0.1.0, whose rows differed. It cannot be made again by this"),
     ("99.0.0", "made by synthbench 99.0.0, which is newer than this version")],
)  # fmt: skip
def test_a_dataset_of_a_version_with_other_rows_is_said_to_be_that(there, version, said):
    def change(rows):
        rows[0].update(id="f" * 16)  # ids were others
        rows[1].update(label=(rows[1]["label"] + 1) % 10)

    edit_manifest(there, lambda manifest: manifest.update(synthbench=version))
    verdict = verify(there, workers=1, progress=False)
    assert verdict.ok and not verdict.made_again and said in str(verdict)
    rewrite(there, IID, change)
    found = failures(there, fast=False)
    assert any(text.startswith(f"{IID} row 1: label is") for text in found)
    assert not any("row 0" in text for text in found)


def test_a_version_that_is_none_is_named_and_the_dataset_made_again(there):
    edit_manifest(there, lambda manifest: manifest.update(synthbench=f"{__version__}?"))
    assert failures(there, fast=False) == [
        f"manifest.json: synthbench is '{__version__}?', expected a version like {__version__}"
    ]


def test_without_source_images_what_was_not_proved_is_said_and_with_them_pixels_are(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "nothing"))
    directory = made.copy_of("composites", tmp_path)
    verdict = verify(directory, workers=1, progress=False)
    assert verdict.ok and not verdict.made_again
    assert "the source images are missing" in str(verdict)
    with use_source_dir(made.sources()):
        verdict = verify(directory, workers=1, progress=False)
    assert verdict.ok and verdict.made_again
    first, other = "data/main/train-00000-of-00001.parquet", 5

    def repaint(rows):
        rows[2]["image"] = rows[other]["image"]

    rewrite(directory, first, repaint)
    expected = f"{first} row 2 differs from the row made again: image shows something else"
    assert expected in failures(directory, fast=False, source_dir=made.sources())


def test_splits_in_which_faults_were_found_before_are_not_made_again_and_the_others_are(there):
    (there / TRAIN[1]).unlink()
    verdict = verify(there, workers=1, progress=False)
    assert verdict.failures == [f"{TRAIN[1]}: is missing."]
    assert verdict.checked["rows made again"] == 80
    assert verdict.not_proved == ["default/train: its rows, because of the faults."]
