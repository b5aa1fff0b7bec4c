"""Datasets with something planted in them, and their audits, each made once."""

import functools
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench.auditing.audit import audit
from synthbench.generation.generate import generate
from synthbench.tasks import registry
from tests.planted.task import Planted
from tests.support import shards, take_task

Change = Callable[[pa.Table], pa.Table]


@contextmanager
def planted_task():
    """The toy task, known to the registry meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry._registered, Planted.name, Planted)
        yield


def make(out, task="planted", **options):
    """A small dataset; of the toy task, if none is named."""
    with planted_task():
        task, options = take_task(task, options)
        generate(task, out=out, workers=1, progress=False, **options)
    return out


def look(directory, **options):
    """The audit of a dataset."""
    with planted_task():
        return audit(directory, **options)


def only(found):
    """The audit of the one variant there is."""
    (variant,) = found.variants.values()
    return variant


@functools.cache
def audited(**parameters):
    """The audit of a dataset of the toy task with these parameters."""
    with tempfile.TemporaryDirectory() as place:
        return only(look(make(Path(place) / "planted", parameters=parameters)))


def rewrite(directory, split, change, variant="default"):
    """Change the rows in the only shard of a split."""
    (shard,) = shards(directory, variant, split)
    table = pq.read_table(shard)
    pq.write_table(change(table).cast(table.schema), shard)


def accuracy(found, shortcut, split="test"):
    """What a shortcut scores."""
    return score(found, shortcut, split).figures["accuracy"].mean


def score(found, shortcut, split="test"):
    """The score of a shortcut."""
    return next(one for one in found.shortcuts if one.name == shortcut).splits[split]


def marked(found, split="test"):
    """The shortcuts that come near solving a split."""
    return {one.name for one in found.shortcuts if split in one.splits and one.splits[split].near}
