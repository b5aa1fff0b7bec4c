"""Rows into shards: their names, sizes and form, and what is left when they cannot be made."""

from __future__ import annotations

import hashlib
import itertools
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.dataset.digest import RowDigest, digest_of_chunks, whole_chunks
from synthbench.engine.engine import Engine
from synthbench.generation.shards import make_shard, rechunk
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.seeding import Draws
from synthbench.tasks.base import Block
from synthbench.tasks.column import Column
from synthbench.tasks.features import arrow_schema, class_label, list_of, struct, value
from synthbench.tasks.row_ids import columns_of, fingerprints, rows_table
from tests.making import CHUNK_ROWS, make
from tests.sampling.making import HERE, small, toy
from tests.toy_task import Numbers


class Nested(Numbers):
    """Numbers with columns of every kind."""

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "label": class_label(["no", "yes"]),
            "steps": list_of(value("string")),
            "grid": list_of(list_of(value("int8"))),
            "points": list_of(value("float32")),
            "parts": list_of(struct({"kind": value("string"), "index": value("int32")})),
        }

    def content(self, block):
        return block["number"].astype("<i8").reshape(-1, 1).view("u1")

    def buckets(self, columns):
        return np.full(len(columns["label"]), 1)

    def render(self, block):
        rows = [
            {
                "label": number % 2,
                "steps": ["000", "101"][: number % 3],
                "grid": [[number % 5] * 2] * 2,
                "points": [0.5, 0.5],
                "parts": [{"kind": "empty", "index": None}, {"kind": "mnist", "index": number}],
            }
            for number in block["number"].tolist()
        ]
        made = pa.Table.from_pylist(rows, arrow_schema(self.columns))
        return {name: made[name].combine_chunks() for name in made.column_names}


def rows_of(task, count):
    block = task.propose(Draws({"test": True}), count, task.split("train"), 1)
    return KeyedRows(block, fingerprints(task, block), np.full(count, 1))


def read(made):
    return pq.ParquetFile(pa.BufferReader(made.content))


# Names and sizes.


