"""Making small datasets, looking at their files, and ending runs where it hurts."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.card import write_card
from synthbench.dataset.digest import file_sha256
from synthbench.dataset.files import write_json
from synthbench.dataset.manifest import MANIFEST, read_manifest, shard_file
from synthbench.generation.generate import generate
from synthbench.tasks.registry import task as make_task
from tests.support import take_task

#: The toy dataset: 2 shards of iid and of test, 9 of train, most of two row groups and of three
#: chunks.
SHARDS, GROUPS, CHUNK_ROWS = 13, 23, 20
#: A small one of a real task, as options and as words.
CTL: dict[str, Any] = {"rows": {"train": 3000, "iid": 90, "validation": 60, "test": 40}}
CTL_WORDS = ["ctl", *(f"--rows={name}={rows}" for name, rows in CTL["rows"].items())]


def make(out, task="numbers", **options):
    task, options = take_task(task, options)
    return generate(task, out=out, **{"workers": 1, "progress": False, **options})


def recut(directory, shard_rows):
    """Cut the shards of a dataset into smaller ones than `generate` does: parts of a chunk."""
    manifest = json.loads((directory / MANIFEST).read_text())
    for variant, its in manifest["variants"].items():
        for split, record in its["splits"].items():
            old = [directory / shard["file"] for shard in record["shards"]]
            whole = pa.concat_tables([pq.read_table(file) for file in old])
            for file in old:
                file.unlink()
            count = -(-whole.num_rows // shard_rows)
            record["shards"] = []
            for number in range(count):
                part = whole.slice(number * shard_rows, shard_rows)
                name = shard_file(variant, split, number, count)
                pq.write_table(part, directory / name, compression="zstd", write_page_index=True)
                size, sha256 = (directory / name).stat().st_size, file_sha256(directory / name)
                shard = {"file": name, "rows": part.num_rows, "bytes": size, "sha256": sha256}
                record["shards"].append(shard)
    manifest["shard_rows"] = shard_rows
    write_json(directory / MANIFEST, manifest)
    made = read_manifest(directory)
    parameters = made.command()["parameters"]
    tasks = [
        make_task(made.task, variant, **parameters, seed=made.seed) for variant in made.variants
    ]
    write_card(directory, made, tasks)


def files(directory):
    """Every file below a directory with its checksum."""
    return {
        str(file.relative_to(directory)): file_sha256(file)
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


def stamp(file):
    """What a file keeps that is not touched, even if it moves with its directory."""
    return file.stat().st_ino, file.stat().st_mtime_ns


def stamps(directory):
    """Every file and directory below a directory, and itself, with its stamp."""
    return {one: stamp(one) for one in (directory, *directory.rglob("*"))}


def names(directory):
    return sorted(one.name for one in directory.iterdir())


class Interrupted(BaseException):
    """Comes from nowhere, as Control-C does."""


def interrupting(monkeypatch, owner, name, at, after=False):
    """Let call number `at` of a function end everything, before or after its work."""
    calls: list[int] = []
    numbers = itertools.count()  # of calls from several threads, too
    function = getattr(owner, name)

    def interrupted(*arguments, **options):
        number = next(numbers)
        calls.append(number)
        result = function(*arguments, **options) if number != at or after else None
        if number == at:
            raise Interrupted
        return result

    monkeypatch.setattr(owner, name, interrupted)
    return calls
