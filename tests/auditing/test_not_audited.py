"""Datasets and machines on which a part of an audit, or all of it, cannot be done."""

import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench.errors import DatasetError, SynthbenchError
from tests.auditing.planting import (
    look,
    make,
    rewrite,
)
from tests.making import make as make_real


def test_without_scikit_learn_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    synthbench.generate("parity", out=tmp_path / "made", preset="small", workers=1)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(SynthbenchError, match=r"needs scikit-learn: pip install 'synthbench\[aud"):
        look(tmp_path / "made")


@pytest.mark.parametrize(
    ("task", "split", "value", "text"),
    [
        ("parity", "test", 99, "'test' has rows that are not valid for parity: labels 0 to 99"),
        ("state-tracking", "train", "zz", "variant 'Z60' cannot be audited (ValueError: 'zz'"),
    ],
)
def test_damaged_rows_are_no_bug_of_ours(tmp_path, task, split, value, text):
    variant = {"state-tracking": "Z60"}.get(task)
    out = tmp_path / "damaged"
    make_real(out, task, variant=variant, rows={"train": 60, "test": 60})
    (shard,) = (out / "data").glob(f"*/{split}-*")
    table = pq.read_table(shard)
    values = table["label"].to_pylist()
    values[1] = value  # the first row of train is held out
    place = table.schema.get_field_index("label")
    field = table.schema.field(place)
    pq.write_table(table.set_column(place, field, pa.array(values, field.type)), shard)
    with pytest.raises(DatasetError, match=re.escape(text)):
        synthbench.audit(out)


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_missing_shard_is_named(tmp_path, split):
    out = make(tmp_path / "planted")
    (shard,) = (out / "data" / "default").glob(f"{split}-*")
    shard.unlink()
    with pytest.raises(DatasetError, match=f"{shard.name} is missing"):
        look(out)


def test_rows_of_another_task_are_refused_with_the_way_to_name_them(tmp_path):
    out = make(tmp_path / "planted")

    def plant(table):
        texts = ["x y", *table["text"].to_pylist()[1:]]
        return table.set_column(1, "text", pa.array(texts))

    rewrite(out, "test", plant)
    with pytest.raises(
        DatasetError, match=r"'test' has rows that are not valid for planted.*verify"
    ):
        look(out)
