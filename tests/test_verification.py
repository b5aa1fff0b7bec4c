"""Verification: whatever is changed in a dataset directory is found, and named by file and row."""

import dataclasses
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench import registry
from synthbench.dataset import MANIFEST, columns_of
from synthbench.digest import RowDigest, file_sha256
from synthbench.errors import DatasetError, UsageError
from synthbench.findings import SHOWN, Findings
from synthbench.generation import generate
from synthbench.registry import make_task
from synthbench.verification import verify
from tests.hostile.made import fit_card
from tests.toy_task import Addition

ROWS = {"train": 300, "iid": 40, "validation": 20, "test": 20}
#: Train has three shards, the last with 60 rows; the others have one each.
SHARD_ROWS = 120
TRAIN = [f"data/default/train-{number:05d}-of-00003.parquet" for number in range(3)]
IID, TEST = (f"data/default/{split}-00000-of-00001.parquet" for split in ("iid", "test"))


@pytest.fixture(scope="module")
def listops(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made") / "listops", "listops", ROWS, SHARD_ROWS)


@pytest.fixture(scope="module")
def ctl(tmp_path_factory):
    rows = {"train": 20, "iid": 5, "validation": 5, "test": 5}
    out = tmp_path_factory.mktemp("made") / "ctl"
    return make(out, "ctl", rows, 12, variant="all", parameters={"functions": 3, "symbols": 4})


@pytest.fixture
def there(listops, tmp_path):
    """A copy of the listops dataset, to be spoilt."""
    return shutil.copytree(listops, tmp_path / "there")


def make(out, task, rows, shard_rows=None, **options):
    generate(task, out=out, rows=rows, shard_rows=shard_rows, workers=1, progress=False, **options)
    return out


def failures(directory, **options):
    return verify(directory, **{"workers": 1, "progress": False, **options}).failures


def failures_of(directory, file, **options):
    """The failures in one file; the verdict must not be a good one."""
    found = failures(directory, **options)
    assert found
    return [failure.removeprefix(file) for failure in found if failure.startswith(file)]


def edit_manifest(directory, change):
    file = directory / MANIFEST
    manifest = json.loads(file.read_text(encoding="utf-8"))
    change(manifest)
    file.write_text(json.dumps(manifest), encoding="utf-8")


def record(manifest, file):
    """The record of the split to which a shard belongs, and that of the shard."""
    for variant in manifest["variants"].values():
        for split in variant["splits"].values():
            for shard in split["shards"]:
                if shard["file"] == file:
                    return split, shard
    raise AssertionError(file)


def rewrite(directory, file, change, adapt=True):
    """Write a shard again with its rows changed, and the manifest to go with it.

    Args:
        change: gets the rows as a list of dictionaries and changes it or returns another.
        adapt: whether size, rows and SHA-256 in the manifest are made to fit.
    """
    path = directory / file
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows = change(rows) or rows
    write(directory, file, pa.Table.from_pylist(rows, schema=table.schema), adapt)


def write(directory, file, table, adapt=True):
    path = directory / file
    pq.write_table(table, path)

    def fit(manifest):
        split, shard = record(manifest, file)
        split["rows"] += table.num_rows - shard["rows"]
        shard.update(rows=table.num_rows, bytes=path.stat().st_size, sha256=file_sha256(path))

    if adapt:
        edit_manifest(directory, fit)
        fit_card(directory)


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
        f"listops at {listops} is what its manifest says.\n"
        "Checked: variants 1, splits 4, shards 6, rows 380, derived values 1,520."
    )


@pytest.mark.parametrize("task", ["arithmetic", "ctl", "parity", "grid-count", "identity"])
def test_small_datasets_of_other_tasks_are_found_whole(task, tmp_path):
    rows = {split.name: 60 for split in make_task(task).splits}
    assert failures(make(tmp_path / task, task, rows)) == []


def test_both_variants_of_a_dataset_are_looked_at_and_may_have_the_same_rows(ctl):
    verdict = verify(ctl, workers=1, progress=False)
    assert verdict.ok
    assert verdict.checked["variants"] == 2
    assert verdict.checked["rows"] == 70


def test_the_verdict_is_the_same_with_two_workers(there):
    def spoil(rows):
        for row in rows:
            row["label"] = (row["label"] + 1) % 10

    rewrite(there, TRAIN[0], spoil)
    (there / TEST).unlink()
    assert failures(there, workers=2) == failures(there, workers=1)


# Files.


