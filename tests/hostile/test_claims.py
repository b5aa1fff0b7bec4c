"""No claim of a file costs more memory or time than its bytes warrant."""

import collections
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.parquet import LARGEST_ROW, read_batches
from synthbench.errors import DatasetError, UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.predictions import read_predictions
from synthbench.verification.verify import verify
from tests.hostile import made

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20
#: What reading any of these files may take; each asks for more than ten times as much.
MODEST = 300 * MEGABYTE


def refusal(path, **options):
    """Why a Parquet file is not read, which must show before much memory is taken."""
    pool, counted = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(DatasetError) as caught:
            collections.deque(read_batches(path, **options), maxlen=0)
    finally:
        pa.set_memory_pool(pool)
    assert counted.max_memory() < MODEST
    return str(caught.value)


def failures(directory):
    return verify(directory, workers=1, progress=False).failures


def write(path, column, **options):
    pq.write_table(pa.table({"prediction": column}), path, write_statistics=False, **options)
    assert path.stat().st_size < MEGABYTE
    return path


# Parquet.


def test_a_page_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path):
    zeros = pa.array([bytes(100 * MEGABYTE)]).cast(pa.string())
    path = write(tmp_path / "p.parquet", zeros, compression="zstd", use_dictionary=False)
    assert "would unpack 104,857" in refusal(path)


def test_a_dictionary_of_one_large_text_for_millions_of_rows_is_not_spread_out(tmp_path):
    large = pa.array(["x" * MEGABYTE])
    rows = pa.DictionaryArray.from_arrays(np.zeros(1_000_000, np.int32), large)
    path = write(tmp_path / "p.parquet", rows, compression="zstd", store_schema=False)
    assert "unpacks to far more than its" in refusal(path)


def test_texts_that_share_their_beginning_are_not_spread_out_either(tmp_path):
    start = "x" * MEGABYTE
    path = write(
        tmp_path / "p.parquet",
        pa.array([f"{start}{row}" for row in range(200)]),
        compression="zstd",
        use_dictionary=False,
        column_encoding={"prediction": "DELTA_BYTE_ARRAY"},
    )
    assert "unpacks to far more than its" in refusal(path)


def test_rows_without_values_are_not_counted_for_hours(tmp_path):
    groups = pa.table({"prediction": pa.nulls(30_000_000, pa.int64())})
    pq.write_table(groups, tmp_path / "p.parquet", write_statistics=False, compression="zstd")
    assert "unpacks to far more than its" in refusal(tmp_path / "p.parquet")
    assert "claims 30,000,000 rows" in refusal(tmp_path / "p.parquet", smallest_row=4)


def test_a_list_of_more_values_than_its_bytes_warrant_is_refused(tmp_path):
    nulls = pa.ListArray.from_arrays([0, 20_000_000], pa.nulls(20_000_000, pa.int32()))
    path = write(tmp_path / "p.parquet", nulls, compression="zstd")
    assert "unpacks to far more than its" in refusal(path)


def test_missing_values_of_many_megabytes_each_are_not_made(tmp_path):
    path = write(tmp_path / "p.parquet", pa.nulls(4, pa.binary(1 << 26)), compression="zstd")
    assert "values of more than 65,536 bytes each" in refusal(path)


def test_large_texts_that_repeat_are_read_a_few_at_a_time(tmp_path):
    texts = pa.array(["x" * MEGABYTE]).take(pa.array([0] * 400)).dictionary_encode()
    noise = pa.array([np.random.default_rng(0).bytes(MEGABYTE)])
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"prediction": texts}), path, store_schema=False)
    table = pa.table({"noise": noise.take(pa.array([0] * 400)), "prediction": texts})
    for store_schema in (True, False):  # as a dictionary, or as texts
        pq.write_table(table, path, store_schema=store_schema)
        sizes = [batch.num_rows for batch in read_batches(path, ["prediction"])]
        assert sum(sizes) == 400
        assert max(sizes) <= 128