def test_rows_of_a_shard_are_rounded_up_to_whole_chunks():
    assert [whole_chunks(rows) for rows in (1, 8191, 8192, 8193, 250_000)] == [
        8192, 8192, 8192, 16_384, 253_952,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "shard_rows", "sizes"),
    [
        (1, 20, [1]),
        (19, 1, [19]),
        (20, 20, [20]),
        (21, 20, [20, 1]),
        (60, 13, [20, 20, 20]),
        (60, 21, [40, 20]),
        (500, 10**9, [500]),
    ],
)
def test_every_shard_but_the_last_has_the_rows_of_a_shard(
    tmp_path, numbers, rows, shard_rows, sizes
):
    manifest = make(tmp_path, rows={"train": rows}, shard_rows=shard_rows)
    shards = manifest.variants["default"]["train"].shards
    assert [shard.rows for shard in shards] == sizes
    assert [shard.file for shard in shards] == [
        f"data/default/train-{number:05d}-of-{len(sizes):05d}.parquet"
        for number in range(len(sizes))
    ]
    for shard in shards:
        content = (tmp_path / shard.file).read_bytes()
        assert (shard.bytes, shard.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert pq.read_metadata(tmp_path / shard.file).num_rows == shard.rows
    assert manifest.shard_rows == -(-shard_rows // CHUNK_ROWS) * CHUNK_ROWS


def test_every_row_group_but_a_shards_last_has_the_rows_of_a_group():
    metadata = read(make_shard(Numbers(), [rows_of(Numbers(), 95)])).metadata
    groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert groups == [40, 40, 15]


# Rows and rounds, cut into pieces of another size.


def numbered(first, last):
    numbers = np.arange(first, last)
    return KeyedRows(Block({"number": numbers}), numbers.astype(np.uint64), numbers % 3)


@given(st.integers(1, 60), st.integers(1, 25), st.lists(st.integers(0, 60), max_size=8))
def test_rows_keep_their_order_however_they_are_cut(count, size, places):
    edges = [0, *sorted(min(place, count) for place in places), count]
    several = [numbered(first, last) for first, last in itertools.pairwise(edges)]
    cut = [KeyedRows.concatenate(some) for some in rechunk(several, size)]
    assert [len(rows) for rows in cut] == [
        min(size, count - first) for first in range(0, count, size)
    ]
    whole = KeyedRows.concatenate(cut)
    assert whole.block["number"].tolist() == list(range(count))
    assert whole.fingerprints.tolist() == list(range(count))
    assert whole.buckets.tolist() == [number % 3 for number in range(count)]


@given(st.integers(1, 300))
def test_a_round_is_cut_into_the_rows_that_it_gives_whole(size):
    task = toy(1000, 1000, 500)
    plan = make_plan(task, small(train=250, iid=2, test=1))
    rounds = list(SplitSampler(task, task.split("train"), plan, HERE).rounds())
    cut = [one.rows() for some in rechunk(rounds, size) for one in some]
    expected = KeyedRows.concatenate([one.rows() for one in rounds])
    found = KeyedRows.concatenate(cut)
    assert found.fingerprints.tolist() == expected.fingerprints.tolist()
    assert found.block["number"].tolist() == expected.block["number"].tolist()


# The rows of a shard.


@pytest.mark.parametrize("task", [Numbers(), Nested()])
@pytest.mark.parametrize("count", [1, 20, 55, 100])
def test_a_shard_holds_its_rows_and_comes_with_the_digests_of_its_chunks(numbers, task, count):
    rows = rows_of(task, count)
    made = make_shard(task, [rows])
    expected = rows_table(task, rows.block, rows.fingerprints)
    assert read(made).read().to_pylist() == expected.to_pylist()
    digest = RowDigest(columns_of(task))
    digest.update(expected)
    assert len(made.chunks) == 32 * -(-count // CHUNK_ROWS)
    assert digest_of_chunks(made.chunks, made.rows) == digest.hexdigest()
    assert made.rows == count
    assert made.sha256 == hashlib.sha256(made.content).hexdigest()
    assert make_shard(task, [rows]).content == made.content


def test_files_are_zstd_with_page_indexes_and_dictionaries_where_values_repeat():
    metadata = read(make_shard(Nested(), [rows_of(Nested(), 10)])).metadata
    encodings = {}
    for place in range(metadata.num_columns):
        column = metadata.row_group(0).column(place)
        assert column.compression == "ZSTD"
        assert column.has_offset_index
        assert column.has_column_index
        encodings[column.path_in_schema] = "RLE_DICTIONARY" in column.encodings
    assert encodings == {
        "id": False,
        "label": True,
        "steps.list.element": False,
        "grid.list.element.list.element": True,
        "points.list.element": False,
        "parts.list.element.kind": False,
        "parts.list.element.index": True,
    }


def test_a_rows_id_is_the_fingerprint_of_its_content():
    task = Numbers()
    rows = rows_of(task, 20)
    made = rows_table(task, rows.block, rows.fingerprints)
    assert made.column_names == ["id", *task.columns]
    assert made["id"].to_pylist() == [f"{one:016x}" for one in rows.fingerprints.tolist()]
    assert made["text"].to_pylist() == [f"1:{number}" for number in rows.block["number"].tolist()]
    assert b"huggingface" in made.schema.metadata
    assert list(columns_of(task)) == made.column_names


# When it fails.


def test_an_error_while_shards_are_made_leaves_no_threads(tmp_path, numbers, monkeypatch):
    def fail(self, *arguments: Any, **options: Any) -> None:
        raise ZeroDivisionError

    before = threading.active_count()
    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(ZeroDivisionError):
        make(tmp_path / "data")
    assert threading.active_count() == before


def test_threads_that_use_kept_results_end_with_their_engine():
    before = threading.active_count()
    gate = threading.Event()
    with pytest.raises(ZeroDivisionError), Engine(None, 1, makers=2) as engine:
        for _ in range(5):
            engine.run_near(gate.wait, 20)
        assert threading.active_count() == before + 2
        gate.set()
        raise ZeroDivisionError
    assert threading.active_count() == before
