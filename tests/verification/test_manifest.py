"""No entry of the manifest or of the card can be changed unnoticed."""

import json
import shutil

import pytest

from synthbench.dataset.manifest import MANIFEST
from synthbench.errors import DatasetError
from synthbench.verification.verify import verify
from tests.verification.spoiling import IID, TEST, edit_manifest, failures, make, record

# The manifest.


def leaves(value, path=()):
    """Every place in a JSON value that holds no further ones, as a sequence of keys."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, inner in items for leaf in leaves(inner, (*path, key))]
    return [path]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["another", "null"])
def test_no_entry_of_the_manifest_can_be_changed_unnoticed(ctl, tmp_path, kind):
    rows = {"train": 20, "iid": 5, "validation": 5, "test": 5}
    depths = {"train_depths": 2, "validation_depths": 3, "test_depths": 4}  # few blocks
    listops = make(tmp_path / "listops", "listops", rows, 12, parameters=depths)
    for directory in (listops, shutil.copytree(ctl, tmp_path / "ctl")):
        original = (directory / MANIFEST).read_text(encoding="utf-8")
        for *above, last in leaves(json.loads(original)):
            manifest = json.loads(original)
            holder = manifest
            for key in above:
                holder = holder[key]
            holder[last] = changed(holder[last], kind)
            if manifest == json.loads(original):
                continue
            (directory / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            try:
                found = failures(directory) or failures(directory, fast=False)
            except DatasetError as error:
                found = [str(error)]
            assert found, (*above, last, holder[last])


def changed(before, kind):
    """Another value than `before`, of its own kind or none at all."""
    if kind == "null":
        return None
    return before + 1 if isinstance(before, int | float) else f"{before}?"


def test_an_edited_number_of_rows_is_named(there):
    def edit(manifest):
        manifest["variants"]["default"]["splits"]["test"]["rows"] = 21

    edit_manifest(there, edit)
    found = failures(there)
    assert "manifest.json: the shards of default/test are not 21 rows, 120 in each" in found
    assert "README.md: dataset_info does not match the manifest" in found


def test_a_shard_under_another_name_is_not_opened(there):
    other = "data/default/other-00000-of-00001.parquet"
    edit_manifest(there, lambda manifest: record(manifest, TEST)[1].update(file=other))
    shutil.copy(there / IID, there / other)
    assert failures(there) == [
        f"{TEST}: not in the manifest",
        f"{TEST}: is named '{other}' in the manifest",
    ]


def test_missing_and_unknown_splits_and_variants_are_named(there):
    def rename(manifest):
        splits = manifest["variants"]["default"]["splits"]
        splits["dev"] = splits.pop("iid")
        manifest["variants"]["reverse"] = {"splits": {"test": splits["test"]}}

    def reorder(manifest):  # readers see splits in this order
        splits = manifest["variants"]["default"]["splits"]
        splits["iid"] = splits.pop("dev")

    edit_manifest(there, rename)
    found = failures(there)
    wrong = "the splits of default are train, validation, test, dev, expected train, iid, "
    assert any(wrong in text for text in found)
    assert any("no task for variant reverse: Unknown variant" in text for text in found)
    edit_manifest(there, reorder)
    wrong = "the splits of default are train, validation, test, iid, expected train, iid, "
    assert any(wrong in text for text in failures(there))


@pytest.mark.parametrize("other", [0.0, False, "0"])
def test_a_value_of_another_type_is_not_the_same(there, other):
    edit_manifest(there, lambda manifest: manifest.update(seed=other))
    with pytest.raises(DatasetError, match=r"seed is .*, expected a whole number from 0"):
        verify(there, progress=False)


def test_a_parameter_that_is_missing_is_named_unless_another_version_made_the_dataset(there):
    edit_manifest(there, lambda manifest: manifest["parameters"].pop("ties"))
    assert failures(there) == ["manifest.json: parameter ties is missing"]
    edit_manifest(there, lambda manifest: manifest.update(synthbench="0.0.1"))
    assert failures(there) == []


def test_an_unknown_task_is_a_failure_and_no_traceback(there):
    edit_manifest(there, lambda manifest: manifest.update(task="listopps"))
    (found,) = (text for text in failures(there) if text.startswith("manifest.json"))
    assert "Unknown task 'listopps'" in found
    assert "Did you mean 'listops'?" in found


def test_an_entry_of_a_table_that_was_edited_is_named(ctl, tmp_path):
    ctl = shutil.copytree(ctl, tmp_path / "ctl")
    edit_manifest(ctl, lambda manifest: manifest["tables"]["c"].reverse())
    assert failures(ctl) == ["manifest.json: tables.c is not what the task has there"]


# The card.


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("num_examples: 300", "num_examples: 301", "dataset_info does not match"),
        ("content sha256:", "content sha256:0", "configs does not match"),
        ("'3': '3'", "'3': three", "dataset_info does not match"),
        ("'3': '3'", "3: '3'", "dataset_info does not match"),
        ("path: data/default/iid-", "path: data/default/test-", "configs does not match"),
        ("  default: true\n", "", "configs does not match"),
        ("--seed 0", "--seed 1", "it does not show the command that the manifest gives"),
        ("rows 120\n", "rows 1200\n", "it does not show the command that the manifest gives"),
        ("configs:", "config:", "configs does not match"),
        ("---\n", "", "cannot be read: it does not begin with values"),
        ("pretty_name: ", "pretty_name: [", "cannot be read: while parsing"),
    ],
)
def test_a_card_that_disagrees_with_the_manifest_is_named(there, before, after, expected):
    card = there / "README.md"
    text = card.read_text(encoding="utf-8")
    assert before in text
    card.write_text(text.replace(before, after), encoding="utf-8")
    found = failures(there)
    assert found[0].startswith(f"README.md: {expected}")
    assert all(text.startswith("README.md: ") for text in found)


def test_a_missing_card_is_named(there):
    (there / "README.md").unlink()
    assert failures(there) == ["README.md: is missing."]


def test_the_prose_of_a_card_is_free(there):
    with (there / "README.md").open("a", encoding="utf-8") as card:
        card.write("\nWe like it.\n")
    assert failures(there) == []
