"""Files that are flipped, cut, missing or unknown, and columns that are not the task's."""

import json
import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench.errors import SynthbenchError
from synthbench.verification import verify as verification
from synthbench.verification.verify import verify
from tests.verification.spoiling import IID, TEST, TRAIN, failures, failures_of, rewrite, write

# Files.


def test_a_flipped_byte_anywhere_in_a_shard_is_found_in_that_shard(there):
    path = there / IID
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 25).astype(int).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        assert any(": its sha256 is" in text for text in failures_of(there, IID)), place


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_file_is_named(there, kept):
    path = there / TRAIN[2]
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    found = failures_of(there, TRAIN[2])
    assert any("cannot be read: Parquet " in text for text in found)
    assert any(f"bytes, the manifest says {len(whole)}" in text for text in found)


def test_a_dataset_at_which_every_reader_dies_is_named(there, monkeypatch):
    def die(directory, *arguments):
        os.kill(os.getpid(), signal.SIGKILL)

    die.__module__, die.__qualname__ = verification.__name__, "read_split"
    monkeypatch.setattr(verification, "read_split", die)  # found there by pickle
    with pytest.raises(SynthbenchError, match=f"ended abruptly.* while it read {there}"):
        verify(there, fast=True, workers=2, progress=False)


def test_rows_that_cannot_be_decoded_are_named_and_the_other_splits_are_still_checked(there):
    rewrite(there, TRAIN[0], lambda rows: rows[5].update(label=(rows[5]["label"] + 1) % 10))
    path = there / IID
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    whole = bytearray(path.read_bytes())
    whole[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(bytes(whole))
    found = failures(there)
    assert any(text.startswith(f"{IID}: cannot be read: ") for text in found)
    assert any(text.startswith(f"{TRAIN[0]} row 5: label is") for text in found)


@pytest.mark.parametrize(
    "name", ["data/default/train-00003-of-00004.parquet", "data/default/other.parquet"]
)
def test_an_unknown_file_is_named(there, name):
    (there / name).write_text("?")
    assert failures(there) == [f"{name}: not in the manifest"]


def test_files_beside_the_data_are_nobody_s_business(there):
    (there / "eval.yaml").write_text("name: mine\n")
    # As macOS leaves them; `datasets` reads none of them.
    (there / TEST).with_name(f"._{(there / TEST).name}").write_text("?")
    assert failures(there) == []


# Schemas.


def test_a_column_of_another_type_is_named(there):
    table = pq.read_table(there / TEST)
    index = table.schema.get_field_index("depth")
    wider = table.set_column(index, "depth", table["depth"].cast(pa.int32()))
    write(there, TEST, wider.replace_schema_metadata(table.schema.metadata))
    assert failures(there) == [f"{TEST}: column depth is int32, expected int8"]


def test_a_column_that_may_never_be_null_is_another_one(there):
    """Such a file was not read further, and nothing said so."""
    table = pq.read_table(there / TEST)
    fields = [field.with_nullable(field.name != "depth") for field in table.schema]
    write(there, TEST, table.cast(pa.schema(fields, metadata=table.schema.metadata)))
    assert failures(there) == [f"{TEST}: column depth is int8, never null, expected int8"]


def test_missing_and_unknown_columns_are_named(there):
    table = pq.read_table(there / TEST)
    write(there, TEST, table.drop_columns(["depth"]).append_column("note", table["text"]))
    (found,) = failures_of(there, TEST)
    assert "has the columns id, text, label, dependency_depth, length, note. Expected" in found


def test_features_that_are_not_the_task_s_are_named_and_rows_are_still_checked(there):
    table = pq.read_table(there / TEST)
    metadata = json.loads(table.schema.metadata[b"huggingface"])
    metadata["info"]["features"]["label"]["names"].reverse()
    for value in ({b"huggingface": json.dumps(metadata)}, {b"huggingface": "?"}, None):
        write(there, TEST, table.replace_schema_metadata(value))
        verdict = verify(there, fast=True, workers=1, progress=False)
        assert verdict.failures == [f"{TEST}: its metadata does not match the task's columns"]
        assert verdict.checked["derived values"] == 4 * 380