def test_rows_of_a_megabyte_are_no_rows_of_a_task(listops):
    path = next(listops.glob("data/default/iid-*"))
    table = pq.read_table(path)
    texts = table["text"].to_pylist()
    texts[2] = "[MAX" + " 1" * LARGEST_ROW + " ]"
    index = table.schema.get_field_index("text")
    pq.write_table(table.set_column(index, table.schema.field(index), pa.array(texts)), path)
    made.fit(listops)
    assert f"{path.relative_to(listops)} row 2: it has more than 1,048,576 bytes" in failures(
        listops
    )
    with pytest.raises(DatasetError, match="has rows of more than 1,048,576 bytes"):
        list(DatasetDirectory.open(listops).rows("default", "iid"))


def test_more_rows_than_ids_fit_into_a_shard_are_not_looked_at(listops):
    path = next(listops.glob("data/default/iid-*"))
    table = pq.read_table(path)
    many = table.slice(0, 1).take(pa.array([0] * 200_000))
    pq.write_table(many, path, compression="zstd")
    made.fit(listops)
    name = path.relative_to(listops)
    assert any(f.startswith(f"{name}: claims 200,000 rows in") for f in failures(listops))
    with pytest.raises(DatasetError, match="claims 200,000 rows in"):
        evaluate(listops, {"id": 1}, split="iid")


# JSON.


def edit_manifest(directory, **changes):
    file = directory / "manifest.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**values, **changes}), encoding="utf-8")


@pytest.mark.parametrize("depth", [33, 1_000, 1_000_000])
def test_a_manifest_that_is_nested_without_end_is_refused(listops, depth):
    (listops / "manifest.json").write_text('{"tables": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(DatasetError, match=r"manifest.json is not a manifest: nested more than 32"):
        DatasetDirectory.open(listops)


def test_a_manifest_of_a_terabyte_is_not_read(listops):
    with (listops / "manifest.json").open("ab") as file:
        file.truncate(1 << 40)  # a hole, which takes no room
    with pytest.raises(DatasetError, match="has 1,099,511,627,776 bytes; at most 67,108,864"):
        DatasetDirectory.open(listops)


def test_a_range_of_a_trillion_numbers_is_no_parameter(listops):
    edit_manifest(listops, parameters={"train_depths": "1..1000000000000"})
    assert any("train_depths='1..1000000000000': expected whole numbers" in f
               for f in failures(listops))  # fmt: skip
    with pytest.raises(UsageError, match="train_depths"):
        evaluate(listops, {"id": 1})


def test_a_billion_rows_that_the_manifest_claims_cost_nothing(listops):
    values = made.manifest_values("listops")["variants"]
    values["default"]["splits"]["iid"].update(rows=10**9, candidates=10**9, buckets={"1": 10**9})
    values["default"]["splits"]["iid"]["shards"][0]["rows"] = 10**9
    edit_manifest(listops, variants=values, shard_rows=10**9)
    assert any(
        "has 1000000000 rows by the manifest, 5 in its files" in f for f in failures(listops)
    )
    with pytest.raises(DatasetError, match="has 5 rows where its manifest says 1,000,000,000"):
        evaluate(listops, {"id": 1}, split="iid")


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.tsv"])
def test_a_line_of_gigabytes_is_not_read(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        lines = {"p.csv": b"id,prediction\n", "p.tsv": b"id\tprediction\n"}
        file.write(lines.get(name, b'{"id": "a", "prediction": 1}\n'))
        file.truncate(1 << 36)
    with pytest.raises(DatasetError, match="line 2: it has more than 16,777,216 bytes"):
        read_predictions(path)


# The card.


def front(directory, text):
    card = directory / "README.md"
    there = card.read_text(encoding="utf-8")
    card.write_text(there.replace("---\n", f"---\n{text}\n", 1), encoding="utf-8")
    return failures(directory)


def test_references_that_stand_for_billions_of_values_are_not_followed(listops):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (found,) = front(listops, "\n".join(lines))
    assert found.endswith("front matter cannot be read: ValueError references are not allowed")


def test_front_matter_nested_without_end_is_refused(listops):
    (found,) = front(listops, "a: " + "[" * 50_000 + "]" * 50_000)
    assert found.startswith("README.md: its front matter cannot be read: RecursionError")


def test_front_matter_of_megabytes_is_not_parsed(listops):
    (found,) = front(listops, "a: b\n" * 300_000)
    assert found == "README.md: its front matter cannot be read: it has more than 1,048,576 " \
                    "characters"  # fmt: skip
