"""Parquet files of any writer are read; what is broken or claims too much is refused by name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.errors import DatasetError

TABLE = pa.table(
    {
        "id": [f"{row:016x}" for row in range(100)],
        "numbers": [list(range(row % 5)) for row in range(100)],
        "struct": [{"a": row, "b": None if row % 3 else "x"} for row in range(100)],
        "id.more": range(100),
        "flag": [row % 2 == 0 for row in range(100)],
    }
)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"row_group_size": 7},
    {"compression": "none", "use_dictionary": False},
    {"compression": "zstd", "data_page_version": "2.0", "write_page_index": True},
    {"write_statistics": False, "store_schema": False},
    {"data_page_size": 64, "compression": "gzip"},
    {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}},
    {"use_byte_stream_split": False, "write_page_checksum": True, "sorting_columns": None},
]


def written(path, **options):
    pq.write_table(TABLE, path, **options)
    return path


# What any writer wrote.


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_rows_are_read_in_their_order_however_they_were_written(tmp_path, options):
    path = written(tmp_path / "t.parquet", **options)
    batches = list(read_batches(path, batch_rows=30))
    assert pa.Table.from_batches(batches).to_pylist() == TABLE.to_pylist()
    assert max(batch.num_rows for batch in batches) <= 30


def test_only_the_columns_and_groups_that_are_wanted_are_read(tmp_path):
    path = written(tmp_path / "t.parquet", row_group_size=40)
    (batch,) = read_batches(path, ["flag", "none"], groups=[2])
    assert batch.schema.names == ["flag"]
    assert batch.num_rows == 20


def test_a_file_without_rows_is_read(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "t.parquet")
    assert sum(batch.num_rows for batch in read_batches(tmp_path / "t.parquet")) == 0


# What is broken.


def refusal(path):
    with pytest.raises(DatasetError) as caught:
        for _ in read_batches(path):
            pass
    return str(caught.value).removeprefix(f"{path} ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cannot be read: Parquet file size is 0 bytes"),
        (b"PAR1", "cannot be read: Parquet file size is 4 bytes"),
        (b"no file of this kind", "cannot be read: Parquet magic bytes not found in footer"),
        (b"PAR1\x00\xff\xff\xff\xffPAR1", "cannot be read: Parquet file size is 13 bytes, smaller"),
        (b"PAR1\x00\x01\x00\x00\x00PAR1", "cannot be read: Couldn't deserialize thrift"),
    ],
)
def test_what_is_no_parquet_file_is_refused(tmp_path, data, reason):
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    assert refusal(path).startswith(reason)


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    assert refusal(tmp_path / "t.parquet") == "is missing."
    assert refusal(tmp_path).startswith("cannot be read: ")


def test_names_that_are_no_text_are_refused(tmp_path):
    path = written(tmp_path / "t.parquet", store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"flag", b"\xff\xfe\xfd\xfc"))
    assert refusal(path).startswith("cannot be read: 'utf-8' codec can't decode byte")


def test_texts_that_are_no_text_are_refused(tmp_path):
    path = written(tmp_path / "t.parquet", compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"0000000000000007", b"\xff" * 16))
    assert refusal(path).startswith("cannot be read: In column 0: Invalid: Invalid UTF8 sequence")


@settings(max_examples=100)
@given(st.data())
def test_a_footer_with_any_bytes_changed_is_read_or_refused(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("t") / "t.parquet", row_group_size=60)
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(footer, len(content) - 9))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        with open_parquet(path) as opened:
            assert opened.schema_arrow is not None
        for batch in read_batches(path):
            batch.to_pydict()
    except DatasetError as error:
        assert str(error).startswith(f"{path} ")


def test_a_page_that_has_not_its_checksum_is_refused(tmp_path):
    path = written(
        tmp_path / "t.parquet",
        compression="none",
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )
    path.write_bytes(path.read_bytes().replace(b"0000000000000007", b"0000000000000008"))
    assert "CRC checksum verification failed" in refusal(path)


def test_a_page_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path):
    zeros = pa.array([bytes(100 << 20)]).cast(pa.string())
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"text": zeros}), path, compression="zstd", use_dictionary=False,
        write_statistics=False,
    )  # fmt: skip
    assert "it would unpack 104,857" in refusal(path)
