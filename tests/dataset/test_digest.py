"""Digests of rows: a function of the values alone, and of every one of them."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from synthbench.dataset import digest as digests
from synthbench.dataset.digest import RowDigest
from synthbench.tasks.column import Column
from synthbench.tasks.features import arrow_schema, class_label, image, list_of, value
from synthbench.tasks.features import struct as structs
from synthbench.tasks.images import png
from tests.arbitrary import rows, table, tables

Columns = dict[str, Column]

few = settings(max_examples=25)

COLUMNS: Columns = {
    "id": value("string"),
    "text": value("string"),
    "label": class_label(["no", "yes"]),
    "fits": value("bool"),
    "depth": value("int8"),
    "x": list_of(value("float32")),
    "grid": list_of(list_of(value("int16"))),
    "parts": list_of(
        structs({"kind": value("string"), "rgb": list_of(value("uint8")), "index": value("int32")})
    ),
    "image": image(),
}


def picture(shade):
    return {"bytes": png.encode(np.full((1, 4, 3, 3), shade, np.uint8))[0].as_py(), "path": None}


ROWS: list[dict[str, Any]] = [
    {
        "id": "00000000000000ff",
        "text": "[MED 4 8 5 ]",
        "label": 1,
        "fits": True,
        "depth": -1,
        "x": [0.5, -0.0],
        "grid": [[1, 2], []],
        "parts": [{"kind": "mnist", "rgb": [255, 0, 0], "index": 70_000}],
        "image": picture(7),
    },
    {
        "id": "ffffffffffffffff",
        "text": "größer",
        "label": 0,
        "fits": False,
        "depth": 127,
        "x": [],
        "grid": [],
        "parts": [{"kind": "empty", "rgb": None, "index": None}, None],
        "image": picture(200),
    },
    {
        "id": "0123456789abcdef",
        "text": None,
        "label": None,
        "fits": None,
        "depth": None,
        "x": None,
        "grid": [None, [None, 300]],
        "parts": None,
        "image": picture(0),
    },
]


def digest_of(columns, *parts):
    digest = RowDigest(columns)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


@contextlib.contextmanager
def chunks_of(rows):
    """Chunks of so many rows, so that a few rows have several."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(digests, "CHUNK_ROWS", rows)
        yield


def digest_of_rows(columns, given):
    return digest_of(columns, table(columns, given))


def test_the_digest_of_a_table_written_by_hand_never_changes():
    assert digest_of_rows(COLUMNS, ROWS) == (
        "bc38b02cd3f727d7077624d4acce48ed140e12655de876ea568827fc4a48904e"
    )


# A plain reading of what the digest says it is.


