"""Rows into shards: their names, sizes and form, and the same bytes however the rows come."""

from __future__ import annotations

import errno
import hashlib
import itertools
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.dataset.manifest import Shard, shard_file
from synthbench.errors import SynthbenchError
from synthbench.generation import local_writer as writing
from synthbench.generation import shards as cutting
from synthbench.generation.local_writer import LocalWriter
from synthbench.generation.shards import Piece, ShardPlan
from synthbench.seeding import Draws
from synthbench.tasks.column import Column
from synthbench.tasks.features import class_label, list_of, struct, value
from synthbench.tasks.row_ids import columns_of, fingerprints, rows_table
from tests.arbitrary import rows, table, tables
from tests.toy_task import Numbers

COLUMNS: dict[str, Column] = {
    "id": value("string"),
    "label": class_label(["no", "yes"]),
    "steps": list_of(value("string")),
    "grid": list_of(list_of(value("int8"))),
    "parts": list_of(struct({"kind": value("string"), "index": value("int32")})),
}


def some_rows(count):
    made = [
        {
            "id": f"{number:016x}",
            "label": number % 2,
            "steps": ["000", "101"][: number % 3],
            "grid": [[number % 5] * 2] * 2,
            "parts": [{"kind": "empty", "index": None}, {"kind": "mnist", "index": number}],
        }
        for number in range(count)
    ]
    return table(COLUMNS, made)


class Run:
    """A writer with what its shards were called back with."""

    def __init__(self, directory, count, shard_rows=10, group_rows=4, columns=COLUMNS, finished=()):
        self.directory = directory
        self.calls: list[tuple[list[Shard], Any]] = []
        self.writer = LocalWriter(
            ShardPlan(directory, "main", "train", columns, count, shard_rows, group_rows),
            list(finished),
            lambda shards, checkpoint: self.calls.append((list(shards), checkpoint)),
        )

    def write(self, *parts):
        with self.writer as writer:
            for number, part in enumerate(parts):
                writer.write(Piece.of_table(part), number)
            return writer.finish()

    def files(self):
        return {file.name: file_sha256(file) for file in self.directory.rglob("*.parquet")}


def cut(whole, places):
    edges = [0, *sorted(places), whole.num_rows]
    return [whole.slice(low, high - low) for low, high in itertools.pairwise(edges)]


# Names and sizes.


def test_shards_have_the_names_that_datasets_expects():
    assert shard_file("main", "iid", 3, 12) == "data/main/iid-00003-of-00012.parquet"


@pytest.mark.parametrize(
    ("count", "shard_rows", "sizes"),
    [
        (1, 10, [1]),
        (9, 10, [9]),
        (10, 10, [10]),
        (11, 10, [10, 1]),
        (30, 10, [10, 10, 10]),
        (3, 1, [1, 1, 1]),
    ],
)
def test_every_shard_but_the_last_has_the_rows_of_a_shard(tmp_path, count, shard_rows, sizes):
    whole = some_rows(count)
    shards = Run(tmp_path, count, shard_rows).write(whole)
    assert [shard.rows for shard in shards] == sizes
    total = len(sizes)
    assert [shard.file for shard in shards] == [
        f"data/main/train-{number:05d}-of-{total:05d}.parquet" for number in range(total)
    ]
    for shard in shards:
        file = tmp_path / shard.file
        assert shard.bytes == file.stat().st_size
        assert shard.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    read = pa.concat_tables([pq.read_table(tmp_path / shard.file) for shard in shards])
    assert read.to_pylist() == whole.to_pylist()
    assert len(list(tmp_path.rglob("*.*"))) == total


def test_every_row_group_but_a_shards_last_has_the_rows_of_a_group(tmp_path):
    shards = Run(tmp_path, 25, shard_rows=10, group_rows=4).write(*cut(some_rows(25), [7, 8, 21]))
    groups = []
    for shard in shards:
        metadata = pq.read_metadata(tmp_path / shard.file)
        groups.append([metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)])
    assert groups == [[4, 4, 2], [4, 4, 2], [4, 1]]


@given(st.integers(1, 300), st.integers(1, 90), st.integers(1, 50))
def test_every_chunk_is_hashed_once_with_the_shard_in_which_it_ends(rows, shard_rows, chunk_rows):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cutting, "CHUNK_ROWS", chunk_rows)
        plan = ShardPlan(Path(), "main", "train", COLUMNS, rows, shard_rows, 4)
        specs = [plan.shard(number) for number in range(plan.count)]
    hashed = [spec for spec in specs if spec.hashed > spec.begin]
    edges = [0, *(spec.hashed for spec in hashed)]
    assert [spec.begin for spec in hashed] == edges[:-1]
    assert edges[-1] == rows
    assert all(edge % chunk_rows == 0 for edge in edges[:-1])
    for spec in hashed:
        assert spec.begin <= spec.first < spec.hashed <= spec.last
        assert spec.first - spec.begin < chunk_rows


