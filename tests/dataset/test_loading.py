"""A dataset directory in the hands of `datasets`, pandas, Polars, DuckDB and plain pyarrow."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value

import synthbench
from synthbench.tasks.registry import task_class
from tests.conftest import TINY_ROWS
from tests.support import IMAGELESS, ONE_EACH, shards, stored_rows

if hasattr(datasets, "List"):
    from datasets import List
else:  # before 4.0

    def List(feature):  # noqa: N802
        return [feature]


def one_form(feature):
    """Features with lists in one form; before 4.0 a card gives `Sequence(x)` and a shard `[x]`."""
    if isinstance(feature, dict):
        return {name: one_form(inner) for name, inner in feature.items()}
    if isinstance(feature, list):
        return [one_form(feature[0])]
    if type(feature).__name__ == "Sequence":
        return [one_form(feature.feature)]
    return feature


def promised(name):
    return one_form(Features({"id": Value("string"), **columns_of(name)}))


def columns_of(name):
    """The features of a task's columns. Golden digests hold those that are not in `PROMISED`."""
    if name in PROMISED:
        return PROMISED[name]
    columns = task_class(name)().columns
    return Features.from_dict({key: one.feature for key, one in columns.items()})


first_variant = pytest.mark.parametrize(("name", "variant"), ONE_EACH)

DIGITS = ClassLabel(names=[str(digit) for digit in range(10)])
TREES = {
    "text": Value("string"),
    "label": DIGITS,
    "depth": Value("int8"),
    "dependency_depth": Value("int8"),
    "length": Value("int16"),
}
#: The columns that the contract promises, beside `id`.
PROMISED: dict[str, dict[str, Any]] = {
    "listops": TREES,
    "arithmetic": TREES,
    "ctl": {
        "text": Value("string"),
        "label": ClassLabel(names=[f"{symbol:03b}" for symbol in range(8)]),
        "steps": List(Value("string")),
        "length": Value("int8"),
    },
    "ctl/steps": {
        "text": Value("string"),
        "label": Value("string"),
        "steps": List(Value("string")),
        "length": Value("int8"),
    },
    "parity": {
        "text": Value("string"),
        "label": ClassLabel(names=[str(number) for number in range(11)]),
        **dict.fromkeys("abcd", Value("int8")),
    },
    "grid-count": {
        "grid": List(List(Value("int8"))),
        "label": List(List(Value("int16"))),
        "color_counts": List(Value("int16")),
        "size": Value("int16"),
    },
    "identity": {"x": List(Value("float32")), "label": List(Value("float32"))},
    "modular-arithmetic": {
        "text": Value("string"),
        "label": ClassLabel(names=[str(number) for number in range(97)]),
        "a": Value("int16"),
        "b": Value("int16"),
    },
    "state-tracking": {
        "text": Value("string"),
        "label": Value("string"),
        "length": Value("int16"),
    },
    "clusters": {"points": List(List(Value("float32"))), "cluster": List(Value("int8"))},
    "chomsky": {"text": Value("string"), "label": Value("string"), "length": Value("int16")},
    "mqar": {
        "text": Value("string"),
        "label": Value("string"),
        "pairs": Value("int16"),
        "length": Value("int16"),
    },
    "addition": {
        "text": Value("string"),
        "label": Value("string"),
        "digits_a": Value("int16"),
        "digits_b": Value("int16"),
    },
}


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """No test asks the Hub for anything, nor says how far it is on standard error."""
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


@pytest.fixture
def load(tmp_path):
    """`load_dataset` with a cache of its own."""

    def load(*arguments, **options):
        options = {"cache_dir": str(tmp_path / "cache"), **options}
        return datasets.load_dataset(*map(str, arguments), **options)

    return load


def test_every_variant_has_the_promised_columns():
    for name, variant in IMAGELESS:
        columns = task_class(name)(variant).columns
        features = Features.from_dict({key: one.feature for key, one in columns.items()})
        wanted = PROMISED.get(f"{name}/{variant}") or columns_of(name)
        assert one_form(features) == one_form(Features(wanted)), (name, variant)


# datasets.


@first_variant
def test_datasets_loads_every_split_with_the_promised_features_and_all_rows(
    name, variant, tiny, load
):
    loaded = load(tiny(name), variant)
    task = task_class(name)(variant)
    assert list(loaded) == [split.name for split in task.splits]
    for split, rows in loaded.items():
        assert one_form(rows.features) == promised(name)
        assert list(rows.features) == ["id", *columns_of(name)]
        assert rows.num_rows == TINY_ROWS
        assert rows.to_list() == stored_rows(tiny(name), variant, split).to_pylist()


