"""Small datasets to be spoilt, each made once, and what may be told of them from outside."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from synthbench.dataset.card import loading_values
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.generation.generate import generate
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.row_ids import columns_of
from tests.support import take_task
from tests.tasks.tiny_sources import write_sources

#: By name: the task, and how it is asked for. `listops` has a split of two shards.
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "listops": (
        "listops",
        {
            "rows": {"train": 9, "iid": 5, "validation": 3, "test": 4},
            "parameters": {"train_depths": [1, 2], "validation_depths": 2, "test_depths": 3},
            "shard_rows": 5,
        },
    ),
    "ctl": (
        "ctl",
        {
            "variant": "all",
            "parameters": {"functions": 3, "symbols": 4},
            "rows": {"train": 12, "iid": 4, "validation": 3, "test": 3},
        },
    ),
    "identity": ("identity", {"rows": {"train": 6, "iid": 3, "test": 3}}),
    "grid-count": ("grid-count", {"rows": {"train": 6, "iid": 3, "test": 7}}),
    "parity": ("parity", {"parameters": {"n_values": 3}}),
    "composites": ("composites", {"rows": {"train": 20, "validation": 20, "test": 20}}),
}


def command(name):
    """What makes a dataset, for `generate`."""
    task, options = take_task(*ASKED[name])
    return {"task": task, "workers": 1, "progress": False, **options}


@functools.cache
def dataset(name):
    """A dataset as it was made; not to be changed."""
    out = Path(_root().name, name, "data")
    with use_source_dir(sources() if name == "composites" else None):
        generate(out=out, **command(name))
    return out


@functools.cache
def sources():
    """Small source images."""
    return write_sources(Path(_root().name, "sources"))


@functools.cache
def _root():
    """A directory that is gone when the process is."""
    return tempfile.TemporaryDirectory(prefix="hostile-made-")


def copy_of(name, root):
    """A copy to be spoilt."""
    return shutil.copytree(dataset(name), root / "data")


def shards(directory):
    """The shards of a dataset."""
    return sorted(directory.glob("data/*/*.parquet"))


def fit_checksums(directory):
    """Let manifest and card have the sizes and checksums of the shards."""
    file = directory / "manifest.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    for variant in values["variants"].values():
        for split in variant["splits"].values():
            for shard in split["shards"]:
                path = directory / shard["file"]
                shard.update(bytes=path.stat().st_size, sha256=file_sha256(path))
    file.write_text(json.dumps(values), encoding="utf-8")
    fit_card(directory)


def fit(directory):
    """Let manifest and card say what the shards hold: rows, sizes, checksums and digests.

    What is left to tell a forged row by is the row itself, its place, and the buckets.
    """
    file = directory / "manifest.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    made = DatasetDirectory.open(directory)
    for variant, record in values["variants"].items():
        features = columns_of(made.manifest.make_task(variant))
        for split in record["splits"].values():
            digest = RowDigest(features)
            for shard in split["shards"]:
                table = pq.read_table(directory / shard["file"])
                digest.update(table)
                shard["rows"] = table.num_rows
            split["digest"] = digest.hexdigest()
            split["rows"] = digest.rows
    file.write_text(json.dumps(values), encoding="utf-8")
    fit_checksums(directory)


def fit_card(directory):
    """Let the card's front matter say what the manifest does."""
    manifest = DatasetDirectory.open(directory).manifest
    card = directory / "README.md"
    _, front, body = card.read_text(encoding="utf-8").split("---\n", 2)
    values = yaml.safe_load(front)
    tasks = [manifest.make_task(variant) for variant in manifest.variants]
    values |= loading_values(manifest, tasks)
    front = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    card.write_text(f"---\n{front}---\n{body}", encoding="utf-8")


#: A directory of source images that is not there.
NOWHERE = "/nowhere/at/all"
