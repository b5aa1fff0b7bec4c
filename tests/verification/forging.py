"""Datasets that were altered and made consistent again: nothing in them contradicts itself."""

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.card import command_line
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.row_ids import columns_of, fingerprints, ids
from tests.hostile import made
from tests.verification.spoiling import edit_manifest


def forge(directory, rows=None, claims=None):
    """Alter a dataset of one variant; ids, files, sums, digests, buckets and card agree with it.

    Args:
        rows: gets the rows of each split, lists of dictionaries by name, and changes them.
        claims: gets the manifest as JSON values and changes it.
    """
    before = DatasetDirectory.open(directory).manifest
    if claims is not None:
        edit_manifest(directory, claims)
    dataset = DatasetDirectory.open(directory)
    (variant,) = dataset.manifest.variants
    task = dataset.make_task(variant)
    splits = {split.name: list(dataset.rows(variant, split.name)) for split in task.splits}
    if rows is not None:
        rows(splits)
    buckets = {}
    for name, its in splits.items():
        schema = arrow_schema(columns_of(task))
        table = pa.Table.from_pylist(its, schema=schema).combine_chunks()
        columns = {one: table[one].combine_chunks() for one in table.column_names}
        columns["id"] = ids(fingerprints(task, task.parse(columns)))
        (shard,) = dataset.split(variant, name).shards
        pq.write_table(pa.table(columns, schema=schema), directory / shard.file)
        labels = [task.bucket_label(bucket) for bucket in task.buckets(columns).tolist()]
        buckets[name] = {label: labels.count(label) for label in dict.fromkeys(labels)}

    def fit(manifest):
        for name, split in manifest["variants"][variant]["splits"].items():
            split["buckets"] = buckets[name]

    edit_manifest(directory, fit)
    made.fit(directory)
    card = directory / "README.md"
    text = card.read_text(encoding="utf-8")
    after = DatasetDirectory.open(directory).manifest
    task = before.make_task(next(iter(before.variants)))
    commands = command_line(before, task), command_line(after, task)
    card.write_text(text.replace(*commands), encoding="utf-8")