@pytest.mark.parametrize(
    ("name", "variant"), [("ctl", "backward"), ("grid-count", "default"), ("clusters", "balanced")]
)
def test_datasets_streams_the_same_rows_with_the_same_features(name, variant, tiny, load):
    streamed = load(tiny(name), variant, streaming=True)
    for split, rows in streamed.items():
        assert one_form(rows.features) == promised(name)
        count = rows.num_shards if hasattr(rows, "num_shards") else rows.n_shards  # before 3.0
        assert count == len(shards(tiny(name), variant, split)) > 1
        assert list(rows) == stored_rows(tiny(name), variant, split).to_pylist()


def test_without_a_name_the_first_variant_is_loaded(tiny, load):
    assert datasets.get_dataset_config_names(str(tiny("ctl"))) == ["forward", "backward"]
    default, forward = load(tiny("ctl")), load(tiny("ctl"), "forward")
    assert default["test"].to_list() == forward["test"].to_list()
    backward = load(tiny("ctl"), "backward")
    for one, other in zip(forward["test"], backward["test"], strict=True):
        assert one["text"].split() == other["text"].split()[::-1]
        assert one["steps"] == other["steps"]


def test_a_dataset_with_another_seed_under_the_same_name_is_not_taken_from_the_cache(
    tmp_path, load
):
    """`datasets` keys its cache by the folder's last name and the card, not by the rows."""
    found = []
    for seed in (0, 1):
        out = tmp_path / str(seed) / "parity"
        synthbench.generate(
            synthbench.task("parity", seed=seed), out=out, preset="small", workers=1
        )
        # Even if all files happened to be equally large.
        card = (out / "README.md").read_text(encoding="utf-8")
        card = re.sub(r"(num_bytes|download_size|dataset_size): \d+", r"\1: 1000", card)
        (out / "README.md").write_text(card, encoding="utf-8")
        found.append(load(out)["test"].to_list())
        assert found[-1] == stored_rows(out, "default", "test").to_pylist()
    assert found[0] != found[1]


def test_a_shard_that_was_cut_short_does_not_load_in_silence(tiny, tmp_path, load):
    copy = tmp_path / "ctl"
    shutil.copytree(tiny("ctl"), copy)
    shard = shards(copy, "forward", "test")[-1]
    pq.write_table(pq.read_table(shard)[:-1], shard)
    with pytest.raises(datasets.exceptions.NonMatchingSplitsSizesError):
        load(copy)


def test_the_whole_directory_may_be_copied_and_loaded_from_there(tiny, tmp_path, load):
    copy = tmp_path / "a folder" / "with blanks"
    shutil.copytree(tiny("clusters"), copy)
    loaded = load(copy, "unbalanced")
    points = np.array(loaded["test"].with_format("numpy")[:5]["points"])
    assert points.shape == (5, 550, 2)
    assert points.dtype == np.float32


def test_a_directory_without_its_card_still_has_the_right_features(tiny, load):
    files = {
        split: [str(file) for file in shards(tiny("ctl"), "forward", split)]
        for split in ("train", "iid", "validation", "test")
    }
    loaded = load("parquet", data_files=files)
    assert one_form(loaded["iid"].features) == promised("ctl")


@first_variant
def test_lists_are_written_in_the_form_that_older_datasets_read(name, variant, tiny):
    """`"_type": "List"` fails before datasets 4.0 (huggingface/datasets#7676)."""
    for file in (tiny(name) / "data" / variant).iterdir():
        features = json.loads(pq.read_schema(file).metadata[b"huggingface"])["info"]["features"]
        assert "List" not in json.dumps(features)
        assert one_form(Features.from_dict(features)) == promised(name)


# Everybody else. Plain pyarrow is what they are compared with.


def _pandas(files):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.concat([pandas.read_parquet(file) for file in files])
    return list(frame.columns), [_plain(row) for row in frame.to_dict("records")]


def _polars(files):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    frame = polars.read_parquet(files)
    return frame.columns, frame.to_dicts()


def _duckdb(files):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    table = duckdb.sql(f"SELECT * FROM read_parquet({list(map(str, files))})").to_arrow_table()
    return table.column_names, table.to_pylist()


@first_variant
@pytest.mark.parametrize(
    "read",
    [
        _pandas,
        pytest.param(_polars, marks=pytest.mark.dev),
        pytest.param(_duckdb, marks=pytest.mark.dev),
    ],
)
def test_other_libraries_read_the_same_rows(read, name, variant, tiny):
    for split in (one.name for one in task_class(name)(variant).splits):
        expected = stored_rows(tiny(name), variant, split)
        columns, rows = read(shards(tiny(name), variant, split))
        assert (columns, rows) == (expected.column_names, expected.to_pylist())


def _plain(value):
    """pandas' nested arrays as lists."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return [_plain(inner) for inner in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value