def test_a_flipped_byte_anywhere_in_a_shard_is_found_in_that_shard(there):
    path = there / IID
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 60).astype(int).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        assert any(": its sha256 is" in text for text in failures_of(there, IID)), place


def test_a_deleted_shard_is_named(there):
    (there / TRAIN[1]).unlink()
    assert failures(there) == [f"{TRAIN[1]}: missing"]


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_file_is_named(there, kept):
    path = there / TRAIN[2]
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    found = failures_of(there, TRAIN[2])
    assert any("cannot be read: it " in text for text in found)
    assert any(f"bytes, the manifest says {len(whole)}" in text for text in found)


def test_rows_that_cannot_be_decoded_are_named_and_the_other_files_are_still_checked(there):
    rewrite(there, TRAIN[0], lambda rows: rows[5].update(label=(rows[5]["label"] + 1) % 10))
    path = there / IID
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    whole = bytearray(path.read_bytes())
    whole[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(bytes(whole))
    found = failures(there)
    assert any(text.startswith(f"{IID}: rows 0 to 39 cannot be read") for text in found)
    assert any("default/iid-*.parquet: the rows cannot be read" in text for text in found)
    assert any(text.startswith(f"{TRAIN[0]} row 5: label is") for text in found)


@pytest.mark.parametrize("name", ["data/default/train-00003-of-00004.parquet", "data/notes.txt"])
def test_an_unknown_file_is_named(there, name):
    (there / name).write_text("?")
    assert failures(there) == [f"{name}: not in the manifest"]


def test_files_beside_the_data_are_nobody_s_business(there):
    (there / "eval.yaml").write_text("name: mine\n")
    assert failures(there) == []


# Schemas.


def test_a_column_of_another_type_is_named(there):
    table = pq.read_table(there / TEST)
    index = table.schema.get_field_index("depth")
    wider = table.set_column(index, "depth", table["depth"].cast(pa.int32()))
    write(there, TEST, wider.replace_schema_metadata(table.schema.metadata))
    assert failures(there) == [f"{TEST}: column depth is int32, expected int8"]


def test_missing_and_unknown_columns_are_named(there):
    table = pq.read_table(there / TEST)
    write(there, TEST, table.drop_columns(["depth"]).append_column("note", table["text"]))
    (found,) = failures_of(there, TEST)
    assert "has the columns id, text, label, dependency_depth, length, note; expected" in found


def test_features_that_are_not_the_task_s_are_named_and_rows_are_still_checked(there):
    table = pq.read_table(there / TEST)
    metadata = json.loads(table.schema.metadata[b"huggingface"])
    metadata["info"]["features"]["label"]["names"].reverse()
    for value in ({b"huggingface": json.dumps(metadata)}, {b"huggingface": "?"}, None):
        write(there, TEST, table.replace_schema_metadata(value))
        verdict = verify(there, workers=1, progress=False)
        assert verdict.failures == [f"{TEST}: the features in its metadata are not the task's"]
        assert verdict.checked["derived values"] == 4 * 380


# Rows.


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


def test_an_edited_bucket_is_named_as_none_of_its_split(there):
    rewrite(there, TRAIN[2], lambda rows: rows[3].update(dependency_depth=7))
    expected = " row 3: bucket 7 is none of train (dependency_depth 1, 2, 3, 4, 5)"
    assert expected in failures_of(there, TRAIN[2])


def test_an_edited_text_no_longer_has_its_id(there):
    def edit(rows):
        rows[9].update(text="[MAX 1 2 ]", label=2, depth=1, dependency_depth=1, length=4)

    rewrite(there, IID, edit)
    (found,) = (text for text in failures_of(there, IID) if " row 9: id is " in text)
    assert re.fullmatch(r" row 9: id is '\w{16}', the row's content gives [0-9a-f]{16}", found)


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
    assert any(text.startswith(f"{IID} row 0: id is ") for text in found)


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
        f": missing text: 20 in all, of which {SHOWN} stand above",
    ]


# Rows that belong together.


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


# The manifest.