# The form of the files.


def test_files_are_zstd_with_page_indexes_and_dictionaries_where_values_repeat(tmp_path):
    (shard,) = Run(tmp_path, 10).write(some_rows(10))
    metadata = pq.read_metadata(tmp_path / shard.file)
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
        "parts.list.element.kind": False,
        "parts.list.element.index": True,
    }


def test_a_rows_id_is_the_fingerprint_of_its_content():
    task = Numbers()
    block = task.propose(Draws({"test": True}), 20, task.split("train"), 1)
    prints = fingerprints(task, block)
    made = rows_table(task, block, prints)
    assert made.column_names == ["id", *task.columns]
    assert made["id"].to_pylist() == [f"{one:016x}" for one in prints.tolist()]
    assert made["text"].to_pylist() == [f"1:{number}" for number in block["number"].tolist()]
    assert b"huggingface" in made.schema.metadata
    assert list(columns_of(task)) == made.column_names


# However the rows come.


@settings(max_examples=20)
@given(st.integers(1, 60), st.integers(1, 25), st.integers(1, 25), st.data())
def test_files_are_the_same_to_the_byte_however_the_rows_are_cut(
    tmp_path_factory, count, shard_rows, group_rows, data
):
    whole = some_rows(count)
    places = data.draw(st.lists(st.integers(0, count), max_size=8))
    at_once = Run(tmp_path_factory.mktemp("at_once"), count, shard_rows, group_rows)
    in_parts = Run(tmp_path_factory.mktemp("in_parts"), count, shard_rows, group_rows)
    assert at_once.write(whole) == in_parts.write(*cut(whole, places))
    assert at_once.files() == in_parts.files()
    assert at_once.writer.digest.hexdigest() == in_parts.writer.digest.hexdigest()


@settings(max_examples=12)
@given(st.data())
def test_that_holds_for_any_columns_with_gaps_lists_and_structs(tmp_path_factory, data):
    columns = data.draw(tables())
    given_rows = data.draw(rows(columns, min_size=2, max_size=12))
    places = data.draw(st.lists(st.integers(0, len(given_rows)), max_size=4))
    whole = table(columns, given_rows)
    edges = [0, *sorted(places), len(given_rows)]
    anew = [table(columns, given_rows[a:b]) for a, b in itertools.pairwise(edges)]
    directories = [tmp_path_factory.mktemp("run") for _ in range(3)]
    runs = [Run(directory, len(given_rows), 5, 2, columns) for directory in directories]
    shards = runs[0].write(whole)
    assert shards == runs[1].write(*cut(whole, places)) == runs[2].write(*anew)
    read = pa.concat_tables([pq.read_table(directories[0] / shard.file) for shard in shards])
    digest = RowDigest(columns)
    digest.update(read)
    assert digest.hexdigest() == runs[0].writer.digest.hexdigest()


@pytest.mark.parametrize("there", [0, 1, 2, 3])
def test_going_on_behind_finished_shards_gives_the_same_files(tmp_path, there):
    whole = some_rows(37)
    first = Run(tmp_path / "whole", 37)
    shards = first.write(whole)
    second = Run(tmp_path / "rest", 37, finished=shards[:there])
    for batch in whole.slice(0, 10 * there).to_batches():
        second.writer.add_finished_rows(batch)
    assert second.write(whole.slice(10 * there)) == shards
    rest = {name: digest for name, digest in first.files().items() if int(name[6:11]) >= there}
    assert second.files() == rest
    assert second.writer.digest.hexdigest() == first.writer.digest.hexdigest()


def test_each_finished_shard_is_reported_with_the_checkpoint_of_the_rows_that_filled_it(tmp_path):
    run = Run(tmp_path, 35)
    shards = run.write(*cut(some_rows(35), [6, 12, 14, 33]))
    assert (
        run.calls
        == [
            (shards[:1], 1),  # rows 6 to 12 filled the first shard
            (shards[:2], 3),
            (shards[:3], 3),
            (shards[:4], 4),
        ]
    )


