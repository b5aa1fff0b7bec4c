"""Small datasets, ways to spoil them, and what is then found."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.digest import file_sha256
from synthbench.dataset.manifest import MANIFEST
from synthbench.generation.generate import generate
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.verification.verify import verify
from tests.hostile.made import fit_card
from tests.making import recut
from tests.support import take_task

ROWS = {"train": 300, "iid": 40, "validation": 20, "test": 20}
#: Train has three shards, the last with 60 rows; the others have one each.
SHARD_ROWS = 120
TRAIN = [f"data/default/train-{number:05d}-of-00003.parquet" for number in range(3)]
IID, TEST = (f"data/default/{split}-00000-of-00001.parquet" for split in ("iid", "test"))


def make(out, task, rows, shard_rows=None, **options):
    task, options = take_task(task, options)
    generate(task, out=out, rows=rows, workers=1, progress=False, **options)
    if shard_rows is not None:
        recut(out, shard_rows)
    return out


def failures(directory, source_dir=None, **options):
    with use_source_dir(source_dir):
        verdict = verify(directory, **{"workers": 1, "progress": False, "fast": True, **options})
    return verdict.failures


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