def leaves(value, path=()):
    """Every place in a JSON value that holds no further ones, as a sequence of keys."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, inner in items for leaf in leaves(inner, (*path, key))]
    return [path]


#: What no file can tell: which version made it, and how many candidates beyond the rows it took.
UNTOLD = ("synthbench", "candidates")


@pytest.mark.parametrize("kind", ["another", "null"])
def test_no_entry_of_the_manifest_can_be_changed_unnoticed(ctl, tmp_path, kind):
    rows = {"train": 20, "iid": 5, "validation": 5, "test": 5}
    listops = make(tmp_path / "listops", "listops", rows, 12)
    for directory in (listops, shutil.copytree(ctl, tmp_path / "ctl")):
        original = (directory / MANIFEST).read_text(encoding="utf-8")
        for *above, last in leaves(json.loads(original)):
            manifest = json.loads(original)
            holder = manifest
            for key in above:
                holder = holder[key]
            holder[last] = changed(holder[last], kind)
            if manifest == json.loads(original) or last in UNTOLD:
                continue
            (directory / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            try:
                found = failures(directory)
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
    assert "manifest.json: default/test has 21 rows by the manifest, 20 in its files" in found
    expected = "README.md: dataset_info[0].splits[3].num_examples is 20, expected 21"
    assert expected in found


def test_fewer_candidates_than_rows_are_named(there):
    def edit(manifest):
        manifest["variants"]["default"]["splits"]["test"]["candidates"] = 19

    edit_manifest(there, edit)
    assert failures(there) == ["manifest.json: default/test has 20 rows from 19 candidates"]


def test_a_shard_under_another_name_is_not_opened(there):
    other = "data/default/other-00000-of-00001.parquet"
    edit_manifest(there, lambda manifest: record(manifest, TEST)[1].update(file=other))
    shutil.copy(there / IID, there / other)
    assert failures(there) == [
        f"{TEST}: not in the manifest",
        f"manifest.json: shard 0 of default/test is '{other}', its name must be '{TEST}'",
    ]


def test_missing_and_unknown_splits_and_variants_are_named(there):
    def edit(manifest):
        splits = manifest["variants"]["default"]["splits"]
        splits["dev"] = splits.pop("iid")
        manifest["variants"]["reverse"] = {"splits": {"test": splits["test"]}}

    edit_manifest(there, edit)
    found = failures(there)
    assert "manifest.json: default is without its split iid" in found
    assert "manifest.json: default has no split named dev" in found
    assert any("no task for variant reverse: Unknown variant" in text for text in found)


def test_splits_in_another_order_are_named_for_readers_see_them_so(there):
    def edit(manifest):
        splits = manifest["variants"]["default"]["splits"]
        splits["train"] = splits.pop("train")

    edit_manifest(there, edit)
    expected = "the splits of default are iid, validation, test, train, not train, iid, validation"
    assert any(expected in text for text in failures(there))


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
    (found,) = failures(ctl)
    assert found.startswith("manifest.json: tables.c is ['")


def test_another_seed_gives_other_tables_and_labels(ctl, tmp_path):
    ctl = shutil.copytree(ctl, tmp_path / "ctl")
    edit_manifest(ctl, lambda manifest: manifest.update(seed=1))
    found = failures(ctl)
    assert any(text.startswith("manifest.json: tables.") for text in found)
    assert any("backward/train-00000-of-00002.parquet row " in text for text in found)


# What is no dataset, or one of another time.


def test_a_manifest_of_a_newer_format_is_refused(there):
    edit_manifest(there, lambda manifest: manifest.update(format=2))
    with pytest.raises(DatasetError, match="has format 2; this version reads formats up to 1"):
        verify(there, progress=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", " is no manifest: Expecting value"),
        ("not JSON", " is no manifest: Expecting value"),
        ("[]", r": it is \[\], expected an object"),
        ("{}", ": format is missing"),
        ('{"format": 1}', ": synthbench is missing"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(there, text, reason):
    (there / MANIFEST).write_text(text)
    with pytest.raises(DatasetError, match=f"manifest.json{reason}"):
        verify(there, progress=False)


def test_what_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="it has no manifest"):
        verify(tmp_path, progress=False)
    with pytest.raises(DatasetError, match="there is no such directory"):
        verify(tmp_path / "nowhere", progress=False)


def test_a_number_of_workers_below_one_is_refused(listops):
    with pytest.raises(UsageError, match="Workers 0"):
        verify(listops, workers=0, progress=False)


# The card.


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "num_examples: 300",
            "num_examples: 301",
            "dataset_info[0].splits[0].num_examples is 301, expected 300",
        ),
        ("content sha256:", "content sha256:0", "configs[0].description is 'content sha256:0"),
        ("'3': '3'", "'3': three", "dataset_info[0].features[2].dtype.class_label.names.3 is 'th"),
        ("'3': '3'", "3: '3'", "dataset_info[0].features[2].dtype.class_label.names.3 is missing"),
        ("path: data/default/iid-", "path: data/default/test-", "configs[0].data_files[1].path is"),
        ("  default: true\n", "", "configs[0].default is missing, expected True"),
        ("--seed 0", "--seed 1", "it does not show the command that the manifest gives"),
        ("rows 120\n", "rows 1200\n", "it does not show the command that the manifest gives"),
        ("configs:", "config:", "configs is missing, expected [{'config_name': 'default'"),
        ("---\n", "", "its front matter cannot be read: it does not stand between two lines"),
        ("pretty_name: ", "pretty_name: [", "its front matter cannot be read: ParserError"),
        ("license:", "license: x\nlicense:", "its front matter cannot be read: ValueError a name"),
        ("license:", "a: &a 1\nb: *a\nlicense:", "its front matter cannot be read: ValueError ref"),
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
    assert failures(there) == ["README.md: missing"]


def test_the_prose_of_a_card_is_free(there):
    with (there / "README.md").open("a", encoding="utf-8") as card:
        card.write("\nWe like it.\n")
    assert failures(there) == []


# Source images: a task whose numbers stand for them.


class Sourced(Addition):
    """Addition whose first numbers are source images; those above 90 are broken."""

    name = "sourced"
    here = False

    def source_images(self, columns):
        return self.parse(columns)["numbers"][:, 0].astype(np.uint64)

    def has_sources(self):
        return self.here

    def check_sources(self, columns):
        return np.flatnonzero(self.source_images(columns) > 90).tolist()


@pytest.fixture
def sourced(monkeypatch, tmp_path):
    monkeypatch.setitem(registry._registered, "sourced", Sourced)
    return make(tmp_path / "sourced", "sourced", {"train": 40, "iid": 10, "test": 10})


def texts(directory, split):
    file = f"data/default/{split}-00000-of-00001.parquet"
    return file, pq.read_table(directory / file)["text"].to_pylist()


def test_a_source_image_of_two_splits_is_named_with_a_row_of_each(sourced):
    found = failures(sourced)
    (train, train_rows), (iid, iid_rows) = texts(sourced, "train"), texts(sourced, "iid")
    named = [text for text in found if "source image " in text]
    assert named
    for text in named:
        here, row, code, there, other = re.fullmatch(
            r"(\S+) row (\d+): source image (\d+) is used by (\S+) row (\d+), too", text
        ).groups()
        assert (here, there) == (iid, train)
        assert iid_rows[int(row)].split()[0] == train_rows[int(other)].split()[0] == code


def test_wrong_pixels_are_named_only_where_sources_are_at_hand(sourced, monkeypatch, tmp_path):
    verdict = verify(sourced, workers=1, progress=False)
    assert not any("pixels" in failure for failure in verdict.failures)
    assert verdict.checked["source images"] > 0
    assert "The source images are not here" in str(verdict)

    file, _ = texts(sourced, "test")
    expected = f"{file} row 0: the pixels are not what the sources give"
    assert expected in failures(sourced, source_dir=tmp_path)
    monkeypatch.setattr(Sourced, "here", True)
    verdict = verify(sourced, workers=1, progress=False)
    assert expected in verdict.failures
    assert verdict.checked["rows compared with source images"] == 60
    assert "The source images are not here" not in str(verdict)


def test_many_shared_images_are_counted(sourced):
    file, _ = texts(sourced, "test")
    train = pq.read_table(sourced / texts(sourced, "train")[0])
    write(sourced, file, train.slice(0, 20))
    assert any(re.search(r"in all \d+ source images of default/test", t) for t in failures(sourced))


def test_a_source_directory_means_nothing_to_a_task_without_sources(listops, tmp_path):
    verdict = verify(listops, workers=1, source_dir=tmp_path, progress=False)
    assert verdict.ok
    assert verdict.checked["rows compared with source images"] == 0


# The verdict in words.


def test_a_bad_verdict_lists_every_failure_and_says_how_rows_are_counted(there):
    (there / TEST).unlink()
    rewrite(there, IID, lambda rows: rows[0].update(label=(rows[0]["label"] + 1) % 10))
    verdict = verify(there, workers=1, progress=False)
    assert not verdict.ok
    lines = str(verdict).splitlines()
    assert lines[0] == (
        f"listops at {there} is not what its manifest says (rows are counted from 0 in their file):"
    )
    assert lines[1:-1] == [f"- {failure}" for failure in verdict.failures]
    assert lines[-1].startswith("Checked: variants 1, splits 4, shards 5, rows 360")


def test_a_verdict_is_a_value(listops):
    verdict = verify(listops, workers=1, progress=False)
    assert verdict == dataclasses.replace(verdict)
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.failures = []