CODES = {"bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "float32": "f"}


def plain_digest(columns, given):
    chunks = range(0, len(given), digests.CHUNK_ROWS)
    hashed = [plain_chunk(columns, given[first : first + digests.CHUNK_ROWS]) for first in chunks]
    return hashlib.sha256(b"".join([*hashed, f"rows:{len(given)}\n".encode()])).hexdigest()


def plain_chunk(columns, given):
    leaves: dict[str, bytes] = {}

    def put(path, data):
        leaves[path] = leaves.get(path, b"") + data

    def add(path, feature, cells):
        missing = [place for place, cell in enumerate(cells) if cell is None]
        put(f"{path}#missing", b"".join(struct.pack("<q", place) for place in missing))
        if isinstance(feature, list):
            lists = [cell or [] for cell in cells]
            put(f"{path}#length", b"".join(struct.pack("<q", len(one)) for one in lists))
            add(f"{path}[]", feature[0], [cell for one in lists for cell in one])
        elif feature.get("_type") == "Image":
            for pixels in (png.decode(cell["bytes"]) for cell in cells if cell is not None):
                put(f"{path}#shape", struct.pack("<3q", *pixels.shape))
                put(path, pixels.tobytes())
        elif "_type" not in feature:
            for name, inner in feature.items():
                add(f"{path}.{name}", inner, [None if one is None else one[name] for one in cells])
        elif feature.get("dtype") == "string":
            texts = [(cell or "").encode() for cell in cells]
            put(f"{path}#length", b"".join(struct.pack("<q", len(one)) for one in texts))
            put(path, b"".join(texts))
        else:
            code = CODES.get(feature.get("dtype", ""), "q")
            put(
                path,
                struct.pack(f"<{len(cells)}{code}", *(0 if one is None else one for one in cells)),
            )

    for name, column in columns.items():
        add(name, column.feature, [row[name] for row in given])
    lines = [f"{path}:{hashlib.sha256(leaves[path]).hexdigest()}\n" for path in sorted(leaves)]
    return hashlib.sha256("".join(lines).encode()).digest()


@few
@given(st.data())
def test_the_digest_is_what_its_description_says(data):
    columns = data.draw(tables(images=True))
    given_rows = data.draw(rows(columns, min_size=1, max_size=6))
    with chunks_of(data.draw(st.integers(1, 7))):
        assert digest_of_rows(columns, given_rows) == plain_digest(columns, given_rows)


# What does not count.


@few
@given(st.data())
def test_the_digest_does_not_depend_on_how_the_rows_are_cut(data):
    columns = data.draw(tables(images=True))
    given_rows = data.draw(rows(columns, min_size=1, max_size=9))
    whole = table(columns, given_rows)
    cuts = sorted({0, len(given_rows), *data.draw(st.sets(st.integers(0, len(given_rows))))})
    spans = list(itertools.pairwise(cuts))
    # Cut anew, as slices of one table, as one table of several chunks, and with empty pieces.
    anew = [table(columns, given_rows[low:high]) for low, high in spans]
    slices = [whole.slice(low, high - low) for low, high in spans]
    batches = whole.to_batches(max_chunksize=data.draw(st.integers(1, 4)))
    with chunks_of(data.draw(st.integers(1, 10))):
        expected = digest_of(columns, whole)
        assert digest_of(columns, *anew) == expected
        assert digest_of(columns, *slices) == expected
        assert digest_of(columns, pa.concat_tables(anew)) == expected
        assert digest_of(columns, whole.slice(0, 0), *slices, whole.slice(0, 0)) == expected
        assert digest_of(columns, *batches) == expected


def test_a_chunk_has_8192_rows():
    columns: Columns = {"a": value("int8")}
    rows_of_a_chunk = pa.table({"a": np.zeros(8192, np.int8)}, schema=arrow_schema(columns))
    digest = RowDigest(columns)
    digest.update(rows_of_a_chunk.slice(1))
    assert digest.chunks == []
    digest.update(rows_of_a_chunk.slice(8191))
    assert len(digest.chunks) == 1
    assert digest.all_chunks() == digest.chunks


@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
@pytest.mark.parametrize("group", [1, 2, 3])
def test_the_digest_survives_parquet_whatever_the_writer_does(tmp_path, compression, group):
    path = tmp_path / "rows.parquet"
    pq.write_table(
        table(COLUMNS, ROWS),
        path,
        compression=compression,
        row_group_size=group,
        use_dictionary=group == 2,
        data_page_version="2.0" if group == 3 else "1.0",
    )
    for batch_rows in (1, 2, 100):
        with pq.ParquetFile(path) as file:
            assert digest_of(COLUMNS, *file.iter_batches(batch_rows)) == digest_of_rows(
                COLUMNS, ROWS
            )


def test_values_that_lie_under_a_null_do_not_count():
    columns: Columns = {
        "n": value("int8"),
        "x": list_of(value("int8")),
        "s": structs({"t": value("string")}),
    }
    hidden = pa.array([False, True])
    lists = pa.ListArray.from_arrays([0, 2, 3], pa.array([1, 2, 3], pa.int8()), mask=hidden)
    fields = pa.StructArray.from_arrays([pa.array(["a", "b"])], names=["t"], mask=hidden)
    numbers = pa.Array.from_buffers(
        pa.int8(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(b"\x05\x09")]
    )
    dirty = pa.table([numbers, lists, fields], schema=arrow_schema(columns))
    clean: list[dict[str, Any]] = [
        {"n": 5, "x": [1, 2], "s": {"t": "a"}},
        {"n": None, "x": None, "s": None},
    ]
    assert dirty.to_pylist() == clean
    assert digest_of(columns, dirty) == digest_of_rows(columns, clean)


def test_an_image_counts_by_its_pixels_not_by_its_encoder(tmp_path):
    columns: Columns = {"image": image()}
    pixels = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
    ours = png.encode(pixels[None])[0].as_py()
    Image.fromarray(pixels).save(tmp_path / "theirs.png", optimize=True)
    theirs = (tmp_path / "theirs.png").read_bytes()
    assert ours != theirs
    made = [{"image": {"bytes": ours, "path": None}}]
    assert digest_of_rows(columns, made) == digest_of_rows(
        columns, [{"image": {"bytes": theirs, "path": "theirs.png"}}]
    )
    reshaped = png.encode(pixels.reshape(1, 4, 5, 3))[0].as_py()
    assert digest_of_rows(columns, made) != digest_of_rows(
        columns, [{"image": {"bytes": reshaped, "path": None}}]
    )


# What counts.


def test_the_name_of_a_column_counts_and_the_order_of_columns_does_not():
    made = digest_of_rows({"a": value("int8"), "b": value("int8")}, [{"a": 1, "b": 2}])
    assert digest_of_rows({"b": value("int8"), "a": value("int8")}, [{"a": 1, "b": 2}]) == made
    assert digest_of_rows({"a": value("int8"), "b": value("int8")}, [{"a": 2, "b": 1}]) != made
    assert digest_of_rows({"a": value("int8"), "c": value("int8")}, [{"a": 1, "c": 2}]) != made


def test_columns_that_the_digest_does_not_know_do_not_count():
    columns: Columns = {"a": value("int8")}
    more = table({**columns, "b": value("int8")}, [{"a": 1, "b": 2}])
    assert digest_of(columns, more) == digest_of_rows(columns, [{"a": 1}])


def test_a_digest_can_be_read_between_two_updates():
    columns: Columns = {"a": value("int8")}
    digest = RowDigest(columns)
    for count in (1, 2, 3):
        digest.update(table(columns, [{"a": count}]))
        expected = digest_of_rows(columns, [{"a": one} for one in range(1, count + 1)])
        assert digest.hexdigest() == expected
