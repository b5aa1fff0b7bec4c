"""Parquet files of any writer are read; what is broken or claims too much is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import DatasetError
from synthbench.parquet import LARGEST_ROW, large_rows, open_parquet, read_batches
from synthbench.parquet_layout import Chunk, Pages, read_groups
from synthbench.thrift import Cursor

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


def written(path: Path, **options: Any) -> Path:
    pq.write_table(TABLE, path, **options)
    return path


# What any writer wrote.


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_rows_are_read_in_their_order_however_they_were_written(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    path = written(tmp_path / "t.parquet", **options)
    batches = list(read_batches(path, batch_rows=30))
    assert pa.Table.from_batches(batches).to_pylist() == TABLE.to_pylist()
    assert max(batch.num_rows for batch in batches) <= 30


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_layout_is_the_one_that_pyarrow_sees(tmp_path: Path, options: dict[str, Any]) -> None:
    path = written(tmp_path / "t.parquet", **options)
    metadata, data = pq.read_metadata(path), path.read_bytes()
    groups = read_groups(data)
    assert len(groups) == metadata.num_row_groups
    for number, group in enumerate(groups):
        there = metadata.row_group(number)
        assert group.rows == there.num_rows
        assert len(group.chunks) == there.num_columns
        for leaf, chunk in enumerate(group.chunks):
            column = there.column(leaf)
            pages = Pages()
            pages.add(data, chunk)
            assert pages.values == chunk.values == column.num_values
            assert 0 <= column.total_uncompressed_size - pages.size <= 200 * len(data)
            assert bool(pages.shared) == (
                column.has_dictionary_page or "DELTA_BYTE_ARRAY" in column.encodings
            )


def test_only_the_columns_and_groups_that_are_wanted_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", row_group_size=40)
    (batch,) = read_batches(path, ["flag", "none"], groups=[2])
    assert batch.schema.names == ["flag"]
    assert batch.num_rows == 20


def test_a_file_without_rows_is_read(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 0), tmp_path / "t.parquet")
    assert sum(batch.num_rows for batch in read_batches(tmp_path / "t.parquet")) == 0


def test_large_rows_are_found_among_small_ones() -> None:
    texts = ["x"] * 1_000
    texts[0] = texts[613] = texts[999] = "x" * (LARGEST_ROW + 1)
    batch = pa.record_batch({"n": pa.array(range(1_000)), "t": texts})
    assert large_rows(batch) == [0, 613, 999]
    assert large_rows(batch.slice(600, 300)) == [13]


# What is broken.


def refusal(path: Path) -> str:
    with pytest.raises(DatasetError) as caught:
        for _ in read_batches(path):
            pass
    return str(caught.value).removeprefix(f"{path} ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cannot be read: it is empty."),
        (b"PAR1", "cannot be read: it does not begin and end as Parquet files do"),
        (b"no file of this kind", "cannot be read: it does not begin and end as Parquet files do"),
        (b"PAR1\x00\xff\xff\xff\xffPAR1", "cannot be read: its footer has an impossible length"),
        (b"PAR1\x00\x01\x00\x00\x00PAR1", "cannot be read: its metadata has an impossible number"),
    ],
)
def test_what_is_no_parquet_file_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    assert refusal(path).startswith(reason)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "t.parquet") == "is missing."
    assert refusal(tmp_path).startswith("cannot be read: ")


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"flag", b"\xff\xfe\xfd\xfc"))
    assert refusal(path).startswith("cannot be read: 'utf-8' codec can't decode byte")


def test_texts_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"0000000000000007", b"\xff" * 16))
    assert refusal(path).startswith("cannot be read: In column 0: Invalid: Invalid UTF8 sequence")


@settings(max_examples=300)
@given(st.data())
def test_a_footer_with_any_bytes_changed_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """At some footers pyarrow's own metadata would end the process."""
    path = written(tmp_path_factory.mktemp("t") / "t.parquet", row_group_size=60)
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(footer, len(content) - 9))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        with open_parquet(path) as opened:
            opened.check_rows(4)
            assert opened.schema is not None
        for batch in read_batches(path):
            batch.to_pydict()
    except DatasetError as error:
        assert str(error).startswith(f"{path} ")


# Headers of pages, written by hand: 0x15 is a field of 32 bits, one number after the last.


def header(*fields: bytes) -> bytes:
    """A page header with these fields, numbered from 1."""
    return b"".join(b"\x15" + field for field in fields) + b"\x00"


#: A data page of 2**31 - 1 bytes that are packed into one, with 3 values.
HUGE = b"\x15\x00\x15\xfe\xff\xff\xff\x0f\x15\x02\x2c\x15\x06\x00\x00"


def test_what_a_header_claims_is_added_up() -> None:
    pages = Pages()
    pages.add(b"PAR1" + HUGE + b"x", Chunk(values=3, start=4, end=4 + len(HUGE) + 1))
    assert (pages.size, pages.values, pages.shared) == (2**31 - 1, 3, 0)


def test_a_field_that_comes_again_as_another_kind_changes_nothing() -> None:
    # The size again, as a number of 64 bits.
    data = HUGE[:8] + b"\x06\x04\x02" + HUGE[8:] + b"x"
    pages = Pages()
    pages.add(data, Chunk(values=3, start=0, end=len(data)))
    assert pages.size == 2**31 - 1


def test_numbers_of_fields_have_sixteen_bits() -> None:
    # A size of 1, and again as field 65,538, which readers take for 2.
    data = b"\x15\x00\x15\x02\x15\x02\x2c\x15\x06\x00\x05\x84\x80\x08\xfe\xff\xff\xff\x0f\x00x"
    pages = Pages()
    pages.add(data, Chunk(values=3, start=0, end=len(data)))
    assert pages.size == 2**31 - 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (header(b"\x00", b"\x01", b"\x02"), "an impossible number"),  # a size of -1
        (header(b"\x00", b"\x02"), "an impossible number"),
        (header(b"\x00", b"\x02", b"\x02"), "an impossible number"),  # a data page without values
        (b"\x15", "cut off"),
        (b"\x18\x7f", "cut off"),
        (b"\x15" + b"\xff" * 20, "a number without an end"),
        (b"\x1c" * 40, "nested too deeply"),
        (b"\x19\x19" * 40, "nested too deeply"),
        (b"\x19\xf5\xff\xff\xff\xff\x0f", "cut off"),  # a list of four billion numbers
        (b"\x1d", "an unknown kind 13"),
    ],
)
def test_a_header_that_is_none_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Pages().add(data, Chunk(values=1, start=0, end=len(data)))


def test_every_kind_of_value_is_passed_over() -> None:
    data = b"".join(
        [
            b"\x11",  # true
            b"\x13\x07",  # a byte
            b"\x17" + bytes(8),  # a double
            b"\x18\x02ab",  # bytes
            b"\x19\x23\x01\x02",  # a list of two bytes
            b"\x19\x11\x01",  # a list of one truth value
            b"\x1c\x00",  # an empty struct
            b"\x16\x02",  # 1, of 64 bits
            b"\x00",
        ]
    )
    cursor = Cursor(data, 0, len(data))
    assert cursor.struct()[8, 6] == 1
    assert cursor.place == len(data)


def test_columns_nested_without_end_are_refused_before_pyarrow_follows_them(
    tmp_path: Path,
) -> None:
    kind = pa.int8()
    for _ in range(90):
        kind = pa.struct([("a", kind)])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.nulls(1, kind)}), path, store_schema=False)
    assert refusal(path) == "cannot be read: its columns are nested more than 64 deep"
