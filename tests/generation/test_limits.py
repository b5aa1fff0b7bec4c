"""Where the machine ends: files that cannot be written; memory hardly grows with the rows."""

from __future__ import annotations

import errno
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from synthbench.dataset import digest
from synthbench.errors import SynthbenchError
from synthbench.generation.shards import ShardWriter
from synthbench.sampling.splits import BucketStream
from synthbench.tasks import registry
from synthbench.tasks.base import Block
from synthbench.tasks.features import list_of, value
from tests.making import files, make, names
from tests.toy_task import Numbers

# When a file cannot be written.


def refuse(patched, name, error):
    """Refuse to write any file whose name begins like this."""

    def refusing(write):
        def write_or_refuse(self, *arguments, **options):
            if self.name.startswith(name):
                raise error
            return write(self, *arguments, **options)

        return write_or_refuse

    patched.setattr(Path, "write_bytes", refusing(Path.write_bytes))
    patched.setattr(Path, "write_text", refusing(Path.write_text))
    patched.setattr(Path, "open", refusing(Path.open))


@pytest.mark.parametrize(
    "name",
    [
        *["train-00000", "train-00008", "iid-00001", "test-00001"],
        *["command.json", "finished.jsonl", "manifest.json", "README.md"],
    ],
)
def test_a_full_disk_is_an_error_that_names_the_file_and_says_how_to_go_on(tmp_path, whole, name):
    out = tmp_path / "data"
    with pytest.MonkeyPatch.context() as patched:
        refuse(patched, name, OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(SynthbenchError) as failed:
            make(out)
    assert re.fullmatch(
        rf"No space left on the device while writing {tmp_path}/\S*/{name}\S*. Finished parts are "
        r"kept\. Make room and run the same command to continue\.",
        str(failed.value),
    )
    assert names(tmp_path) == [".data.partial"]
    make(out)
    assert files(out) == whole


def test_any_other_failure_names_the_file_and_the_reason(tmp_path, numbers, monkeypatch):
    refuse(monkeypatch, "train-00000", OSError(errno.EIO, "Input/output error"))
    with pytest.raises(SynthbenchError, match=r"-of-00009.parquet cannot be written: Input"):
        make(tmp_path / "data")


# Memory.


class Wide(Numbers):
    """Numbers with 500 bytes beside each, which are 1,000 bytes of Arrow's in a row.

    A thread that makes a shard takes ten times the bytes of its row group: now all do, now none.
    Groups are so small that this does not count beside all rows.
    """

    name = "wide"
    block_rows = 2048
    round_rows = 4096
    group_rows = 512
    shard_rows = 1024

    @property
    def columns(self):
        return {**super().columns, "payload": list_of(value("int16"))}

    def propose(self, draws, n, split, bucket):
        block = super().propose(draws, n, split, bucket)
        return Block({**block.columns, "payload": draws.halves((n, 125)).view(np.int8)})

    def content(self, block):
        code = np.column_stack([block["bucket"], 2 * block["number"] + 1])
        return code.astype(">u4").view(np.uint8)  # not the payload as JSON

    def render(self, block):
        payload: NDArray[np.int8] = block["payload"]
        lists = pa.FixedSizeListArray.from_arrays(pa.array(payload.ravel()).cast(pa.int16()), 500)
        return {**super().render(block), "payload": lists.cast(pa.list_(pa.int16()))}


@pytest.mark.slow
def test_memory_grows_by_a_few_bytes_a_row_not_by_the_rows_themselves(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered, "wide", Wide)
    monkeypatch.setattr(digest, "CHUNK_ROWS", 1024)
    save = ShardWriter._save
    arrow: list[int] = []

    def watched(*arguments):
        arrow.append(pa.total_allocated_bytes())
        save(*arguments)

    monkeypatch.setattr(ShardWriter, "_save", watched)

    def peaks(rows):
        arrow.clear()
        sizes = {"train": rows, "iid": 1, "test": 1}
        tracemalloc.start()
        make(tmp_path / f"{rows}", "wide", rows=sizes, parameters={"sizes": (10**9, 10**9)})
        numpy = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return numpy, max(arrow)

    peaks(10)  # loads what is loaded when it is first needed
    few, many = peaks(60_000), peaks(140_000)
    # A row has 500 bytes in NumPy, 1,000 in Arrow. How many shards are being made differs.
    assert (many[0] - few[0]) / 80_000 < 120
    assert (many[1] - few[1]) / 80_000 < 400


def test_blocks_in_flight_are_few_however_many_will_be_needed(tmp_path, numbers, monkeypatch):
    pending: list[int] = []
    prepare = BucketStream.prepare

    def watched(self, rows):
        prepare(self, rows)
        pending.append(len(self._blocks))

    monkeypatch.setattr(BucketStream, "prepare", watched)
    rows = {"train": 2000, "iid": 9, "test": 9}
    make(tmp_path, workers=2, rows=rows, parameters={"sizes": (10**9, 10**9, 10**9)})
    assert len(pending) > 2000 // 32
    assert max(pending) < 4 * 8  # the current call and three ahead, each of eight small blocks