def test_few_row_groups_wait_for_the_disk(tmp_path, monkeypatch):
    gate, waiting = threading.Event(), []
    write_table = pq.ParquetWriter.write_table

    def slow(self, *arguments, **options):
        assert gate.wait(20)
        write_table(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", slow)
    monkeypatch.setattr(writing, "_MAKERS", 1)
    monkeypatch.setattr(writing, "_GROUPS_AHEAD", 4)
    run = Run(tmp_path, 100)

    def feed():
        for part in cut(some_rows(100), range(4, 100, 4)):
            waiting.append(part.num_rows)
            run.writer.write(Piece.of_table(part), None)

    with run.writer:
        feeder = threading.Thread(target=feed)
        feeder.start()
        feeder.join(0.3)
        assert feeder.is_alive()
        assert len(waiting) <= 5
        gate.set()
        feeder.join()
        assert len(run.writer.finish()) == 10


# When it cannot be written.


def failing(monkeypatch, error, at, times=1):
    """Let row groups number `at` and following fail, of one thread: of two none is third."""
    monkeypatch.setattr(writing, "_MAKERS", 1)
    calls: list[int] = []
    write_table = pq.ParquetWriter.write_table

    def write(self, *arguments, **options):
        calls.append(len(calls))
        if at <= calls[-1] < at + times:
            raise error
        write_table(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", write)
    return calls


@pytest.mark.parametrize("at", [0, 1, 2, 3, 5])
def test_a_full_disk_is_an_error_that_names_the_file_and_says_how_to_go_on(
    tmp_path, monkeypatch, at
):
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device"), at)
    run = Run(tmp_path, 40)
    with pytest.raises(SynthbenchError) as failed:
        run.write(*cut(some_rows(40), range(5, 40, 5)))
    file = tmp_path / f"data/main/train-{at // 3:05d}-of-00004.parquet"
    assert str(failed.value) == (
        f"No space left on the device while writing {file}; what is finished is kept beside. "
        "Make room and run the same command to go on."
    )
    assert [len(shards) for shards, _ in run.calls] == list(range(1, at // 3 + 1))


def test_a_shard_that_lacks_a_row_group_is_not_finished_though_room_was_made(tmp_path, monkeypatch):
    """Or it would be trusted without the rows that failed."""
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device"), 1)
    run = Run(tmp_path, 40)
    with pytest.raises(SynthbenchError, match="No space"):
        run.write(some_rows(40))
    assert run.calls == []


def test_any_other_failure_names_the_file_and_the_reason(tmp_path, monkeypatch):
    failing(monkeypatch, OSError(errno.EIO, "Input/output error"), 0)
    with pytest.raises(SynthbenchError, match=r"train-00000-of-00001.parquet cannot be written: I"):
        Run(tmp_path, 5).write(some_rows(5))
    (tmp_path / "data").rename(tmp_path / "old")
    (tmp_path / "data").write_text("a file")
    with pytest.raises(SynthbenchError, match="cannot be written: Not a directory"):
        Run(tmp_path, 5).write(some_rows(5))


def test_an_error_of_the_report_ends_the_writing(tmp_path):
    run = Run(tmp_path, 40)

    def report(shards, checkpoint):
        reports.append(len(shards))
        raise KeyError("report")

    reports: list[int] = []
    run.writer._on_shard = report
    with pytest.raises(KeyError, match="report"), run.writer as writer:
        writer.write(Piece.of_table(some_rows(40)), None)
        writer.finish()
    assert reports == [1]


def test_a_writer_that_is_left_early_ends_its_threads_and_closes_its_files(tmp_path, monkeypatch):
    before = threading.active_count()
    opened: list[pq.ParquetWriter] = []
    wrote = threading.Event()
    write_table = pq.ParquetWriter.write_table

    def write(self, *arguments, **options):
        write_table(self, *arguments, **options)
        opened.append(self)
        if len(opened) == 4:  # three groups of the first shard, one of the second
            wrote.set()

    monkeypatch.setattr(pq.ParquetWriter, "write_table", write)
    run = Run(tmp_path, 40)
    with pytest.raises(ZeroDivisionError), run.writer as writer:
        writer.write(Piece.of_table(some_rows(15)), None)
        assert wrote.wait(20)
        raise ZeroDivisionError
    assert threading.active_count() == before
    assert len({id(writer) for writer in opened}) == 2
    assert not any(writer.is_open for writer in opened)


def test_a_shard_whose_rows_never_all_come_is_not_reported(tmp_path):
    run = Run(tmp_path, 40)
    with run.writer as writer:
        writer.write(Piece.of_table(some_rows(15)), None)
    assert [len(shards) for shards, _ in run.calls] in ([], [1])
    assert all(shard.rows == 10 for shard in writer._shards)
